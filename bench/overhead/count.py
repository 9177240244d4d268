"""Instructions that a program executes, counted by valgrind (cachegrind without its caches).

The count of a program on a fixed input repeats to a few instructions, so it is taken once (redis-server: see server.py), and
kept for as long as the executable, the workload and valgrind are the same. valgrind of Debian 12 stops at DWARF and at symbols that clang-19 writes: a stripped
copy is run, under the same path for all variants, since its length moves the stack."""

import hashlib
import json
import os
import re
import shutil
import subprocess

from loads import RunFailed

COUNT = re.compile(r"I +refs: +([\d,]+)")


class Counter:
    """runner prepares the runs; counts are kept below work."""

    def __init__(self, runner, work):
        self.runner = runner
        self.kept = os.path.join(work, "counts")
        self.valgrind = shutil.which("valgrind")
        self.version = subprocess.run([self.valgrind, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        os.makedirs(self.kept, exist_ok=True)

    def count(self, program, variant, executable):
        """(instructions, digest of the output)."""
        bare = self.stripped(program, executable)
        path = os.path.join(self.kept, self.stamp(program, variant, bare))
        try:
            with open(path) as file:
                known = json.load(file)
            return known["instructions"], known["output"]
        except (OSError, ValueError, KeyError):
            pass
        runs = [self.run(program, variant, bare) for _ in range(program.load.repeats)]
        output = runs[0][1]
        if any(other != output for _, other in runs):
            raise RunFailed("its output changes from run to run")
        instructions = round(sum(count for count, _ in runs) / len(runs))
        with open(path + ".part", "w") as file:
            json.dump({"program": program.name, "variant": variant.name, "instructions": instructions, "output": output}, file)
        os.rename(path + ".part", path)
        return instructions, output

    def run(self, program, variant, bare):
        log = os.path.join(self.kept, "log")
        shutil.rmtree(log, ignore_errors=True)
        os.makedirs(log)
        words = [self.valgrind, "--vgdb=no", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + os.devnull,
                 "--log-file=%s/%%p" % log]
        output = program.load.count(self.runner.setting(program, variant, bare, program.counted, words))
        counts = []
        for name in os.listdir(log):
            with open(os.path.join(log, name)) as file:
                counts += [int(match.replace(",", "")) for match in COUNT.findall(file.read())]
        if not counts:
            raise RunFailed("valgrind gave no count; see '%s'" % log)
        return sum(counts), output

    def stripped(self, program, executable):
        bare = os.path.join(self.kept, "bin", program.name)
        os.makedirs(os.path.dirname(bare), exist_ok=True)
        subprocess.run(["strip", "-o", bare, executable], check=True)
        return bare

    def stamp(self, program, variant, bare):
        """Covers all that a count depends on."""
        digest = hashlib.sha256(repr((self.version, program.load.describe(), sorted(variant.environment.items()))).encode())
        for path in [bare] + sorted(self.runner.make_inputs(program, program.counted).values()):
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        return digest.hexdigest()
