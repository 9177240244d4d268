-- Journal modes, a second database, page sizes, backup, large sorts, constraint errors.
.mode list
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c INT UNIQUE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
INSERT INTO t SELECT i, printf('%.*c', i % 40, 'x') || i, (i * 6007) % 8009 FROM n;
PRAGMA wal_checkpoint(TRUNCATE);
PRAGMA journal_mode = DELETE;
ATTACH 'other.db' AS other;
CREATE TABLE other.t AS SELECT a, c FROM main.t WHERE a % 2 = 0;
BEGIN;
INSERT INTO other.t VALUES (-1, -1);
UPDATE main.t SET b = 'changed' WHERE a < 100;
COMMIT;
SELECT count(*), sum(a), sum(c) FROM other.t;
SELECT count(*) FROM main.t JOIN other.t USING (a) WHERE main.t.c = other.t.c;
SELECT 'check joined ' || CASE WHEN count(*) = 4000 THEN 'PASS' ELSE 'FAIL' END FROM main.t JOIN other.t USING (a, c);
DETACH other;
PRAGMA cache_size = 20;
SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY b DESC, c LIMIT 15 OFFSET 3000);
SELECT c % 10, count(*), max(length(b)) FROM t GROUP BY 1 ORDER BY 2, 1;
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE s AS SELECT DISTINCT substr(b, 1, 3) AS k FROM t;
SELECT count(*) FROM s;
INSERT OR IGNORE INTO t VALUES (1, 'again', 1);
INSERT OR REPLACE INTO t VALUES (2, 'replaced', (SELECT c FROM t WHERE a = 9));
SELECT count(*), (SELECT b FROM t WHERE a = 2), (SELECT count(*) FROM t WHERE a = 9) FROM t;
SELECT 'check replaced ' || CASE WHEN count(*) = 7999 THEN 'PASS' ELSE 'FAIL' END FROM t;
.backup copy.db
.open copy.db
SELECT 'check backup ' || CASE WHEN count(*) = 7999 THEN 'PASS' ELSE 'FAIL' END FROM t;
PRAGMA integrity_check;
.bail off
INSERT INTO t VALUES (1, 'duplicate', 99999);
SELECT * FROM no_such_table;
SELECT 1 +;
INSERT INTO t(a) VALUES ('not an integer');
SELECT 'check end PASS';
