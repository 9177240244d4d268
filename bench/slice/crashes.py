# SPDX-License-Identifier: Apache-2.0
"""Crashes of a program by seed: every other one a memory fault, every other one an abort, prepared and traced as
tests/truth/slices does. A crash is a folder with `core` and `dynamic.json`, or `reason` where the dynamic slice could not
be had; it is made once."""

import json
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "truth"))
import crash
import dep

VARIABLES = ("TRUTH_FAULT", "TRUTH_ABORT")
# One place of so many is prepared, so that the program stays what it was.
RATE = 32


class Crashes:
    def __init__(self, build, work, program, seed):
        program.rate = RATE
        self.program, self.seed = program, seed
        self.tools = dep.DepTools(build, work)
        self.traced = dep.Traced(self.tools, program, None, "-O2", True, [], os.path.join(work, "build-" + program.name))
        self.exe = self.traced.exe
        self.folder = os.path.join(work, "crashes-" + program.name)
        stamp = os.path.join(self.folder, "stamp")
        want = f"{os.stat(self.exe).st_mtime_ns} {seed}"
        if not os.path.exists(stamp) or open(stamp).read() != want:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
            with open(stamp, "w") as file:
                file.write(want)
        self.visits = {}

    def _visits(self, arguments, text, variable):
        """How many prepared places a run goes through: later ones make nothing fail."""
        key = (tuple(arguments), text, variable)
        low, high = 0, 1
        if key in self.visits:
            return self.visits[key]
        while high <= self.program.visits and dep.fails(self.traced, arguments, text, {variable: str(high)}):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if dep.fails(self.traced, arguments, text, {variable: str(middle)}):
                low = middle
            else:
                high = middle
        self.visits[key] = low
        return low

    def _choose(self, number):
        """Late as often as early: what happens first happens in every run."""
        chance = random.Random(repr((self.seed, self.program.name, number)))
        variable = VARIABLES[number % 2]
        arguments, text = chance.choice(self.program.runs)
        most = self._visits(arguments, text, variable)
        if most == 0:
            raise crash.Unusable("nothing that is prepared is reached")
        visit = int(most ** chance.random()) if number % 4 < 2 else 1 + chance.randrange(most)
        return arguments, text, {variable: str(visit)}

    def _trace(self, arguments, text, variables, core, folder, number):
        ended, path = dep.run_tracer(self.traced, arguments, text, variables, folder)
        if ended != number:
            raise crash.Unusable(f"the tracing build ended with signal {ended}, the program with {number}")
        found = dep.dynamic_slice(self.traced, path)
        if not dep.same_place(crash.report(self.tools, self.exe, core), found):
            raise crash.Unusable("the tracing build failed elsewhere")
        return {"insns": sorted(found.insns), "lines": sorted(found.lines)}

    def _make(self, number, out):
        arguments, text, variables = self._choose(number)
        with crash.Scratch() as folder:
            core, signal = crash.run_shipped(self.traced, arguments, text, variables, folder)
            os.makedirs(out + ".new")
            shutil.move(core, os.path.join(out + ".new", "core"))
            core = os.path.join(out + ".new", "core")
            try:
                name, text = "dynamic.json", json.dumps(self._trace(arguments, text, variables, core, folder, signal))
            except (crash.Unusable, crash.Trouble, dep.BuildError) as reason:
                name, text = "reason", str(reason)
            with open(os.path.join(out + ".new", name), "w") as file:
                file.write(text)
        os.rename(out + ".new", out)

    def get(self, number):
        """The folder; crash.Unusable where this number gives no crash."""
        out = os.path.join(self.folder, str(number))
        if not os.path.exists(out):
            shutil.rmtree(out + ".new", ignore_errors=True)
            self._make(number, out)
        return out
