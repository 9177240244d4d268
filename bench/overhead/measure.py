"""Times programs, and prepares what a run needs.

Rounds are interleaved: in each, every variant of a program runs once, in an order shuffled anew, so
that drift of the machine falls on all alike. The first round is not counted; in it the output is
compared with that of plain clang-19."""

import hashlib
import os
import random
import shutil
import sys

from loads import RunFailed, Setting

HERE = os.path.dirname(os.path.abspath(__file__))


class Runner:
    def __init__(self, work):
        self.scratch = os.path.join(work, "scratch")
        self.inputs = os.path.join(work, "inputs", version_of_inputs())

    def make_inputs(self, program, share):
        """Writes the inputs that are not there yet; returns paths by name."""
        directory = os.path.join(self.inputs, "%g" % share)
        os.makedirs(directory, exist_ok=True)
        paths = {}
        for name, make in program.inputs.items():
            path = os.path.join(directory, program.name + "." + name)
            paths[name] = path
            if not os.path.exists(path):
                with open(path + ".part", "wb") as file:
                    file.write(make(share))
                os.rename(path + ".part", path)
        return paths

    def setting(self, program, variant, executable, share=1, words=()):
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(self.scratch)
        environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "HOME": self.scratch}
        for key, value in variant.environment.items():
            environment[key] = value.format(scratch=self.scratch)
        return Setting(executable, self.make_inputs(program, share), environment, self.scratch, words)

    def run(self, program, variant, executable):
        """(CPU seconds, digest of the output) of the whole workload."""
        return program.load.run(self.setting(program, variant, executable))

    def rounds(self, program, executables, count, say):
        """executables: path by variant. Returns (times by variant name, reasons by name of what failed)."""
        failed, times = {}, {}
        expected = None
        for variant, executable in executables.items():
            try:
                _, digest = self.run(program, variant, executable)
            except (RunFailed, OSError) as error:
                failed[variant.name] = str(error)
                continue
            if variant.name == "plain":
                expected = digest
            elif expected is not None and digest != expected:
                failed[variant.name] = "its output differs from plain"
                continue
            times[variant.name] = []
        rng = random.Random(program.name)
        running = [variant for variant in executables if variant.name in times]
        for number in range(count):
            say("%s: round %d of %d" % (program.name, number + 1, count))
            rng.shuffle(running)
            for variant in list(running):
                try:
                    times[variant.name].append(self.run(program, variant, executables[variant])[0])
                except (RunFailed, OSError) as error:
                    failed[variant.name] = "round %d: %s" % (number + 1, error)
                    running.remove(variant)
                    del times[variant.name]
        return times, failed


def version_of_inputs():
    """Inputs made by other code are not used again."""
    digest = hashlib.sha256()
    for name in ("inputs.py", "programs.py"):
        with open(os.path.join(HERE, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def say_on_terminal(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()
