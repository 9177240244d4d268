"""The programs that are measured: how their inputs are made, what is run, and which functions a
realistic set-up traces. Inputs come from fixed seeds, so that every machine runs the same work;
each workload takes about a second at -O2 on a machine of 2020."""

import random
import zlib


class Program:
    """commands: argument lists after the program; '@NAME' is an input file, '<NAME' at the end its
    standard input. stacks: functions on the stacks of failures that were published for the program,
    innermost last; the realistic set-up traces the paths of these and of no other."""

    def __init__(self, name, package, inputs, commands, stacks):
        self.name = name
        self.package = package
        self.inputs = inputs
        self.commands = commands
        self.stacks = stacks

    def traced_functions(self):
        return sorted({function for stack in self.stacks for function in stack})


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
scale = 1200
p = 4 * a(1)
q = e(1)
r = sqrt(2) * l(3)
scale = 0
define f(n) { if (n < 2) return n; return f(n - 1) + f(n - 2) }
define c(n) { auto s; s = 0; while (n != 1) { if (n % 2) { n = 3 * n + 1 } else { n = n / 2 }; s = s + 1 }; return s }
m = 0
for (i = 1; i < 2600; i++) { t = c(i); if (t > m) m = t; v[i] = t }
f(17)
m
2^6000 % 10^40
p % 10^30
for (i = 0; i < 1500; i++) p[i] = 1
for (i = 2; i < 1500; i++) if (p[i]) for (j = i + i; j < 1500; j += i) p[j] = 0
t = 0
for (i = 2; i < 1500; i++) t += p[i]
t
x = 1
for (i = 1; i < 700; i++) x *= i
x % 1000003
length(x)
quit
"""

LUA_WORK = b"""
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(32))
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
print(queens(9))
local t, seed = {}, 42
for i = 1, 200000 do seed = (seed * 16807) % 2147483647 t[i] = seed end
table.sort(t)
print(t[1], t[100000], t[200000])
local counts = {}
for i = 1, 200000 do
  local word = string.format("k%d", (i * 7919) % 997)
  counts[word] = (counts[word] or 0) + #word
end
local total = 0
for _, n in pairs(counts) do total = total + n end
print(total)
local text = string.rep("the quick brown fox jumps over the lazy dog; ", 6000)
local n = 0
for w in text:gmatch("%a+") do n = n + #w end
print(n, (text:gsub("o(%w)", "0%1")):sub(1, 40), text:find("lazy cat"))
local a = {}
for i = 1, 120 do a[i] = {} for j = 1, 120 do a[i][j] = (i * j) % 17 + 0.5 end end
local s = 0
for i = 1, 120 do for j = 1, 120 do local x = 0 for k = 1, 120 do x = x + a[i][k] * a[k][j] end s = s + x end end
print(string.format("%.3f", s))
local co = coroutine.wrap(function() for i = 1, 600000 do coroutine.yield(i) end return 0 end)
local sum = 0
for i = 1, 600000 do sum = sum + co() end
print(sum)
local Account = {}
Account.__index = Account
function Account.new(b) return setmetatable({ balance = b }, Account) end
function Account:deposit(v) self.balance = self.balance + v return self end
local acc = Account.new(0)
for i = 1, 3000000 do acc:deposit(i % 7) end
print(acc.balance)
local parts = {}
for i = 1, 300000 do parts[#parts + 1] = tostring(i) .. "," end
print(#table.concat(parts))
"""

SQLITE_WORK = b"""
CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT, d REAL);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
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
WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
SELECT count(*) FROM n WHERE NOT EXISTS (SELECT 1 FROM n AS d WHERE d.i * d.i <= n.i AND n.i % d.i = 0);
SELECT sum(length(json_set(json_object('a', a, 'b', c), '$.b', b))) FROM t WHERE a < 12000;
SELECT count(DISTINCT substr(c, 2, 4)), total(instr(c, '9')), sum(abs(b - 5000)) FROM t;
PRAGMA integrity_check;
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

PROGRAMS = [
    Program("gzip", "gzip", {"mixture": lambda: mixture(11, 9_000_000) * 2,
                             "packed": lambda: zlib_gzip(mixture(11, 9_000_000) * 2)},
            [["-6", "-c", "@mixture"], ["-d", "-c", "@packed"]],
            # a file name longer than the buffer (get_suffix, BugBench); CVE-2006-4334 (huft_build);
            # CVE-2006-4335 (make_table); CVE-2010-0001 (unlzw)
            [["main", "treat_file", "open_input_file", "get_suffix"],
             ["main", "treat_file", "unzip", "inflate", "inflate_block", "inflate_dynamic", "huft_build"],
             ["main", "treat_file", "unlzh", "decode", "decode_c", "read_c_len", "make_table"],
             ["main", "treat_file", "unlzw"]]),
    Program("bzip2", "bzip2", {"mixture": lambda: mixture(12, 6_500_000)},
            [["-9", "-c", "@mixture"], ["-1", "-c", "@mixture"]],
            # CVE-2019-12900 and CVE-2010-0405, both in decompression
            [["main", "uncompress", "uncompressStream", "BZ2_bzRead", "BZ2_bzDecompress", "BZ2_decompress"],
             ["main", "testf", "testStream", "BZ2_bzRead", "BZ2_bzDecompress", "unRLE_obuf_to_output_FAST"]]),
    Program("grep", "grep", {"text": lambda: text(13, 300000) * 2,
                      "words": lambda: "\n".join(words(random.Random(15), 300)[100:]).encode()},
            [["-c", "-E", "[a-f]+[0-9]{2,4}(ab|c[de])|(te|ni)+s[aeiou]t", "@text"],
             ["-c", "-i", "-w", "-e", "ta", "-e", "neo", "-e", "ohset", "-e", "tinea", "@text"],
             ["-o", "-E", "user[0-9]+@host[1-4]?[0-9]", "@text"],
             ["-n", "-v", "-E", "[aeiou]{2}|[0-9]+[.;]", "@text"],
             ["-c", "-F", "-f", "@words", "@text"],
             ["-c", "-E", "(a|e|i)[^ ]*(o|u)[^ ]* .*[0-9]{3}[^ ]*;", "@text"]],
            # CVE-2015-1345 (bmexec_trans), CVE-2012-5667 (long lines), stack overflow of nested groups
            [["main", "grep_command_line_arg", "grepfile", "grepdesc", "grep", "grepbuf", "EGexecute", "kwsexec",
              "bmexec", "bmexec_trans"],
             ["main", "grep_command_line_arg", "grepfile", "grepdesc", "grep", "fillbuf"],
             ["main", "GEAcompile", "dfacomp", "dfaparse", "regexp", "branch", "closure", "atom"]]),
    Program("sed", "sed", {"text": lambda: text(14, 240000), "script": lambda: SED_WORK},
            [["-f", "@script", "@text"], ["-n", "-E", "/([a-z])\\1.*[0-9]/{s/[aeiou]+/(&)/3p;=}", "@text"]],
            # faults of sed 4.x as reported: s///e buffer, 'y' with escapes, missing file name, regex of the empty pattern
            [["main", "process_files", "execute_program", "do_subst", "append_replacement", "str_append_modified"],
             ["main", "compile_string", "compile_program", "convert_number"],
             ["main", "process_files", "read_pattern_space", "open_next_file"],
             ["main", "process_files", "execute_program", "match_address_p", "match_an_address_p", "match_regex"]]),
    Program("bc", "bc", {"work": lambda: BC_WORK},
            [["-q", "-l", "@work"]],
            # the heap overflow of more_arrays (BugBench), and crashes in lookup and the parser found by fuzzing
            [["main", "yyparse", "run_code", "execute", "load_array", "get_array_num", "more_arrays"],
             ["main", "yyparse", "lookup", "more_arrays"],
             ["main", "yyparse", "generate", "load_code", "addbyte"],
             ["main", "yyparse", "run_code", "execute", "process_params", "push_copy"]]),
    Program("lua", "lua5.4", {"work": lambda: LUA_WORK},
            [["@work"]],
            # CVE-2020-24370 (getlocal), CVE-2022-28805 (singlevar), CVE-2020-15888 (luaD_growstack), CVE-2022-33099 (luaG_runerror)
            [["main", "luaV_execute", "luaD_precall", "db_getlocal", "lua_getlocal", "luaG_findlocal"],
             ["main", "luaD_protectedparser", "f_parser", "luaY_parser", "statement", "expr", "primaryexp", "singlevar"],
             ["main", "luaD_call", "luaD_precall", "luaD_growstack", "luaD_reallocstack"],
             ["main", "luaD_throw", "luaG_runerror", "luaG_typeerror", "varinfo"]]),
    Program("sqlite3", "sqlite3", {"work": lambda: SQLITE_WORK},
            [["-batch", ":memory:", "<work"]],
            # CVE-2022-35737 (sqlite3_str_vappendf), CVE-2019-8457 (rtreenode), CVE-2020-13871 (resolveExpr), CVE-2025-6965
            [["main", "process_input", "shell_exec", "sqlite3_step", "sqlite3Step", "sqlite3VdbeExec", "printfFunc",
              "sqlite3_str_vappendf"],
             ["main", "process_input", "shell_exec", "sqlite3_step", "sqlite3Step", "sqlite3VdbeExec", "rtreenode"],
             ["main", "process_input", "shell_exec", "sqlite3_prepare_v2", "sqlite3Prepare", "sqlite3RunParser",
              "yy_reduce", "sqlite3Select", "sqlite3WindowRewrite", "selectWindowRewriteExprCb"],
             ["main", "process_input", "shell_exec", "sqlite3_prepare_v2", "sqlite3Prepare", "sqlite3RunParser",
              "sqlite3Select", "analyzeAggregate", "addAggInfoColumn"]]),
]


def zlib_gzip(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()
