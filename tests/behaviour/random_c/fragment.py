# SPDX-License-Identifier: Apache-2.0
"""Fragments: the parts that programs are made of, and the list of features that make them.

A feature is a function that writes one fragment: some code around one thing that compilers may get wrong, with one way in,
`u32 NAME(u32 x)`. Fragments call fragments that came before them through that, so features meet in one call stack. A fragment that
is dropped (by the reducer) leaves a function of the same name that does nothing much.

    @feature("computed-goto", free=True)
    def interpreter(f):
        f.add("static u32 ${n}_run(u32 x) { ... }")          # text at file level; $n is the fragment's name
        f.entry("return ${n}_run(x);")                      # the way in
"""

import string

from . import code

BUDGET = 400_000  # operations a fragment, callees included, unless it says otherwise
FEATURES = []  # in the order of their definition
FRAMES = 60_000  # on the stack at most


class Feature:
    def __init__(self, make, group, weight, free, static, once):
        self.make, self.name, self.group, self.weight = make, make.__name__.strip("_"), group, weight
        self.free = free  # needs no C library
        self.static = static  # works in programs that are linked statically
        self.once = once  # at most one a program


def feature(group, weight=10, free=False, static=True, once=False):
    def register(make):
        FEATURES.append(Feature(make, group, weight, free, static, once))
        return make

    return register


class Fragment:
    """What a feature writes to. `safe`: may be called from threads, handlers and children; to be set before entry()."""

    def __init__(self, feature_used, number, draw, earlier, unit, linkage, layout):
        self.feature, self.number, self.draw = feature_used, number, draw
        self.layout = layout  # of the program
        self.name = f"f{number:02}"
        self.earlier, self.unit, self.linkage = earlier, unit, linkage
        self.parts, self.elsewhere, self.includes, self.flags, self.libraries = [], [], set(), set(), set()
        self.uses = set()
        self.safe = True
        self.cost, self.budget = 0, BUDGET
        self.frame_limit = FRAMES
        self.frames = 8  # of its own on the stack at most, callees not counted
        self.volatile = False  # variables in random code are volatile
        self.attributes = ""
        self.constructors = False
        self._fresh = 0

    # ---- what features call

    def add(self, text, /, **values):
        self.parts.append(self.fill(text, **values))

    def add_elsewhere(self, text, /, **values):
        """In another file, where there is one."""
        self.elsewhere.append(self.fill(text, **values))

    def fill(self, text, /, **values):
        return string.Template(text).substitute(values, n=self.name)

    def entry(self, body, /, **values):
        self.attributes = self.draw_attributes()
        self.parts.append(f"{self.head()}\n{{\n{self.fill(body, **values)}\n}}")

    def include(self, *headers):
        self.includes.update(headers)

    def fresh(self, letter):
        self._fresh += 1
        return f"{letter}_{self._fresh}"

    def spend(self, operations):
        self.cost += operations

    def affords(self, operations):
        return self.cost + operations <= self.budget

    def statements(self, variables, count=3, **how):
        return code.Code(self, variables, **how).statements(count)

    def expression(self, variables, depth=2):
        return code.Code(self, variables, calls=False).expression(depth)

    def condition(self, variables):
        return code.Code(self, variables, calls=False).condition()

    def callee(self, times=1):
        """The name of some u32 (u32) function that may be called so often here, or None."""
        fitting = [
            other
            for other in self.earlier
            if (other.safe or not self.safe)
            and self.affords(other.cost * times)
            and not other.constructors
            and self.frames + other.total_frames() < self.frame_limit
        ]
        if not fitting:
            return None
        other = self.draw.of(*fitting)
        self.uses.add(other.number)
        self.spend(other.cost * times)
        return other.name

    def call(self, times=1):
        """As callee(), where there has to be one."""
        return self.callee(times) or "tip"

    def total_frames(self):
        return self.frames + max((o.total_frames() for o in self.earlier if o.number in self.uses), default=0)

    def static(self, recursive=True):
        """How a function of the fragment's own is defined."""
        choices = [
            "static",
            "static",
            "static __attribute__((noinline))",
            "static __attribute__((noinline))",
            "static inline",
            "static __attribute__((cold))",
            "static __attribute__((hot))",
            "static __attribute__((minsize))",
            '__attribute__((visibility("hidden")))',
            "__attribute__((weak))",
            "__attribute__((noinline))",
        ]
        if not recursive:
            choices += ["static inline __attribute__((always_inline))"] * 2
        return self.draw.of(*choices)

    # ---- the way in

    def draw_attributes(self):
        protected = "" if self.layout == "shared" or self.linkage == "static" else 'visibility("protected")'
        return self.draw.weighted(
            [
                (10, ""),
                (4, "noinline"),
                (1, "cold"),
                (1, "hot"),
                (1, "minsize"),
                (1, "noinline, optnone"),
                (1, "aligned(64)"),
                (1, "flatten"),
                (1, "weak"),
                (1, protected),
                (1, "no_stack_protector"),
                (1, "nodebug"),
                (1, "nomerge"),
                (1, "disable_tail_calls"),
                (1, "not_tail_called"),
                (1, "no_instrument_function"),
                (1, "no_profile_instrument_function"),
                (1, "noduplicate, noinline"),
                (1, "patchable_function_entry(4, 2)"),
                (1, f'section(".text.{self.name}")'),
                (1, "used"),
                (1, "no_split_stack"),
                (1, "convergent"),
            ]
        )

    def head(self):
        attributes = self.attributes
        if self.linkage == "static" and attributes == "weak":
            attributes = ""
        return f"{self.linkage} {'__attribute__((' + attributes + ')) ' if attributes else ''}u32 {self.name}(u32 x)".strip()

    def stub(self):
        return f"{self.linkage} u32 {self.name}(u32 x) {{ return x * 5u + {self.number}u; }}".strip()
