# SPDX-License-Identifier: Apache-2.0
"""Counts of regions from the file that a counting build has mapped (-fprofile-instr-generate -fcoverage-mapping, LLVM 19).

What `llvm-profdata merge` and `llvm-cov export` say, without running them for every crash: they are asked once a build, of the
first profile. They tell the functions and regions, and their counts must be those that come out here, or BuildError is raised.
Counts are sums and differences of counters, in section __llvm_covfun (LLVM's CoverageMappingFormat, version 4 and later)."""

import array
import hashlib
import json
import os
import struct
import subprocess

import build
from binary import Binary

CODE, EXPANSION, SKIPPED, GAP, BRANCH = range(5)  # kinds of regions, as `llvm-cov export` has them
HEADER, RECORD = 16 * 8, 64  # bytes of a profile's header, and of what is in it of one function
MAGIC = 0xFF6C70726F667281


def name_reference(name):
    return int.from_bytes(hashlib.md5(name.encode()).digest()[:8], "little")


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        """Unsigned LEB128."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


class Function:
    """What one function's counts are made of. `steps` are (sign, left, right), values by number: 0, the counters, the steps before.
    `regions` are without counts, `values` the numbers of theirs."""

    def __init__(self, data, counters):
        reader = Reader(data)
        self.counters, self.steps, self.known = counters, [], {}
        files = [reader.number() for _ in range(reader.number())]
        self.expressions = [(reader.number(), reader.number()) for _ in range(reader.number())]
        regions = [r for f in range(len(files)) for r in self._regions(reader, f)]
        self.regions = [region for region, _ in regions if region[6] != GAP]
        # The name of a macro counts what is first in its body, which may be the name of another one.
        first = {}
        for region, counter in regions:
            first.setdefault(region[4], (region, counter))
        self.values = []
        for region, counter in regions:
            inner = region
            while inner[6] == EXPANSION and inner[5] in first:
                inner, counter = first[inner[5]]
            if region[6] != GAP:
                self.values.append(self._value(counter))

    def _regions(self, reader, file):
        line = 0
        for _ in range(reader.number()):
            counter, kind, expanded = reader.number(), CODE, 0
            if not counter & 3 and counter & 4:
                kind, expanded, counter = EXPANSION, counter >> 3, 0
            elif not counter & 3 and counter >> 3:
                kind, counter = counter >> 3, 0
                if kind not in (2, 4):
                    raise build.BuildError(f"a coverage region of unknown kind {kind}")
                kind = SKIPPED if kind == 2 else BRANCH
                if kind == BRANCH:
                    reader.number(), reader.number()
            line += reader.number()
            column, lines, end = reader.number(), reader.number(), reader.number()
            if end >> 31:
                kind, end = GAP, end & 0x7FFFFFFF
            if kind in (CODE, EXPANSION, GAP):
                yield (line, column, line + lines, end, file, expanded, kind), counter

    def _value(self, counter):
        """The number of a counter's value: 0, a counter, or the expression's step. Without recursion: they are deep."""
        work = [counter]
        while work:
            top = work[-1]
            if top in self.known:
                work.pop()
            elif top & 3 < 2:
                self.known[top] = 1 + (top >> 2) if top & 3 else 0
            else:
                sides = self.expressions[top >> 2]
                missing = [s for s in sides if s not in self.known]
                work += missing
                if not missing:
                    self.steps.append((1 if top & 3 == 3 else -1, self.known[sides[0]], self.known[sides[1]]))
                    self.known[top] = self.counters + len(self.steps)
        return self.known[counter]

    def evaluate(self, counters):
        values = [0, *counters]
        for sign, left, right in self.steps:
            values.append(values[left] + sign * values[right])
        return values


def llvm_regions(exe, profile):
    """[(function, file, regions with counts)] as LLVM's own tools have it, without branches; None: no profile."""
    data = profile + ".data"
    if subprocess.run(["llvm-profdata-19", "merge", profile, "-o", data], capture_output=True).returncode:
        return None
    done = build.run(["llvm-cov-19", "export", exe, f"-instr-profile={data}", "-skip-expansions", "-skip-branches"])
    return [(f["name"], os.path.realpath(f["filenames"][0]), [tuple(r) for r in f["regions"] if r[7] in (CODE, EXPANSION)])
            for f in json.loads(done)["data"][0]["functions"]]


class Counters:
    """functions: [(name, file, regions)] of these sources, when the first profile was read; a region is (line, column, end line, end column,
    file or macro, the macro it is the name of, kind)."""

    def __init__(self, exe, sources):
        self.exe, self.sources, self.functions = exe, sources, None

    def _read_layout(self, data):
        """{name: (where its counters are in a profile, how many)}."""
        _, _, ids, count, before, _, _, _, _, _, delta = struct.unpack_from("<11Q", data)
        begin = HEADER + ids
        counters = begin + count * RECORD + before
        for i in range(count):
            name, _, pointer = struct.unpack_from("<QQQ", data, begin + i * RECORD)
            number, = struct.unpack_from("<I", data, begin + i * RECORD + 48)
            yield name, (counters + (pointer - (delta - i * RECORD)) % (1 << 64), number)

    def _read_records(self):
        """{name: its encoded regions}."""
        data, at = Binary(self.exe).section("__llvm_covfun"), 0
        while at + 28 <= len(data):
            name, size = struct.unpack_from("<QI", data, at)
            yield name, data[at + 28:at + 28 + size]
            at += (28 + size + 7) & ~7

    def _prepare(self, profile, data):
        said = llvm_regions(self.exe, profile)
        if said is None:
            return
        layout, records = dict(self._read_layout(data)), dict(self._read_records())
        functions, self.made = [], []
        for name, file, regions in said:
            at = layout.get(name_reference(name))
            if file in self.sources and at:
                function = Function(records[name_reference(name)], at[1])
                if function.regions != [(*r[:4], *r[5:]) for r in regions]:
                    raise build.BuildError(f"'{name}': its regions are not those of llvm-cov")
                functions.append((name.split(":")[-1], file, function.regions))
                self.made.append((at[0], function))
            elif file in self.sources and any(r[4] for r in regions):
                raise build.BuildError(f"'{name}' has counts without counters")
        self.functions = functions
        mine = self._evaluate(data)
        theirs = [[r[4] for r in regions] for name, file, regions in said if file in self.sources and name_reference(name) in layout]
        for (name, _, _), a, b in zip(functions, mine, theirs):
            # LLVM has differences below 0 as 0
            if [max(0, c) for c in a] != [c if c < 1 << 63 else 0 for c in b]:
                raise build.BuildError(f"'{name}': its counts are not those of llvm-cov")

    def _evaluate(self, data):
        out = []
        for at, function in self.made:
            counters = array.array("Q", data[at:at + 8 * function.counters])
            if any(counters):
                values = function.evaluate(counters)
                out.append([values[v] for v in function.values])
            else:
                out.append([0] * len(function.values))
        return out

    def read(self, profile):
        """Counts of the regions of each function; None: no profile."""
        try:
            with open(profile, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        if len(data) < HEADER or struct.unpack_from("<Q", data)[0] != MAGIC:
            return None
        if self.functions is None:
            self._prepare(profile, data)
        return None if self.functions is None else self._evaluate(data)
