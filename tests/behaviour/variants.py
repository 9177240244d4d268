# SPDX-License-Identifier: Apache-2.0
"""How programs are built: optimisation and other flags, which plain clang gets too, and what is recorded.

A level is what follows from one of LEVELS: options of inquest-cc, and what is done to the executable afterwards."""

# weight, name, flags
OPTIMISATIONS = [
    (16, "-O0", ["-O0"]),
    (14, "-O1", ["-O1"]),
    (22, "-O2", ["-O2"]),
    (14, "-O3", ["-O3"]),
    (12, "-Os", ["-Os"]),
    (6, "-Oz", ["-Oz"]),
    (3, "-Og", ["-Og"]),
    (8, "-O2 -flto", ["-O2", "-flto", "-fuse-ld=lld"]),
    (3, "-O2 -flto=thin", ["-O2", "-flto=thin", "-fuse-ld=lld"]),
    (2, "-O0 -flto", ["-O0", "-flto", "-fuse-ld=lld"]),
]

TRAPS = ["-fsanitize=undefined", "-fsanitize-trap=undefined"]

# weight, flags
EXTRAS = [
    (6, ["-fstack-protector-strong"]),
    (2, ["-fstack-protector-all"]),
    (5, TRAPS),
    (2, ["-ftrapv"]),
    (4, ["-fno-omit-frame-pointer"]),
    (4, ["-fcf-protection"]),
    (1, ["-fcf-protection=branch"]),
    (4, ["-D_FORTIFY_SOURCE=2"]),
    (2, ["-D_FORTIFY_SOURCE=3"]),
    (3, ["-g"]),
    (3, ["-g0"]),
    (3, ["-gdwarf-4"]),
    (2, ["-g1"]),
    (1, ["-ggdb3"]),
    (2, ["-fno-plt"]),
    (4, ["-fPIC"]),
    (3, ["-fno-pie", "-no-pie"]),
    (4, ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]),
    (3, ["-fuse-ld=lld"]),
    (2, ["-fuse-ld=gold"]),
    (2, ["-fuse-ld=lld", "-ffunction-sections", "-Wl,--gc-sections"]),
    (1, ["-fuse-ld=lld", "-Wl,--icf=safe"]),
    (3, ["-fstack-clash-protection"]),
    (3, ["-fexceptions"]),
    (2, ["-fno-asynchronous-unwind-tables"]),
    (2, ["-mno-red-zone"]),
    (1, ["-fno-strict-aliasing"]),
    (1, ["-fwrapv"]),
    (1, ["-fcommon"]),
    (2, ["-fpatchable-function-entry=8,4"]),
    (1, ["-fpatchable-function-entry=3"]),
    (1, ["-finstrument-functions"]),
    (2, ["-fsanitize=function", "-fsanitize-trap=function"]),
    (1, ["-fsanitize=kcfi"]),
    (1, ["-fsanitize=safe-stack"]),
    (1, ["-mretpoline"]),
    (1, ["-mharden-sls=all"]),
    (1, ["-fbasic-block-sections=all"]),
    (1, ["-fno-jump-tables"]),
    (1, ["-fno-inline"]),
    (1, ["-mcmodel=medium"]),
    (1, ["-fno-semantic-interposition"]),
    (1, ["-fvisibility=hidden"]),
    (1, ["-fsanitize=address"]),
    (1, ["-fsanitize=thread"]),
    (1, ["-fno-builtin"]),
    (1, ["-Wl,-z,now"]),
    (1, ["-s"]),
    (1, ["-funroll-loops"]),
    (1, ["-fno-integrated-as"]),
    (1, ["-fprofile-instr-generate"]),
    (1, ["-fno-addrsig"]),
    (1, ["-fsplit-machine-functions"]),
    (1, ["-Wl,-z,norelro"]),
    (1, ["-fzero-call-used-regs=used"]),
    (1, ["-ftrivial-auto-var-init=pattern"]),
    (1, ["-gsplit-dwarf"]),
    (1, ["-gz"]),
    (1, ["-flto", "-fvisibility=hidden", "-fsanitize=cfi", "-fsanitize-trap=cfi", "-fuse-ld=lld"]),
]

# What works without the C library.
FREE_EXTRAS = {
    "-fno-omit-frame-pointer",
    "-fcf-protection",
    "-fcf-protection=branch",
    "-g",
    "-g0",
    "-gdwarf-4",
    "-g1",
    "-fPIC",
    "-ffunction-sections",
    "-mno-red-zone",
    "-fwrapv",
    "-fno-jump-tables",
    "-fno-inline",
    "-funroll-loops",
    "-fpatchable-function-entry=8,4",
    "-fno-builtin",
}


class Level:
    """`flags` of inquest-cc; `tune`: arguments of `inquest tune`; `run`: INQUEST_OPTIONS (FOLDER is put in); `partial`: plain
    clang compiles all but the first file."""

    def __init__(self, name, flags, tune=(), strip=False, run=None, partial=False):
        self.name, self.flags, self.tune, self.strip, self.run, self.partial = (
            name,
            list(flags),
            list(tune),
            strip,
            run,
            partial,
        )

    def text(self):
        parts = [
            *self.flags,
            *(["(partly plain)"] if self.partial else []),
            *(["(stripped)"] if self.strip else []),
            *(["tune", *self.tune] if self.tune else []),
        ]
        return " ".join(parts + ([f"INQUEST_OPTIONS={self.run}"] if self.run else []))


def patterns(draw):
    """Some functions of any program, by their names."""
    return draw.of(
        ["--off", "*[02468]"],
        ["--off", "*[13579]", "--off", "main"],
        ["--off", "*", "--on", "*_*"],
        ["--off", "*", "--on", "main"],
        ["--off", "*[a-m]", "--on", "*[xyz]"],
        ["--off", "*", "--on", "*[0-4]"],
    )


LEVEL_WEIGHTS = [
    (5, "none"),
    (14, "calls"),
    (18, "paths"),
    (14, "full"),
    (13, "off"),
    (9, "mixed"),
    (8, "untunable"),
    (3, "calls off"),
    (3, "full off"),
    (5, "excluded"),
    (4, "partial"),
    (6, "suspects"),
]


def draw_level(draw, name):
    strip = draw.chance(12)
    if name == "untunable":
        return Level(name, [f"-finquest={draw.of('paths', 'paths', 'calls', 'full')}", "-fno-inquest-tunable"])
    if name.endswith("off"):
        return Level(
            name,
            [f"-finquest={name.split()[0]}"] if " " in name else draw.of([], ["-finquest=paths"]),
            ["--off", "*"],
            strip,
        )
    if name == "mixed":
        return Level(name, [f"-finquest={draw.of('paths', 'paths', 'calls', 'full')}"], patterns(draw), strip)
    if name == "excluded":
        return Level(
            name,
            [
                f"-finquest={draw.of('paths', 'calls', 'full')}",
                f"-finquest-{draw.of('exclude', 'include')}={draw.of('*[02468]', '*_*', 'f*', 'main', '*[a-m]')}",
            ],
        )
    if name == "partial":
        return Level(
            name, [f"-finquest={draw.of('paths', 'calls', 'full')}"], draw.of([], ["--off", "*"]), strip, partial=True
        )
    if name == "suspects":
        run = draw.of(None, "suspects=FOLDER", f"suspects=FOLDER:rate=1/{draw.of(2, 10, 100)}:seed={draw.below(1000)}")
        return Level(name, [f"-finquest={draw.of('none', 'calls', 'paths', 'full')},suspects"], run=run)
    return Level(name, [] if name == "paths" and draw.chance(50) else [f"-finquest={name}"], strip=strip)


def draw_levels(draw, count, subject):
    """Different ones."""
    chosen, rest = [], [(weight, name) for weight, name in LEVEL_WEIGHTS if suits(name, subject)]
    for _ in range(count):
        name = draw.weighted((weight, (weight, name)) for weight, name in rest)
        rest.remove(name)
        chosen.append(draw_level(draw, name[1]))
    return chosen


def suits(level, subject):
    """Without the C library there is no thread-local storage, which the runtime of sampling needs."""
    if level == "partial":
        return len(subject.sources()) > 1 and (subject.separate or subject.layout in ("archive", "shared"))
    return level != "suspects" or subject.layout != "free"


def fits(layout, optimisation, flags):
    """Can these be had together?"""
    lto, text = "-flto" in optimisation, " ".join(flags)
    if "=cfi" in text and (lto or layout not in ("one", "units")):
        return False
    if layout == "free":
        return not lto and all(f in FREE_EXTRAS or f in TRAPS for f in flags)
    if "_FORTIFY_SOURCE" in text and optimisation.startswith("-O0"):
        return False
    if layout == "static" and any(word in text for word in ("address", "thread", "safe-stack", "-no-pie", "-fuse-ld=gold")):
        return False
    if layout == "shared" and any(word in text for word in ("-no-pie", "safe-stack", "-fvisibility=hidden")):
        return False
    if lto and any(word in text for word in ("-fuse-ld", "basic-block", "-fno-integrated-as", "split-machine")):
        return False
    return not (optimisation == "-O0" and "split-machine" in text)


def draw_extras(draw, layout, optimisation):
    flags = []
    for _ in range(draw.weighted([(45, 0), (35, 1), (20, 2)])):
        for _ in range(20):
            more = draw.weighted(EXTRAS)
            if fits(layout, optimisation, more) and compatible(flags, more):
                flags += more
                break
    return flags


def compatible(flags, more):
    """No two of the same option, no two sanitizers, no two linkers."""
    names = {f.split("=")[0].lstrip("-")[:6] for f in flags}
    return not names & {f.split("=")[0].lstrip("-")[:6] for f in more}
