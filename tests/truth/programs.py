# SPDX-License-Identifier: Apache-2.0
"""What the campaign crashes: the examples, and real packages built from Debian's sources.

An input is (arguments, standard input). `crashes` are inputs that make the program fail by itself,
`runs` those that it gets through; both are used with injected failures and with signals."""

import fcntl
import glob
import hashlib
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


class Missing(Exception):
    """The program cannot be had here; the message says why."""


class Program:
    cxx = False
    cflags, ldflags = (), ()
    rate = 4          # one prepared place of how many can fail
    visits = 4000     # injected failures come within so many visits of prepared places
    steps = 60000     # single steps a run at most
    crashes, runs = (), ()
    environment = {}
    calm = ()         # sources that no failure is prepared in
    threads = False   # several, of which one runs at a time: turns.h

    def __init__(self, name, folder, sources, **fields):
        self.name, self.folder, self.sources = name, folder, sources
        for key, value in fields.items():
            setattr(self, key, value)

    def stamp(self):
        total = hashlib.sha256(repr((self.sources, self.cflags, self.ldflags, self.rate, self.calm)).encode())
        headers = [h for pattern in ("*.h", "*.hh", "*/*.h")
                   for h in sorted(glob.glob(os.path.join(self.folder, pattern)))]
        for name in [*self.sources, *headers]:
            with open(os.path.join(self.folder, name), "rb") as file:
                total.update(file.read())
        return total.hexdigest()[:16]


def _text(name):
    with open(os.path.join(SOURCE, "examples", "inputs", name), "rb") as file:
        return file.read()


def _example(name, crashes, runs, **fields):
    return Program(name, os.path.join(SOURCE, "examples"), [name + ".c"],
                   crashes=[([], _text(c)) for c in crashes], runs=[([], _text(r)) for r in runs],
                   **fields)


def examples():
    words = _example("words", ["words.crash"], ["words.ok"])
    calc = _example("calc", ["calc.crash", "calc.divide", "calc.assert"], ["calc.ok"])
    cache = _example("cache", ["cache.crash", "cache.null"], ["cache.ok"])
    json = _example("json", ["json.crash"], ["json.ok"])
    events = _example("events", [], [])
    events.crashes = [([str(s), "300"], b"") for s in (1, 2, 7, 11)]
    events.runs = [([str(s), "120"], b"") for s in (3, 8, 12)]
    return [words, calc, cache, json, events]


# ---------------------------------------------------------------- text, with small calls that are hot

def _subject(name, sources, **fields):
    return Program(name, os.path.join(SOURCE, "bench", "overhead", "subjects", name), sources, visits=30000,
                   steps=150000, **fields)


def text_programs():
    c_text = _text("json.ok") + b"int main(void) { return \"a\\n\"[1] + 'x' - 0x1f; } /* end */\n// last\n"
    return [
        _subject("tokeniser", ["characters.c", "lexer.c", "main.c", "reader.c", "symbols.c"],
                 runs=[(["/dev/stdin"], c_text), (["/dev/stdin", "/dev/null"], _text("calc.ok"))]),
        _subject("replacer", ["replacer.c"],
                 runs=[(["/dev/stdin", "[a-z]*t", "<&>", "%[a-f][^ ]*", "_"], _sentences(60)),
                       (["/dev/stdin", "th?[aeiou]*", "&&", "[0-9][0-9]*?$", "#"], _text("words.ok"))]),
    ]


# ---------------------------------------------------------------- threads

def _threaded(name, *runs):
    return Program(name, os.path.join(HERE, "threads"), [name + ".c", "turns.c"], cflags=("-pthread",), ldflags=("-pthread",),
                   rate=2, visits=700, calm=("turns.c",), threads=True, runs=runs)


def threaded_programs():
    jobs = b"a bc d\nthe of\nx y z\nlonger text here\nlast\nmore\nand more\nthe end\n\nno, this\n"
    return [_threaded("relay", ([], b""), (["2"], b"")), _threaded("pool", ([], jobs), ([], jobs * 3)),
            _threaded("handler", ([], b"")), _threaded("detached", ([], b"")), _threaded("stages", ([], b""))]


# ---------------------------------------------------------------- packages

def package_cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("INQUEST_PACKAGES") or os.path.join(home, "inquest-packages")


def _unpacked(name, work):
    """The package's source, patched as Debian does, once."""
    out = os.path.join(work, "source-" + name)
    if os.path.exists(out):
        return out
    found = glob.glob(os.path.join(package_cache(), name, "*.dsc"))
    if not found:
        raise Missing(f"the source package '{name}' is not in the cache: "
                      f"run tests/real/package {name} fetch")
    temporary = f"{out}.{os.getpid()}"
    done = subprocess.run(["dpkg-source", "-x", found[0], temporary], capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"dpkg-source of '{name}' failed: {done.stderr[-300:]}")
    os.rename(temporary, out)
    return out


def _prepare(name, folder, commands):
    """Runs commands in a source tree, once."""
    stamp = os.path.join(folder, ".truth-prepared")
    if os.path.exists(stamp):
        return
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "CC": "clang-19", "CFLAGS": "-O1 -g"})
        if done.returncode:
            raise Missing(f"preparing '{name}' failed in '{command}': {done.stderr[-500:]}")
    open(stamp, "w").close()


def _sentences(count):
    """Text that compresses, without being trivial."""
    words = "the of and to in is that for it as was with be by on not he this are or".split()
    state, out = 7, []
    for i in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(words[(state >> 8) % len(words)] + ("\n" if i % 11 == 10 else " "))
    return "".join(out).encode()


def bzip2(work):
    folder = _unpacked("bzip2", work)
    # It catches its own memory faults and exits.
    _prepare("bzip2", folder, ["sed -i '/signal *(SIG\\(SEGV\\|BUS\\)/d' bzip2.c"])
    sources = ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c",
               "decompress.c", "bzlib.c", "bzip2.c"]
    plain = _sentences(60)
    packed = subprocess.run(["python3", "-c", "import bz2,sys;sys.stdout.buffer.write("
                             "bz2.compress(sys.stdin.buffer.read(),1))"], input=plain,
                            capture_output=True).stdout
    return Program("bzip2", folder, sources, cflags=("-D_FILE_OFFSET_BITS=64",),
                   runs=[(["-1", "-c"], plain), (["-d", "-s"], packed), (["-t"], packed)],
                   visits=30000, steps=150000)


def lua(work):
    folder = _unpacked("lua5.4", work)
    # Tables hash pointers: where the loader puts things would decide what runs.
    _prepare("lua5.4", folder, [
        "sed -i 's/^#define point2uint(p).*/#define point2uint(p) ((void)(p), 7u)/' src/llimits.h",
        "grep -q 'point2uint(p) ((void)(p), 7u)' src/llimits.h",
        "echo '#define DEB_HOST_MULTIARCH \"x86_64-linux-gnu\"' >src/lua5.4-deb-multiarch.h"])
    names = sorted(os.path.basename(n) for n in glob.glob(os.path.join(folder, "src", "l*.c")))
    sources = ["src/" + n for n in names if n not in ("luac.c", "ltests.c")]
    script = b"""
local t = {}
for i = 1, 6 do t[#t + 1] = ("x"):rep(i) .. i end
local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
print(pcall(function() error({code = f(5)}) end))
table.sort(t, function(a, b) return a > b end)
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), table.concat(t, ","), string.format("%5.2f %s", 2 / 3, t[1]:gsub("x", "y")))
local s = 0
for k, v in pairs({a = 1, b = 2, c = 3}) do s = s + v end
print(s, select("#", 1, 2, nil), load("return 1 +"))
"""
    # the seed of the string hash is an address and the time otherwise
    return Program("lua", folder, sources,
                   cflags=("-std=gnu99", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX", "-Dluai_makeseed(L)=1",
                           "-Isrc"),
                   ldflags=("-Wl,-E", "-lm", "-ldl"), runs=[(["-"], script)], visits=30000,
                   steps=200000, environment={"LUA_INIT": ""})


def gzip(work):
    folder = _unpacked("gzip", work)
    _prepare("gzip", folder, ["./configure", "make -C lib -j2", "make version.c version.h || true"])
    sources = ["bits.c", "deflate.c", "gzip.c", "inflate.c", "trees.c", "unlzh.c",
               "unlzw.c", "unpack.c", "unzip.c", "util.c", "zip.c", "version.c"]
    plain = _sentences(150)
    packed = subprocess.run(["python3", "-c", "import gzip,sys;sys.stdout.buffer.write("
                             "gzip.compress(sys.stdin.buffer.read(),mtime=0))"], input=plain,
                            capture_output=True).stdout
    return Program("gzip", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ilib"),
                   ldflags=("lib/libgzip.a",),
                   runs=[(["-n", "-c", "-9"], plain), (["-d", "-c"], packed), (["-l", "-v"], packed)],
                   visits=30000, steps=200000)


def sqlite3(work):
    folder = _unpacked("sqlite3", work)
    _prepare("sqlite3", folder, ["./configure --disable-shared --disable-tcl --disable-readline "
                                 "--disable-editline", "make sqlite3.c shell.c"])
    script = b"""
create table t(a integer primary key, b text);
insert into t(b) values ('one'), ('two'), ('three');
select b, length(b) from t where a > 1 order by b desc;
with recursive c(x) as (select 1 union all select x + 1 from c where x < 5) select sum(x) from c;
select * from missing;
"""
    return Program("sqlite3", folder, ["sqlite3.c", "shell.c"],
                   cflags=("-I.", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION",
                           "-DSQLITE_ENABLE_FTS4", "-DHAVE_USLEEP=1"),
                   ldflags=("-lm",), runs=[(["-batch", ":memory:"], script)], rate=16,
                   visits=60000, steps=300000)


def mawk(work):
    folder = _unpacked("mawk", work)
    # It wants its own exceptions, and a seed of its own.
    _prepare("mawk", folder, ["./configure", "make"])
    sources = ["parse.c", "scan.c", "memory.c", "main.c", "hash.c", "execute.c", "code.c", "da.c", "error.c",
               "init.c", "bi_vars.c", "cast.c", "print.c", "bi_funct.c", "kw.c", "jmp.c", "array.c", "field.c",
               "split.c", "re_cmpl.c", "zmalloc.c", "fin.c", "files.c", "scancode.c", "matherr.c", "fcall.c",
               "version.c", "regexp.c"]
    script = r"""
function fact(n) { return n < 2 ? 1 : n * fact(n - 1) }
{ for (i = 1; i <= NF; i++) count[$i]++ }
/th/ { gsub(/t(h|o)/, "<&>"); print substr($0, 2, 12), length($0), toupper($2) }
END { for (w in count) n += count[w]; print n, fact(6), index("needle in hay", "in"), split("a:b:c", p, ":"), p[3] + 1 }
"""
    return Program("mawk", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-D_GNU_SOURCE"), ldflags=("-lm",),
                   runs=[(["-W", "random=1", script], _sentences(120))], visits=30000, steps=200000)


def bc(work):
    folder = _unpacked("bc", work)
    # Debian patches Makefile.am. make leaves parse tables, the scanner and the mathematics library as C.
    _prepare("bc", folder, ["autoreconf --force --install", "./configure --without-readline --without-libedit",
                            "make -C lib", "make -C bc"])
    sources = ["bc/" + n + ".c" for n in ("main", "bc", "scan", "execute", "load", "storage", "util", "global",
                                          "warranty")] + ["lib/number.c"]
    script = b"""
define f(n) { if (n < 2) return (n); return (f(n - 1) + f(n - 2)) }
scale = 12
for (i = 0; i < 4; i++) { a[i] = f(i + 3) * 1.5; if (i == 2) continue; print a[i], " " }
x = 2 ^ 70 % 1000007
while (x > 5) { x = x / 3 }
sqrt(2) + x
obase = 16; 48879
e(1); s(0.5)
1 / 0
auto
"""
    return Program("bc", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ih", "-Ibc", "-funsigned-char", "-w"),
                   ldflags=("lib/libbc.a",), runs=[(["-q", "-l"], script), (["-q", "-w"], script)], visits=60000, steps=400000)


def sed(work):
    folder = _unpacked("sed", work)
    _prepare("sed", folder, ["./configure --disable-nls --disable-acl --without-selinux", "make -j2 all-am"])
    sources = ["sed/" + n + ".c" for n in ("compile", "debug", "execute", "mbcs", "regexp", "sed", "utils")] + \
        ["lib/dfa.c", "lib/localeinfo.c"]
    script = r"""
/the/{ s/\([a-z]*\) \(of\|to\)/<\2 \1>/2g; y/abc/xyz/; t done }
s/i[ns]/[&]/gp
:done
H; $!d; x; P; s/\n[^\n]*//3
"""
    return Program("sed", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ilib", "-Ised"), ldflags=("sed/libver.a", "lib/libsed.a"),
                   runs=[(["-e", script], _sentences(60)), (["-n", "-E", "/(th|w)[aei]+/,/by/{=;l 20;p}", "-"], _sentences(90))],
                   visits=30000, steps=500000)


def grep(work):
    folder = _unpacked("grep", work)
    _prepare("grep", folder, ["./configure --disable-nls --disable-perl-regexp", "make -C lib -j2"])
    sources = ["src/" + n + ".c" for n in ("dfasearch", "grep", "kwsearch", "kwset", "searchutils")] + \
        ["lib/dfa.c", "lib/localeinfo.c"]
    return Program("grep", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ilib", "-Isrc", "-w"),
                   ldflags=("lib/libgreputils.a",),
                   runs=[(["-n", "-E", "(t|w)h?[aeiou]+s?|^be"], _sentences(60)),
                         (["-F", "-c", "-e", "that", "-e", "with", "-e", "for it"], _sentences(90)),
                         (["-o", "-i", "-b", r"\(o[rn]\) *\1"], _sentences(90))],
                   visits=30000, steps=500000)


def diff(work):
    folder = _unpacked("diffutils", work)
    _prepare("diffutils", folder, ["./configure --disable-nls", "make -C lib -j2", "make -C src version.c version.h paths.h"])
    sources = ["src/" + n + ".c" for n in ("analyze", "context", "diff", "dir", "ed", "ifdef", "io", "normal", "side", "util",
                                           "version")]
    first, second = os.path.join(work, "diff.first"), _sentences(90)
    with open(f"{first}.{os.getpid()}", "wb") as file:
        file.write(second.replace(b"that for", b"that\nof for").replace(b"was", b"is"))
    os.rename(f"{first}.{os.getpid()}", first)
    return Program("diff", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ilib", "-Isrc", "-w"), ldflags=("lib/libdiffutils.a",),
                   runs=[(["--label=a", "--label=b", "-u", first, "-"], second), (["-y", "-b", first, "-"], second),
                         (["-e", "-i", "-", first], second)], visits=30000, steps=200000)


PACKAGES = {"bzip2": bzip2, "lua": lua, "gzip": gzip, "sqlite3": sqlite3, "mawk": mawk, "bc": bc, "sed": sed, "grep": grep,
            "diff": diff}


def package(name, work):
    """Two campaigns may want to unpack the same."""
    with open(os.path.join(work, f"lock-{name}"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return PACKAGES[name](work)


def find(names, work):
    """Programs by name; 'examples', 'text', 'threads' and 'packages' stand for all of a kind."""
    known, out = {p.name: p for p in [*examples(), *text_programs(), *threaded_programs()]}, []
    for name in names:
        if name == "examples":
            out += examples()
        elif name == "text":
            out += text_programs()
        elif name == "threads":
            out += threaded_programs()
        elif name == "packages":
            out += [package(name, work) for name in PACKAGES]
        elif name in known:
            out.append(known[name])
        elif name in PACKAGES:
            out.append(package(name, work))
        else:
            raise Missing(f"no program '{name}' (there are: {', '.join([*known, *PACKAGES])})")
    return out
