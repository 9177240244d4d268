# SPDX-License-Identifier: Apache-2.0
"""The programs that are crashed, with all of their own code in the model: what a package has of gnulib is compiled like the
rest. Sources, lua and sqlite3 are those of tests/truth/programs.py."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "truth"))
import programs as truth

Missing, Program = truth.Missing, truth.Program
MAKE = "make -j2 MAKEINFO=true"


def _compiled(folder, place):
    """Sources of the objects that the package's own build left in a folder and below. Automake puts a prefix before
    their names."""
    found = set()
    for where, _, names in os.walk(os.path.join(folder, place)):
        for name in (n[:-2] for n in names if n.endswith(".o")):
            tried = [name[i:] + ".c" for i in range(len(name)) if i == 0 or name[i - 1] == "-"]
            there = next((t for t in tried if os.path.exists(os.path.join(where, t))), None)
            if there:
                found.add(os.path.relpath(os.path.join(where, there), folder))
    return sorted(found)


def _files(place, names):
    return [f"{place}/{n}.c" for n in names.split()]


def flex(work):
    folder = truth._unpacked("flex", work)
    truth._prepare("flex", folder, ["autoreconf --force --install", "./configure --disable-nls", MAKE + " -C src"])
    sources = _files("src", "buf ccl dfa ecs filter gen main misc nfa options parse regex scan scanflags scanopt skel sym "
                     "tables tables_shared tblcmp yylex")
    scanner = b"""%option noyywrap nounput noinput
%x STRING
DIGIT [0-9]
NAME [a-z_][a-z0-9_]*
%%
{DIGIT}+("."{DIGIT}*)?  { return 1; }
"if"|"else"|"while"|"for"|"return"  { return 2; }
{NAME}  { return 3; }
\\"  BEGIN(STRING);
<STRING>[^\\"\\n]+  ;
<STRING>\\"  BEGIN(INITIAL);
[ \\t\\n]+  ;
"/*"([^*]|\\*+[^*/])*\\*+"/"  ;
.  return yytext[0];
%%
int main(void) { while (yylex()) ; return 0; }
"""
    # without --preproc=0 it forks, and its children have the same failures prepared
    runs = [([*options, "--preproc=0", "-t"], scanner) for options in ([], ["-Cf"], ["-i", "-Cem", "-v"], ["-R", "-8"])]
    return Program("flex", folder, sources, cflags=("-DHAVE_CONFIG_H", '-DLOCALEDIR="/usr/share/locale"', "-Isrc"),
                   ldflags=("-lm",), runs=runs, visits=4000000)


def grep(work):
    folder = truth._unpacked("grep", work)
    # it catches memory faults, in search of stack overflows
    truth._prepare("grep", folder, ["sed -i '/^ *c_stack_action (NULL);/d' src/grep.c",
                                    "AUTOPOINT=true AUTOHEADER=true LIBTOOLIZE=true autoreconf --force --install",
                                    "./configure --disable-nls --disable-perl-regexp", MAKE + " -C lib",
                                    MAKE + " -C src"])
    text = truth._sentences(600)
    runs = [(options, text) for options in (["-n", "-E", "(the|of) +(and|to)"], ["-i", "-c", "-e", "IS", "-e", "th.s$"],
                                            ["-o", "-w", "[a-h]*e"], ["-v", "-F", "that"],
                                            ["-E", "(.)(.).*\\2\\1"])]
    return Program("grep", folder, _compiled(folder, "src") + _compiled(folder, "lib"),
                   cflags=("-DHAVE_CONFIG_H", "-I.", "-Isrc", "-Ilib"), runs=runs, visits=2000000)


def gzip(work):
    folder = truth._unpacked("gzip", work)
    truth._prepare("gzip", folder, ["./configure", MAKE + " -C lib", MAKE + " gzip"])
    theirs = truth.gzip(work)
    library = [s for s in _compiled(folder, "lib") if s != "lib/xalloc-die.c"]  # gzip has its own
    return Program("gzip", folder, theirs.sources + library, cflags=theirs.cflags, runs=theirs.runs,
                   visits=theirs.visits)


def sed(work):
    folder = truth._unpacked("sed", work)
    truth._prepare("sed", folder, ["./configure --disable-nls --disable-acl --without-selinux", MAKE])
    sources = _files("sed", "compile debug execute mbcs regexp sed utils version") + _compiled(folder, "lib")
    text = truth._sentences(600)
    runs = [(options, text) for options in (["s/the \\([a-z]*\\)/<\\1>/g;y/abc/ABC/"], ["-n", "/that/,/this/{=;p;G}"],
                                            ["-E", ":a;N;$!ba;s/\\n(.)/ \\1/2"], ["1~3d;h;x;s/o/0/2;w /dev/null"])]
    return Program("sed", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ilib", "-Ised"), runs=runs, visits=2000000)


def bc(work):
    folder = truth._unpacked("bc", work)
    # dc calls a function that a Debian patch added without declaring it
    truth._prepare("bc", folder, ["autoreconf --force --install", "./configure --without-readline --without-libedit",
                                  MAKE + " CFLAGS='-O1 -g -Wno-implicit-function-declaration'"])
    sources = _files("bc", "execute scan warranty load bc util storage global main") + _files("lib", "getopt getopt1 number")
    script = b"""scale = 30
define f(n) { auto i, p; p = 1; for (i = 2; i <= n; i++) p *= i; return (p); }
a = f(20) / 7; a
for (i = 0; i < 5; i++) { if (i % 2) b[i] = sqrt(i) else b[i] = -i; }
b[3] ^ 4 - b[2]
obase = 16; f(12); ibase = 2; 1011 * 110
"""
    return Program("bc", folder, sources, cflags=("-DHAVE_CONFIG_H", "-I.", "-Ih", "-Ibc",
                                                  "-Wno-implicit-function-declaration"),
                   runs=[(["-q"], script), (["-q", "-l"], b"scale = 20\ns(1) + l(3)\ne(0.5)\n")], visits=2000000)


KNOWN = {"flex": flex, "grep": grep, "gzip": gzip, "sed": sed, "bc": bc, "lua": truth.lua, "sqlite3": truth.sqlite3}


def find(name, work):
    if name not in KNOWN:
        raise Missing(f"no program '{name}' (there are: {', '.join(KNOWN)})")
    return KNOWN[name](work)
