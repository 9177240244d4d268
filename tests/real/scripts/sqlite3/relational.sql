-- Tables, keys, joins, subqueries, aggregates, windows, recursion, triggers, views.
.headers on
.mode list
PRAGMA foreign_keys = ON;
CREATE TABLE department(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE person(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, department INT REFERENCES department(id) ON DELETE CASCADE,
  salary REAL CHECK(salary > 0), boss INT REFERENCES person(id) ON DELETE SET NULL, hired TEXT DEFAULT '2001-02-03');
CREATE INDEX person_by_department ON person(department, salary DESC);
CREATE TABLE journal(at INTEGER PRIMARY KEY, what TEXT);
CREATE TRIGGER person_raised AFTER UPDATE OF salary ON person WHEN new.salary > old.salary
BEGIN INSERT INTO journal(what) VALUES (printf('%s: %.2f to %.2f', new.name, old.salary, new.salary)); END;
INSERT INTO department VALUES (1, 'design'), (2, 'assembly'), (3, 'shipping');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO person(id, name, department, salary, boss)
SELECT i, 'p' || substr('000' || i, -3), 1 + (i * 7) % 3, 1000 + (i * 7919) % 613, CASE WHEN i > 1 THEN i / 2 END FROM n;

SELECT d.name, count(*) AS people, round(avg(salary), 3) AS mean, min(salary), max(salary), total(salary)
FROM person p JOIN department d ON d.id = p.department GROUP BY d.id ORDER BY mean DESC;
SELECT name, salary, rank() OVER w AS place, lag(salary, 1, -1) OVER w AS ahead,
  sum(salary) OVER (PARTITION BY department ORDER BY salary DESC, id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving,
  ntile(4) OVER w AS quartile
FROM person WHERE id % 17 = 0 WINDOW w AS (PARTITION BY department ORDER BY salary DESC, id) ORDER BY department, place;
WITH RECURSIVE above(id, name, depth) AS (
  SELECT id, name, 0 FROM person WHERE id = 499 UNION ALL
  SELECT b.id, b.name, depth + 1 FROM above a JOIN person p ON p.id = a.id JOIN person b ON b.id = p.boss)
SELECT group_concat(name, '<') FROM above;
SELECT p.name FROM person p WHERE salary > (SELECT avg(salary) * 1.28 FROM person q WHERE q.department = p.department) ORDER BY 1 LIMIT 12;
SELECT a.name, b.name FROM person a LEFT JOIN person b ON b.boss = a.id AND b.id % 2 = 1 WHERE a.id BETWEEN 240 AND 256 ORDER BY a.id, b.id;
SELECT count(*) FROM (SELECT department FROM person EXCEPT SELECT 2 UNION SELECT 9 INTERSECT SELECT 9);
SELECT department, count(*) FILTER (WHERE salary > 1300) FROM person GROUP BY department HAVING count(*) > 10;
EXPLAIN QUERY PLAN SELECT * FROM person WHERE department = 2 ORDER BY salary DESC;

UPDATE person SET salary = salary * 1.1 WHERE id IN (3, 5, 8, 13);
SELECT * FROM journal;
INSERT INTO department VALUES (3, 'dispatch') ON CONFLICT(id) DO UPDATE SET name = excluded.name || ' (was ' || name || ')' RETURNING *;
CREATE VIEW payroll AS SELECT d.name AS department, sum(salary) AS cost FROM person JOIN department d ON d.id = department GROUP BY 1;
SELECT department, round(cost, 2) FROM payroll ORDER BY 1;
CREATE TABLE summary(k PRIMARY KEY, v, doubled GENERATED ALWAYS AS (v * 2) STORED) WITHOUT ROWID;
INSERT INTO summary(k, v) SELECT department, count(*) FROM person GROUP BY 1;
SELECT * FROM summary ORDER BY k DESC;
ALTER TABLE summary RENAME COLUMN v TO headcount;
SELECT sql FROM sqlite_schema WHERE name = 'summary';

BEGIN;
DELETE FROM person WHERE boss IS NOT NULL AND id > 250;
SAVEPOINT s;
UPDATE person SET department = 1;
SELECT count(DISTINCT department) FROM person;
ROLLBACK TO s;
SELECT count(DISTINCT department), count(*) FROM person;
ROLLBACK;
SELECT printf('check people_%s', CASE WHEN count(*) = 500 THEN 'kept PASS' ELSE 'kept FAIL' END) AS '-' FROM person;
SELECT 'check salary_sum ' || CASE WHEN sum(1000 + (i * 7919) % 613) = (SELECT sum(1000 + (id * 7919) % 613) FROM person)
  THEN 'PASS' ELSE 'FAIL' END AS '-' FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n);
SELECT 'check raises ' || CASE WHEN count(*) = 4 THEN 'PASS' ELSE 'FAIL' END AS '-' FROM journal;
SELECT 'check primes ' || CASE WHEN (WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  SELECT count(*) FROM n WHERE NOT EXISTS (SELECT 1 FROM n AS d WHERE d.i < n.i AND d.i * d.i <= n.i AND n.i % d.i = 0)) = 168
  THEN 'PASS' ELSE 'FAIL' END AS '-';
ANALYZE;
REINDEX;
VACUUM;
SELECT 'check integrity ' || CASE WHEN (SELECT integrity_check FROM pragma_integrity_check) = 'ok' THEN 'PASS' ELSE 'FAIL' END AS '-';
PRAGMA foreign_key_check;
DELETE FROM department WHERE id = 1;
SELECT 'check cascade ' || CASE WHEN count(*) = 0 THEN 'PASS' ELSE 'FAIL' END AS '-' FROM person WHERE department = 1;
SELECT 'check end PASS' AS '-';
