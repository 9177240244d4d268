-- Scalar functions, types and collations, dates, JSON, full text, R-trees, blobs, output modes.
.mode list
SELECT abs(-7), round(2.567, 1), round(-2.5), hex(zeroblob(3)), quote('it''s'), typeof(1.0), typeof(x'00'), unicode('é'), char(955, 66);
SELECT upper('abc'), lower('ABC'), trim('  x '), ltrim('xxy', 'x'), replace('banana', 'an', 'AN'), instr('haystack', 'st'), substr('abcdef', -3, 2);
SELECT printf('%05d|%-8s|%+.3e|%x|%,d|%q|%Q', 42, 'left', 12345.678, 255, 1234567, 'a''b', 'c''d');
SELECT 7 / 2, 7 / 2.0, 7 % 3, -7 % 3, 1 << 40, ~5, 6 & 3, 6 | 3, 9223372036854775807 + 1, 1e308 * 10;
SELECT CAST('12abc' AS INTEGER), CAST('3.9' AS INTEGER), CAST(3.9 AS TEXT), '10' < '9', 10 < 9, '10' + '9', NULL IS NULL, NULL = NULL;
SELECT 'a' LIKE 'A', 'a' GLOB 'A', 'abc' LIKE '_b%', 'x' IN ('y', 'x'), coalesce(NULL, NULL, 3), nullif(4, 4), iif(1 > 2, 'a', 'b'), soundex('Robert');
SELECT date('2024-02-29', '+1 year'), datetime(0, 'unixepoch'), strftime('%j %W %w', '2023-12-31'), julianday('2000-01-01'), time('12:00', '-90 minutes');
SELECT max(3, 9, 4), min('b', 'a'), likelihood(1, 0.5), sign(-3), total_changes() >= 0;
SELECT 'check arithmetic ' || CASE WHEN 12345678 * 87654321 = 1082152022374638 THEN 'PASS' ELSE 'FAIL' END;
SELECT 'check leap_day ' || CASE WHEN date('2024-02-28', '+2 days') = '2024-03-01' THEN 'PASS' ELSE 'FAIL' END;

SELECT json('{ "a" : [1, 2.5, "x", null, true] }'), json_extract('{"a":{"b":[10,20]}}', '$.a.b[1]'), '{"k":5}' ->> 'k';
SELECT json_set('{"a":1}', '$.b', json('[1,2]')), json_remove('[0,1,2,3]', '$[1]'), json_patch('{"a":1,"b":2}', '{"b":null,"c":3}'), json_type('[1]', '$[0]');
SELECT key, value, type, path FROM json_tree('{"a":[1,{"b":"c"}],"d":null}');
SELECT json_group_array(value * 2), json_group_object(key, value) FROM json_each('[3,1,4,1,5]');
SELECT 'check json_sum ' || CASE WHEN sum(value) = 14 THEN 'PASS' ELSE 'FAIL' END FROM json_each('[3,1,4,1,5]');

CREATE TABLE word(w TEXT COLLATE NOCASE, n INT);
INSERT INTO word VALUES ('pear', 1), ('Apple', 2), ('apple', 3), ('PEAR ', 4), ('fig', NULL);
SELECT group_concat(w || n, ',') FROM (SELECT * FROM word ORDER BY w, n NULLS LAST);
SELECT w, count(*) FROM word GROUP BY w COLLATE RTRIM ORDER BY w COLLATE BINARY;

CREATE VIRTUAL TABLE note USING fts5(title, body, tokenize = 'porter');
INSERT INTO note VALUES ('Debugging', 'programs crash; a debugger reads what is left'), ('Cooking', 'reading the recipe before cooking saves time'),
  ('Crashes', 'the crashed program left a core, and the core was read');
SELECT title, snippet(note, 1, '[', ']', '..', 6) FROM note WHERE note MATCH 'crash AND read*' ORDER BY title;
SELECT highlight(note, 0, '<', '>') FROM note WHERE note MATCH 'title : cook OR NEAR(core read, 5)' ORDER BY rowid;
INSERT INTO note(note) VALUES ('optimize');
INSERT INTO note(note) VALUES ('integrity-check');
CREATE VIRTUAL TABLE old_note USING fts4(body);
INSERT INTO old_note SELECT body FROM note;
SELECT docid, offsets(old_note) FROM old_note WHERE body MATCH '"core"' ;
CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO box SELECT i, (i * 37) % 100, (i * 37) % 100 + 3, (i * 53) % 100, (i * 53) % 100 + 4 FROM n;
SELECT group_concat(id) FROM (SELECT id FROM box WHERE x1 >= 20 AND x0 <= 26 AND y1 >= 40 AND y0 <= 50 ORDER BY id);
SELECT 'check rtree ' || CASE WHEN count(*) = (SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
  SELECT i FROM n WHERE (i * 37) % 100 + 3 >= 20 AND (i * 37) % 100 <= 26 AND (i * 53) % 100 + 4 >= 40 AND (i * 53) % 100 <= 50))
  THEN 'PASS' ELSE 'FAIL' END FROM box WHERE x1 >= 20 AND x0 <= 26 AND y1 >= 40 AND y0 <= 50;

CREATE TABLE big(k INTEGER PRIMARY KEY, b BLOB, t TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO big SELECT i, zeroblob(i % 97), printf('%08d-%s', (i * 104729) % 99991, hex(i * i)) FROM n;
CREATE UNIQUE INDEX big_by_text ON big(t, k);
CREATE INDEX big_partial ON big(length(b)) WHERE k % 5 = 0;
SELECT count(*), sum(length(b)), min(t), max(t) FROM big WHERE t > '00050000';
DELETE FROM big WHERE k IN (SELECT k FROM big ORDER BY t LIMIT 700);
SELECT 'check deleted ' || CASE WHEN count(*) = 2300 THEN 'PASS' ELSE 'FAIL' END FROM big;
UPDATE big SET b = CAST(t AS BLOB) WHERE k % 3 = 0;
SELECT k, hex(substr(b, 1, 4)) FROM big WHERE k % 333 = 0 ORDER BY k;
PRAGMA incremental_vacuum;
PRAGMA integrity_check;

.mode csv
SELECT 'a,b' AS x, 'say "hi"' AS y, NULL AS z;
.mode json
SELECT 1 AS i, 2.5 AS r, 'text' AS t, NULL AS n;
.mode column
SELECT k, t FROM big LIMIT 3;
.mode insert copy
SELECT k, t FROM big LIMIT 2;
.mode box
SELECT w, n FROM word ORDER BY n;
.mode quote
SELECT x'0102', 'q''q', 1.5;
.mode markdown
SELECT w, n FROM word ORDER BY n LIMIT 2;
.schema word
.dump word
.mode list
SELECT 'check end PASS';
