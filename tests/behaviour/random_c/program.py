# SPDX-License-Identifier: Apache-2.0
"""Random programs: deterministic, without undefined behaviour, over soon.

    program = Program("17")                 # the same for ever
    program.files                           # {"main.c": text, ...}
    Program("17", dropped={3, 4}).files     # the same without two of its fragments

A program calls its fragments (fragment.py) one after another, prints a running checksum after each, and ends with it, by a
return, an exit or a signal. `layout` says how it is put together:

    one       main.c
    units     two or three files and all.h
    archive   the same, all but main.c in a static library
    shared    the same, all but main.c in a shared library
    static    one or more files, linked statically
    free      main.c without the C library: it starts itself and calls the system itself
"""

from .draw import Draw
from .fragment import FEATURES, Fragment
from . import tails, calls, jumps, data, machine, system  # noqa: F401  (they register features)

LAYOUTS = [(50, "one"), (22, "units"), (6, "archive"), (12, "shared"), (5, "static"), (5, "free")]

# weight, statements, signal (0: none)
ENDINGS = [
    (12, ("return (int)(h & 127u);", 0)),
    (6, ("exit((int)(h & 127u));", 0)),
    (1, ("fflush(NULL);\n_exit((int)(h & 127u));", 0)),
    (1, ("fflush(NULL);\nquick_exit((int)(h & 127u));", 0)),
    (1, ('fprintf(stderr, "ends with %u\\n", h);\nreturn (int)(h & 127u);', 0)),
    (1, ("fflush(NULL);\nabort();", 6)),
    (1, ("assert(h == 0x12345u);\nreturn 1;", 6)),
    (1, ("fflush(NULL);\nraise(SIGSEGV);\nreturn 3;", 11)),
    (1, ("fflush(NULL);\n__builtin_trap();", 4)),
    (1, ("fflush(NULL);\nraise(SIGTERM);\nreturn 3;", 15)),
]

TYPES = """\
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
#define MUSTTAIL __attribute__((musttail))
static inline u32 mix(u32 h, u32 v) { h = (h ^ v) * 0x9e3779b1u; return h ^ h >> 15; }
"""

HOSTED = """\
static inline void say(const char *what, u32 value) { printf("%s %08x\\n", what, value); }
"""

# What is compiled without the library still needs these four, by clang's rules.
FREE = """\
static inline long call3(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static void say(const char *what, u32 value)
{
    char line[64];
    u32 at = 0;
    while (*what)
        line[at++] = *what++;
    line[at++] = ' ';
    for (int shift = 28; shift >= 0; shift -= 4)
        line[at++] = "0123456789abcdef"[value >> shift & 15u];
    line[at++] = '\\n';
    call3(1, 1, (long)line, (long)at);
}
void *memcpy(void *to, const void *from, unsigned long n) { u8 *t = to; const u8 *f = from; while (n--) *t++ = *f++; return to; }
void *memmove(void *to, const void *from, unsigned long n)
{
    u8 *t = to;
    const u8 *f = from;
    if (t < f)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}
void *memset(void *to, int c, unsigned long n) { u8 *t = to; while (n--) *t++ = (u8)c; return to; }
int memcmp(const void *a, const void *b, unsigned long n)
{
    const u8 *l = a, *r = b;
    for (; n--; l++, r++)
        if (*l != *r)
            return *l - *r;
    return 0;
}
unsigned long strlen(const char *text) { unsigned long n = 0; while (text[n]) n++; return n; }
__asm__(".globl _start\\n_start:\\n\\txorl %ebp, %ebp\\n\\tmovq (%rsp), %rdi\\n\\tleaq 8(%rsp), %rsi\\n\\tandq $-16, %rsp\\n\\tcall main\\n\\tmovl %eax, %edi\\n\\tmovl $60, %eax\\n\\tsyscall");
"""

# Functions that several units have, in the ways of C for that; the last unit has those with code of their own.
HEADER = """\
static __attribute__((unused)) u32 header_static(u32 a) { static u32 count; return mix(a, ++count); }
inline u32 header_inline(u32 a) { for (u32 i = 0; i < 3; i++) a = mix(a, i); return a & 1u ? a : header_other(a); }
extern inline __attribute__((gnu_inline)) u32 header_gnu(u32 a) { return a & 2u ? mix(a, 9u) : header_other(a + 1u); }
extern u32 header_data[4];
extern u32 *header_pointer;
"""

HEADER_NOT_LAST = "__attribute__((weak)) u32 header_weak(u32 a) { return a & 4u ? tip(a) : mix(a, 1u); }\n"


HEADER_LAST = """\
extern inline u32 header_inline(u32 a);
u32 header_gnu(u32 a) { return a & 2u ? mix(a, 9u) : header_other(a + 1u); }
u32 header_other(u32 a) { header_data[a & 3u] += a; return a * 3u; }
u32 header_weak(u32 a) { return a & 2u ? tip(a + 100u) : mix(a, 2u); }
u32 header_data[4] = {1, 2, 3, 4}, *header_pointer = &header_data[2];
"""

UNIT = """\
u32 unit{0}(u32 x)
{{
    u32 (*pointer)(u32) = x & 1u ? header_inline : header_gnu;
    *header_pointer += x;
    return mix(header_static(x) + header_inline(x) + header_gnu(x), pointer(x) + header_weak(x) + header_data[x & 3u]);
}}
"""


class Program:
    def __init__(self, seed, dropped=()):
        self.seed, self.dropped = seed, frozenset(dropped)
        draw = Draw(f"{seed}:program")
        self.layout = draw.weighted(LAYOUTS)
        self.units = (
            1 if self.layout in ("one", "free") or (self.layout == "static" and draw.chance(50)) else draw.between(2, 3)
        )
        self.fragments = self._fragments(draw)
        self.ending, self.signal = ENDINGS[0][1] if self.layout == "free" else draw.weighted(ENDINGS)
        self.separate = draw.chance(50)  # compiled one by one, then linked
        self.files = self._files()

    # ---- what it is made of

    def _fragments(self, draw):
        fragments, features = [], [
            f for f in FEATURES if (f.free or self.layout != "free") and (f.static or self.layout != "static")
        ]
        for number in range(1, draw.magnitude(2, 6) + 1):
            chosen = draw.weighted((f.weight, f) for f in features)
            if chosen.once:
                features.remove(chosen)
            fragment = Fragment(
                chosen,
                number,
                Draw(f"{self.seed}:{number}"),
                list(fragments),
                draw.below(self.units),
                "static" if self.units == 1 and draw.chance(60) else "",
                self.layout,
            )
            chosen.make(fragment)
            fragments.append(fragment)
        return fragments

    def live(self):
        return [f for f in self.fragments if f.number not in self.dropped]

    def features(self):
        return [f.feature.name for f in self.live()]

    def groups(self):
        return sorted({f.feature.group for f in self.live()})

    def frames(self):
        """On the stack at the same time, at most, about."""
        return max((f.total_frames() for f in self.live()), default=8)

    def flags(self):
        """That the sources need."""
        return sorted({flag for f in self.live() for flag in f.flags})

    def libraries(self):
        return sorted({library for f in self.live() for library in f.libraries})

    # ---- as text

    def _files(self):
        if self.units == 1:
            return {"main.c": indented(self._head() + self._prototypes() + self._unit(0) + self._main())}
        files = {
            "all.h": indented(
                "#pragma once\n"
                + self._head()
                + self._prototypes()
                + "u32 header_other(u32 a), header_weak(u32 a);\n"
                + HEADER
                + "".join(f"u32 unit{u}(u32 x);\n" for u in range(self.units))
            )
        }
        for unit in range(self.units):
            name = "main.c" if unit == 0 else f"unit{unit}.c"
            text = '#include "all.h"\n' + self._of_header(unit) + UNIT.format(unit) + self._unit(unit)
            files[name] = indented(text + (self._main() if unit == 0 else ""))
        return files

    def _of_header(self, unit):
        if unit == self.units - 1:
            return HEADER_LAST
        # in a shared library, which of two definitions is used depends on what was inlined
        return "" if self.layout == "shared" else HEADER_NOT_LAST

    def _head(self):
        text = "#define _GNU_SOURCE\n"
        includes = {header for f in self.live() for header in f.includes}
        if self.layout != "free":
            includes |= {"stdio.h", "stdlib.h", "signal.h", "unistd.h", "assert.h"}
        return (
            text
            + "".join(f"#include <{header}>\n" for header in sorted(includes))
            + TYPES
            + (FREE if self.layout == "free" else HOSTED)
            + "static __attribute__((noinline, unused)) u32 tip(u32 a) { return a & 1u ? a * 3u + 1u : a / 2u; }\n"
        )

    def _prototypes(self):
        return "".join(
            (f.stub().split("{")[0].strip() if f.number in self.dropped else f.head()) + ";\n" for f in self.fragments
        )

    def _unit(self, unit):
        return "\n".join(part.strip("\n") for f in self.fragments for part in self._parts_in(f, unit))

    def _parts_in(self, fragment, unit):
        dropped = fragment.number in self.dropped
        if fragment.unit == unit:
            yield from [fragment.stub()] if dropped else [
                f"\n/* {fragment.name}: {fragment.feature.name} */",
                *fragment.parts,
            ]
        if (fragment.unit + 1) % self.units == unit and not dropped:
            yield from fragment.elsewhere

    def _main(self):
        steps = "".join(f'h = mix(h, {f.name}(h));\nsay("{f.name}", h);\n' for f in self.live())
        if self.units > 1:
            steps += "".join(f"h = mix(h, unit{u}(h));\n" for u in range(self.units)) + 'say("units", h);\n'
        return f"""

int main(int argc, char **argv)
{{
u32 h = {Draw(f'{self.seed}:start').word()} + (u32)argc;
(void)argv;
{steps}if (argc == 2)
return (int)(h & 127u);
{self.ending}
}}
"""


def indented(text):
    """As a person would indent it, roughly."""
    out, depth = [], 0
    for line in text.splitlines():
        line = line.strip()
        closing = len(line) - len(line.lstrip("}"))
        at = max(depth - closing, 0) - (
            1 if line.endswith(":") and not line.startswith(("case", "default", "#")) and depth else 0
        )
        out.append(("    " * max(at, 0) + line) if line and not line.startswith("#") else line)
        depth = max(depth + line.count("{") - line.count("}"), 0)
    return "\n".join(out) + "\n"
