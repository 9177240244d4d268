"""Inputs of the workloads, from fixed seeds, so that every machine runs the same work.

Timing runs a workload whole; counting instructions runs a share of it. Numbers written as <<N>> in a script
are multiplied by that share."""

import random
import re
import zlib


def scaled(script, share):
    return re.sub(rb"<<(\d+)>>", lambda match: b"%d" % max(1, round(int(match[1]) * share)), script)


def words(rng, count):
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    weights = [1.0 / (i + 2) for i in range(len(letters))]
    made = []
    for _ in range(count):
        made.append("".join(rng.choices(letters, weights, k=rng.randint(2, 9))))
    return made


def text(seed, lines):
    """Lines of words by a Zipf law, with numbers, punctuation and some repeated phrases."""
    rng = random.Random(seed)
    vocabulary = words(rng, 4000)
    weights = [1.0 / (i + 1) for i in range(len(vocabulary))]
    pool = rng.choices(vocabulary, weights, k=200000)
    out, at = [], 0
    for number in range(lines):
        length = rng.randint(4, 14)
        at = (at + length) % (len(pool) - 20)
        line = pool[at:at + length]
        if number % 7 == 0:
            line.append(str(rng.randrange(10 ** rng.randint(1, 9))))
        if number % 11 == 0:
            line.append("user%d@host%d.example" % (rng.randrange(900), rng.randrange(90)))
        out.append(" ".join(line) + rng.choice(".,;!?") + "\n")
    return "".join(out).encode()


def mixture(seed, size):
    """Text with stretches of structured binary data, for the compressors."""
    rng = random.Random(seed)
    prose = text(seed + 1, 20000)
    out = bytearray()
    while len(out) < size:
        start = rng.randrange(len(prose) - 70000)
        out += prose[start:start + rng.randint(20000, 60000)]
        record = 0
        for _ in range(rng.randint(500, 1500)):
            record += rng.randrange(64)
            out += record.to_bytes(4, "little") + bytes((rng.randrange(4), 0, 0, record % 7))
    return bytes(out[:size])


BC_WORK = b"""
scale = <<1200>>
p = 4 * a(1)
q = e(1)
r = sqrt(2) * l(3)
scale = 0
define f(n) { if (n < 2) return n; return f(n - 1) + f(n - 2) }
define c(n) { auto s; s = 0; while (n != 1) { if (n % 2) { n = 3 * n + 1 } else { n = n / 2 }; s = s + 1 }; return s }
m = 0
for (i = 1; i < <<2600>>; i++) { t = c(i); if (t > m) m = t; v[i] = t }
f(17)
m
2^6000 % 10^40
p % 10^30
for (i = 0; i < <<1500>>; i++) p[i] = 1
for (i = 2; i < <<1500>>; i++) if (p[i]) for (j = i + i; j < <<1500>>; j += i) p[j] = 0
t = 0
for (i = 2; i < <<1500>>; i++) t += p[i]
t
x = 1
for (i = 1; i < <<700>>; i++) x *= i
x % 1000003
length(x)
quit
"""

LUA_WORK = b"""
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local f = 0
for i = 1, <<11>> do f = f + fib(27) end
print(f)
local function queens(n)
  local found, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then found = found + 1 return end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c + n]) then
        columns[c], up[row + c], down[row - c + n] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c + n] = false, false, false
      end
    end
  end
  place(1)
  return found
end
local q = 0
for i = 1, <<5>> do q = q + queens(8) end
print(q)
local t, seed = {}, 42
for i = 1, <<200000>> do seed = (seed * 16807) % 2147483647 t[i] = seed end
table.sort(t)
print(t[1], t[<<100000>>], t[<<200000>>])
local counts = {}
for i = 1, <<200000>> do
  local word = string.format("k%d", (i * 7919) % 997)
  counts[word] = (counts[word] or 0) + #word
end
local total = 0
for _, n in pairs(counts) do total = total + n end
print(total)
local text = string.rep("the quick brown fox jumps over the lazy dog; ", <<6000>>)
local n = 0
for w in text:gmatch("%a+") do n = n + #w end
print(n, (text:gsub("o(%w)", "0%1")):sub(1, 40), text:find("lazy cat"))
local a = {}
for i = 1, 40 do a[i] = {} for j = 1, 40 do a[i][j] = (i * j) % 17 + 0.5 end end
local s = 0
for _ = 1, <<27>> do
  for i = 1, 40 do for j = 1, 40 do local x = 0 for k = 1, 40 do x = x + a[i][k] * a[k][j] end s = s + x end end
end
print(string.format("%.3f", s))
local co = coroutine.wrap(function() for i = 1, <<600000>> do coroutine.yield(i) end return 0 end)
local sum = 0
for i = 1, <<600000>> do sum = sum + co() end
print(sum)
local Account = {}
Account.__index = Account
function Account.new(b) return setmetatable({ balance = b }, Account) end
function Account:deposit(v) self.balance = self.balance + v return self end
local acc = Account.new(0)
for i = 1, <<3000000>> do acc:deposit(i % 7) end
print(acc.balance)
local parts = {}
for i = 1, <<300000>> do parts[#parts + 1] = tostring(i) .. "," end
print(#table.concat(parts))
"""

SQLITE_WORK = b"""
CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT, d REAL);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < <<130000>>)
INSERT INTO t SELECT i, (i * 7919) % 10007, printf('%08d-%s', (i * 104729) % 99991, hex(i)), i / 7.0 FROM n;
COMMIT;
CREATE INDEX t_b ON t(b);
CREATE INDEX t_c ON t(c, a);
SELECT count(*), sum(b), min(c), max(c), round(avg(d), 6) FROM t;
SELECT b % 100 AS k, count(*), sum(d), max(c) FROM t GROUP BY k ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM t x JOIN t y ON x.b = y.a WHERE y.b < 5000;
SELECT count(*) FROM t WHERE c LIKE '%ab%' OR c GLOB '*[0-3]7-*';
SELECT a, sum(d) OVER (PARTITION BY b % 50 ORDER BY a ROWS 5 PRECEDING) AS w FROM t ORDER BY w DESC, a LIMIT 5;
UPDATE t SET b = b + 1, c = c || 'x' WHERE a % 3 = 0;
DELETE FROM t WHERE a % 11 = 0;
WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < <<6000>>)
SELECT count(*) FROM n WHERE NOT EXISTS (SELECT 1 FROM n AS d WHERE d.i * d.i <= n.i AND n.i % d.i = 0);
SELECT sum(length(json_set(json_object('a', a, 'b', c), '$.b', b))) FROM t WHERE a < <<12000>>;
SELECT count(DISTINCT substr(c, 2, 4)), total(instr(c, '9')), sum(abs(b - 5000)) FROM t;
PRAGMA integrity_check;
"""

AWK_WORK = rb"""
function reverse(s,   i, r) { r = ""; for (i = length(s); i > 0; i--) r = r substr(s, i, 1); return r }
function hash(s,   i, h) { h = 7; for (i = 1; i <= length(s); i++) h = (h * 31 + index(letters, substr(s, i, 1))) % 65521; return h }
BEGIN { letters = "abcdefghijklmnopqrstuvwxyz"; FS = "[ ,;.!?]+" }
{
    for (i = 1; i <= NF; i++) { count[$i]++; long = length($i) > long ? length($i) : long }
    words += NF
}
/[aeiou][aeiou]+[^ ]*t/ { vowels++ }
$1 ~ /^t[a-z]*e$/ { first[$1] = first[$1] " " NR }
/user[0-9]+@/ { line = $0; n += gsub(/[0-9]+/, "<&>", line); sub(/@host/, " at ", line); kept = substr(line, 1, 40) }
NR % 9 == 0 { sum += hash($2); if (reverse($2) == $2) palindromes++; name = toupper($3) sprintf("%05d", NR) }
NR % 13 == 0 { parts = split($0, piece, /[aeiou]/); total += parts; split("", piece) }
match($0, /[0-9][0-9]+/) { numbers += substr($0, RSTART, RLENGTH) }
END {
    for (w in count) { distinct++; if (count[w] > 100) often += count[w]; if (w in first) starts += length(first[w]) }
    printf "%d %d %d %d %d %d %d\n", words, distinct, often, long, vowels, starts, n
    printf "%s %d %d %s %d %.0f\n", kept, sum, palindromes, name, total, numbers
}
"""

SED_WORK = b"""
s/\\([a-z]*\\) \\([a-z]*\\)/\\2 \\1/
s/[0-9][0-9]*/<&>/g
y/abcdef/ABCDEF/
/user[0-9]*@/{
s/@\\(host[0-9]*\\)\\.example/ at \\1/
h
s/^/contact: /
G
}
/th.*in/!s/  */_/g
2~5{
N
s/\\n/ + /
}
$!N
P
D
"""


def zlib_gzip(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def scanner(seed, rules):
    """A flex specification: words, numbers behind words, sets, trailing context, two start conditions."""
    rng = random.Random(seed)
    vocabulary = sorted(set(words(rng, rules)))
    out = ["%option noyywrap\n%x COMMENT TEXT\nDIGIT [0-9]\nLETTER [A-Za-z_]\nEXPONENT [eE][+-]?{DIGIT}+\n%%\n"]
    for number, word in enumerate(vocabulary):
        forms = ['"%s"' % word, '"%s"{DIGIT}+' % word, "%s[a-%s]?s" % (word, rng.choice("cdefg")),
                 '"%s"("_"|"-"|".")%s' % (word, rng.choice(vocabulary)), "(?i:%s)" % word, '"@%s"/[^a-z]' % word]
        out.append("%s { return %d; }\n" % (forms[number % len(forms)], number + 10))
    out.append(r"""{LETTER}({LETTER}|{DIGIT})* { return 1; }
{DIGIT}+("."{DIGIT}*)?{EXPONENT}? { return 2; }
"/*" BEGIN(COMMENT);
<COMMENT>"*"+"/" BEGIN(INITIAL);
<COMMENT>.|\n ;
\" BEGIN(TEXT);
<TEXT>\\(.|\n) ;
<TEXT>\" BEGIN(INITIAL);
<TEXT>[^\\"]+ ;
[ \t\n]+ ;
. { return 3; }
%%
""")
    return "".join(out).encode()


def c_source(seed, lines):
    """Text that looks like C to a tokeniser; it need not compile."""
    rng = random.Random(seed)
    names = [word + rng.choice(["", "", "_" + other, "2"]) for word, other in zip(words(rng, 1500), words(rng, 1500))]
    weights = [1.0 / (i + 3) for i in range(len(names))]
    pool = rng.choices(names, weights, k=60000)
    literals = ["%d", "0x%x", "%d.5e-3", "%dUL", "0%o"]
    texts = ['"%s: %%d\\n"', "'\\t'", '"%s\\101\\"x"', "'%.1s'"]
    operators = ["+", "-", "*", "/", "<<", ">=", "==", "&&", "||", "->", ".", "%", "^="]
    out, at = [], 0

    def name():
        nonlocal at
        at = (at + 1) % len(pool)
        return pool[at]

    def operand():
        kind = rng.random()
        if kind < 0.7:
            return name()
        if kind < 0.9:
            return rng.choice(literals) % rng.randrange(100000)
        quoted = rng.choice(texts)
        return quoted % name() if "%s" in quoted or "%." in quoted else quoted

    def expression():
        return (" %s " % rng.choice(operators)).join(operand() for _ in range(rng.randint(1, 4)))

    for number in range(lines):
        form = rng.random()
        indent = "    " * rng.randint(0, 3)
        if number % 40 == 0:
            out.append("#define %s(%s) \\\n    (%s)\n" % (name().upper(), name(), expression()))
        elif form < 0.4:
            out.append("%s%s = %s;\n" % (indent, name(), expression()))
        elif form < 0.6:
            out.append("%sif (%s) { %s(%s, &%s[%s]); }\n" % (indent, expression(), name(), expression(), name(), expression()))
        elif form < 0.75:
            out.append("static struct %s *%s(const char *%s, unsigned %s)\n{\n}\n" % (name(), name(), name(), name()))
        elif form < 0.85:
            out.append("%s/* %s */\n" % (indent, " ".join(name() for _ in range(rng.randint(3, 12)))))
        elif form < 0.9:
            out.append("%s// %s\n" % (indent, name()))
        else:
            out.append("%sfor (int %s = 0; %s < %s; %s++)\n" % (indent, name(), name(), operand(), name()))
    return "".join(out).encode()


def redis_commands(seed, count):
    """Commands in the protocol of redis: what redis-benchmark sends by default, but for those with random answers."""
    rng = random.Random(seed)
    value = "x" * 3
    made = []
    for _ in range(count):
        key = "%012d" % rng.randrange(20000)
        made.append(rng.choice([
            ("PING",), ("SET", "key:" + key, value), ("GET", "key:" + key), ("INCR", "counter:" + key),
            ("LPUSH", "mylist", value), ("RPUSH", "mylist", value), ("LPOP", "mylist"), ("RPOP", "mylist"),
            ("SADD", "myset", "element:" + key), ("HSET", "myhash", "element:" + key, value),
            ("ZADD", "myzset", str(rng.randrange(1000)), "element:" + key), ("ZPOPMIN", "myzset"),
            ("LRANGE", "mylist", "0", "99"), ("MSET", "key:" + key, value, "key:" + key[::-1], value)]))
    return made
