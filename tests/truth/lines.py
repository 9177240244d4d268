# SPDX-License-Identifier: Apache-2.0
"""A third oracle: clang's own coverage, which knows nothing of models, nodes and bitcode of ours. The sources are compiled
once more with -fprofile-instr-generate -fcoverage-mapping and without optimisation, with the same places prepared to
fail, and run to the same failure. The counters are a file that is mapped, so that they outlive it.

What a count proves. A region of which the count is 0 did not run, in functions without setjmp. Others may
be differences: of an `else`, what came to the `if` less what went on to the `then`. An activation that was left in the
middle (it is on the stack, or was jumped over) counts one too many there, so that only counts above the number
of such activations prove that a region ran.

Where a macro stands. Code of a macro is counted in its own body, and clang has a region for its name only, which counts what the
body begins with. A region that begins with a macro (`MACRO (x);` behind a `return`) is written as if it began behind the name.
Of macros of system headers there are empty regions where the name begins. What stands in arguments is in no region
of its own, whatever the body makes of it: `WHEN (c, { f (); })`."""

import collections
import functools
import os
import re
import string

import build
import counters
from counters import CODE, EXPANSION
from log import ENTER, LEAVE

WORD = string.ascii_letters + string.digits + "_"
LITERAL = re.compile(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'|/\*.*?\*/|//.*')
COUNT = collections.Counter()


def wanted():
    return os.environ.get("TRUTH_LINES")


class Counting:
    """The build that counts, of one shipped program."""

    def __init__(self, shipped):
        self.shipped, self.folder = shipped, os.path.join(shipped.folder, "lines")
        self.exe = os.path.join(self.folder, shipped.program.name)
        os.makedirs(self.folder, exist_ok=True)
        stamp = os.path.join(self.folder, "stamp")
        with build.locked(self.folder):
            want = open(os.path.join(shipped.folder, "stamp")).read()
            if not os.path.exists(stamp) or open(stamp).read() != want:
                self._build()
                with open(stamp, "w") as file:
                    file.write(want)
        self.mapping = Mapping(self.exe, {os.path.realpath(os.path.join(shipped.program.folder, s)) for s in shipped.program.sources})

    def _compile(self, source, number):
        shipped, p = self.shipped, self.shipped.program
        base = os.path.join(self.folder, str(number))
        flags = [f for f in shipped.opt if not f.startswith(("-flto", "-fuse-ld"))]
        build.run(["clang-19", *flags, "-g", *p.cflags, "-fprofile-instr-generate", "-fcoverage-mapping", "-Xclang",
                   "-disable-llvm-passes", "-emit-llvm", "-c", source, "-o", base + ".bc"], cwd=p.folder)
        shipped.tools.opt("truth-own", base + ".bc", base + ".bc")
        if shipped.inject and source not in p.calm:
            shipped.tools.opt("truth-inject", base + ".bc", base + ".bc", TRUTH_SEED=str(number), TRUTH_RATE=str(p.rate),
                              TRUTH_PLACES=base + ".places")
            with open(base + ".places") as mine, open(os.path.join(shipped.folder, f"{number}.places")) as theirs:
                if mine.read() != theirs.read():
                    raise build.BuildError(f"'{source}': other places are prepared to fail where clang counts")
        build.run(["clang-19", "-O0", "-Wno-override-module", "-fPIC", "-fprofile-instr-generate", "-mllvm", "-runtime-counter-relocation",
                   "-c", base + ".bc", "-o", base + ".o"])
        os.unlink(base + ".bc")
        return base + ".o"

    def _build(self):
        p = self.shipped.program
        objects = [self._compile(s, i) for i, s in enumerate(p.sources)]
        if self.shipped.inject:
            objects.append(self.shipped.tools.inject_runtime)
        build.run(["clang-19", "-fprofile-instr-generate", *objects, *p.ldflags, "-o", self.exe], cwd=p.folder)


# ---------------------------------------------------------------- lines of one function

class Lines:
    """slots(line): numbers of the regions that have code on it, from its first character on. Regions are line, column, end line, end
    column, number, file or macro, the macro it is the name of, kind."""

    def __init__(self, text, regions):
        self.text, regions = text, [(*r[:4], i, *r[4:]) for i, r in enumerate(regions)]
        self.code = [r for r in regions if r[5] == 0 and r[7] == CODE]
        self.names = [r for r in regions if r[5] == 0 and r[7] == EXPANSION]
        self.bodies = collections.defaultdict(list)
        for r in regions:
            self.bodies[r[5]].append(r)
        foreign = [r for r in self.code if r[:2] == r[2:4]]  # of system headers
        self.macros = {line for r in self.names for line in range(r[0], r[2] + 1)} | {r[0] for r in foreign}
        self.arguments = {n for line, column in {r[:2] for r in (*self.names, *foreign)} for n in self.argument_lines(line, column)}
        self.first = min(r[0] for r in self.code)
        self.last = max(r[2] for r in self.code)

    def innermost(self, line, column):
        """Of regions that are nested, the one that begins last."""
        inside = [r for r in self.code if (r[0], r[1]) <= (line, column) < (r[2], r[3])]
        return max(inside, key=lambda r: (r[0], r[1], -r[2], -r[3]), default=None)

    def begin(self, line):
        text = self.text[line - 1] if line <= len(self.text) else ""
        return len(text) - len(text.lstrip()) + 1, text.strip()

    def argument_lines(self, line, column):
        """The lines behind the first one that arguments of the macro go on over."""
        depth, text = 0, self.text[line - 1][column - 1:].lstrip(WORD)
        for number in range(line, min(line + 500, len(self.text))):
            for c in re.findall(r"[()]", LITERAL.sub("", text)):
                depth += 1 if c == "(" else -1
                if depth <= 0:
                    return range(line + 1, number + 1)
            if not depth and text.strip():
                break  # without arguments
            text = self.text[number]
        return ()

    def region(self, line):
        """Whose count is that of the line's first character."""
        column, text = self.begin(line)
        name = [r for r in self.names if r[:2] == (line, column)]
        behind = column + len(text) - len(text.lstrip(WORD))
        begun = [r for r in self.code if r[:2] == (line, behind) and behind > column]
        return (name or [self.innermost(line, behind if begun else column)])[0]

    def body_slots(self, body):
        return [n for r in self.bodies[body] for n in ([r[4]] if r[7] == CODE else self.body_slots(r[6]))]

    def slots(self, line):
        starts = [r for r in self.code if r[0] == line]
        ends = [self.innermost(line, r[3]) for r in self.code
                if r[2] == line and r[:2] != r[2:4] and self.text[line - 1][r[3] - 1:].strip() not in ("", ";")]
        bodies = [n for r in self.names if r[0] == line for n in self.body_slots(r[6])]
        return [r[4] for r in [self.region(line), *starts, *ends] if r] + bodies

    def is_one(self, line):
        """Is all of the line in one region, without macros?"""
        column, text = self.begin(line)
        return bool(text) and line not in self.macros | self.arguments and not any(
            r[0] == line and r[1] > column or r[2] == line and column < r[3] < column + len(text) for r in self.code)

    def is_statement(self, line):
        """Does one begin on this line, with code of its own?"""
        _, text = self.begin(line)
        if line in self.arguments:
            return False
        before = next((t for t in (self.begin(n)[1] for n in range(line - 1, 0, -1)) if t), "")
        return bool(re.match(r"[A-Za-z_*(+-]", text)) and before.endswith((";", "{", "}")) and \
            not re.match(r"(else|case|default|do|for|static|extern|typedef|struct|union|enum|const)\b|\w+ *:", text) and \
            "//" not in before and "*/" not in before


@functools.cache
def read_text(file):
    with open(file, errors="replace") as opened:
        return opened.read().expandtabs(1).split("\n")  # form feeds end no line


def abandoned(shipped, log):
    """{function: activations that did not return}."""
    open_now, words = {}, log.words
    for i in range(log.length):
        kind, value = words[2 * i + 1] >> 29, words[2 * i + 1] & 0x1FFFFFFF
        if kind == ENTER:
            open_now[words[2 * i]] = value
        elif kind == LEAVE:
            open_now.pop(words[2 * i], None)
    left = collections.Counter()
    for number in open_now.values():
        left[shipped.table.function(number).source_name] += 1
    return left


class Fact:
    """What one line is, in every function that has code there: (number of the function, name, ...)."""

    def __init__(self, found, line):
        self.texts = [f.begin(line)[1] for _, _, f in found]
        self.slots = [(k, name, f.slots(line)) for k, name, f in found]
        self.statement = self.one = None
        if len(found) == 1:
            k, name, f = found[0]
            region = f.region(line)
            where = region and (k, name, region[4])
            self.statement, self.one = where if f.is_statement(line) else None, where if f.is_one(line) else None


class Mapping:
    """Which regions are on which lines, of one build that counts."""

    def __init__(self, exe, sources):
        self.counters, self.facts, self.by_file = counters.Counters(exe, sources), {}, None

    def read(self, profile):
        found = self.counters.read(profile)
        if found is not None and self.by_file is None:
            self.by_file = collections.defaultdict(list)
            for k, (name, file, regions) in enumerate(self.counters.functions):
                if any(r[4] == 0 and r[6] == CODE for r in regions):
                    self.by_file[file].append((k, name, Lines(read_text(file), regions)))
        return found

    def at(self, file, line):
        """None where there is no code."""
        if (file, line) not in self.facts:
            found = [(k, n, f) for k, n, f in self.by_file.get(file, []) if f.first <= line <= f.last]
            self.facts[file, line] = Fact(found, line) if found else None
        return self.facts[file, line]


class Truth:
    """What clang's counters say of lines: counts in all functions that have code there. `twice`: names of functions that call
    setjmp; `left`: see abandoned()."""

    def __init__(self, twice, mapping, counts, left):
        self.twice, self.mapping, self.counts, self.left = twice, mapping, counts, collections.Counter(left)
        self.at = mapping.at

    def did_not_run(self, file, line):
        """Surely not: in every function that has it. Where a block ends stands what comes of it by other ways."""
        fact = self.at(file, line)
        return fact is not None and not any(t.startswith("}") for t in fact.texts) and all(
            name not in self.twice and slots and not any(self.counts[k][s] for s in slots) for k, name, slots in fact.slots)

    def _ran(self, where):
        if where is None:
            return False
        k, name, slot = where
        return name not in self.twice and self.counts[k][slot] > self.left[name]

    def ran(self, file, line):
        fact = self.at(file, line)
        return fact is not None and self._ran(fact.statement)

    def all_ran(self, file, line):
        fact = self.at(file, line)
        return fact is not None and self._ran(fact.one)

    def names(self, file, line, callee):
        """Is the call written there? Macros of system headers are no regions."""
        fact = self.at(file, line)
        return fact is not None and any(re.search(rf"\b{re.escape(callee)} ?\(", text) for text in fact.texts)


def counting(shipped):
    """Its build that counts, made once."""
    if not hasattr(shipped, "counting"):
        shipped.counting = Counting(shipped)
    return shipped.counting


def truth_of(shipped, profile, log):
    """None: no profile."""
    mapping = counting(shipped).mapping
    counts = mapping.read(profile)
    twice = {f.source_name for _, fs in shipped.table.modules for f in fs if f.twice()}
    return None if counts is None else Truth(twice, mapping, counts, abandoned(shipped, log))


# ---------------------------------------------------------------- claims

def line_problems(truth, told):
    """told: [(file, line, answer)]."""
    for file, line, answer in told:
        if answer == "yes" and truth.at(file, line):
            COUNT["yes"] += 1
            if truth.did_not_run(file, line):
                yield "lines", f"line {line} of '{os.path.basename(file)}' is told to have run, clang counts 0"
        elif answer == "no" and truth.ran(file, line):
            COUNT["no that ran"] += 1
            yield "lines", f"line {line} of '{os.path.basename(file)}' is told not to have run, clang has counted it"
        elif answer == "no" and truth.at(file, line):
            COUNT["no"] += 1


def call_problems(truth, shipped, evidence, places):
    """Calls that were made or not, in the whole run, by the line they are on; `places` has that of each node."""
    sites = [((function, node), bit, places.get((ident, function.index, node), ("", 0)))
             for ident, bits in evidence.coverage.items() if ident in shipped.table.by_id
             for (function, node), bit in zip(shipped.table.sites(ident), bits)
             if function.linkage not in ("weak", "available", "naked")]
    calls_on = collections.Counter(place for _, _, place in sites)
    for (function, node), bit, (file, line) in sites:
        where = f"the call at line {line} of '{os.path.basename(file)}' ('{function.name}' node {node})"
        if bit == "y" and truth.at(file, line):
            COUNT["made"] += 1
            if truth.did_not_run(file, line):
                yield "lines", f"{where} is told as made, clang counts 0"
        elif bit == "n" and calls_on[file, line] == 1 and truth.names(file, line, function.callees[node]):
            COUNT["never"] += 1
            if truth.all_ran(file, line):
                yield "lines", f"{where} is told as never made, clang has counted the line"


def problems(shipped, answer, evidence, log, run, folder):
    """`run(exe, variables)` runs the program and gives the signal that ended it; `answer` is that of `inquest coverage`. None: no verdict."""
    profile = os.path.join(folder, "lines.profraw")
    if run(counting(shipped).exe, {"LLVM_PROFILE_FILE": os.path.join(folder, "lines%c.profraw")}) != evidence.signal:
        return None
    truth = truth_of(shipped, profile, log)
    if truth is None:
        return None
    COUNT["crashes"] += 1
    told = ((*place, a) for place, a in zip(answer.shape.lines, answer.lines))
    return [*line_problems(truth, told), *call_problems(truth, shipped, evidence, answer.shape.places)]


def summary():
    if COUNT["crashes"]:
        yield (f"clang's counters, {COUNT['crashes']} crashes: lines {COUNT['yes']} yes, {COUNT['no']} no; calls {COUNT['made']} made, "
               f"{COUNT['never']} never; no verdict {COUNT['unusable']}")
