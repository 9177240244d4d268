# SPDX-License-Identifier: Apache-2.0
"""Builds: the oracle's tools, the program that ships (inquest-cc, no logging), and its logging twin,
which is made from the very bitcode that the shipped executable carries."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess

from binary import Binary, plain_name
from table import Table

HERE = os.path.dirname(os.path.abspath(__file__))


class BuildError(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    if done.returncode != 0:
        words = " ".join(str(c) for c in command)
        raise BuildError(f"'{words}' failed:\n{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


def digest(*files):
    total = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:12]


@contextlib.contextmanager
def locked(folder):
    """Two campaigns may want the same build."""
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Tools:
    """The passes, the run-times and the stepper, compiled once into a folder."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.inquest = os.path.join(build, "bin", "inquest")
        self.inquest_cc = os.path.join(build, "bin", "inquest-cc")
        self.inquest_cxx = os.path.join(build, "bin", "inquest-c++")
        self.plugin_hash = digest(os.path.join(build, "lib", "inquest", "inquest-plugin.so"),
                                  self.inquest_cc)
        os.makedirs(folder, exist_ok=True)
        self.passes = self._make("log_plugin.cc", ".so", self._plugin)
        self.log_runtime = self._make("log_runtime.c", ".o", self._object)
        self.inject_runtime = self._make("inject_runtime.c", ".o", self._object)
        self.stepper = self._make("stepper.c", "", self._program)

    def _make(self, source, suffix, make):
        source = os.path.join(HERE, source)
        name = f"{os.path.splitext(os.path.basename(source))[0]}-{digest(source)}{suffix}"
        out = os.path.join(self.folder, name)
        if not os.path.exists(out):
            unfinished = f"{out}.{os.getpid()}"
            make(source, unfinished)
            os.rename(unfinished, out)
        return out

    def _plugin(self, source, out):
        include = run(["llvm-config-19", "--includedir"]).decode().strip()
        run(["clang++-19", "-std=c++17", "-O1", "-shared", "-fPIC", "-fno-rtti", "-fno-exceptions",
             f"-isystem{include}", source, "-o", out])

    def _object(self, source, out):
        run(["clang-19", "-O2", "-c", source, "-o", out])

    def _program(self, source, out):
        run(["clang-19", "-O2", source, "-o", out])

    def opt(self, passes, source, out, **variables):
        run(["opt-19", f"--load-pass-plugin={self.passes}", f"-passes={passes}", source, "-o", out],
            env={**os.environ, **variables})


class Shipped:
    """One built program. `exe` does not log; `logger` does, on demand."""

    def __init__(self, tools, program, level, opt, inject, flags, folder, off=None):
        self.tools, self.program, self.inject = tools, program, inject
        self.opt = opt.split()  # several flags may be a level: "-O2 -flto"
        self.flags = list(flags) + ([f"-finquest={level}"] if level else [])
        self.folder, self.off = folder, off
        self.exe = os.path.join(folder, program.name)
        self.logger = os.path.join(folder, program.name + ".log")
        os.makedirs(folder, exist_ok=True)
        stamp = os.path.join(folder, "stamp")
        want = " ".join([tools.plugin_hash, tools.passes, opt, *self.flags, off or "", program.stamp()])
        with locked(folder):
            if not os.path.exists(stamp) or open(stamp).read() != want:
                self._build(stamp, want)
        self.binary = Binary(self.exe)
        self.table = self._read_table()
        self._names = None

    def _build(self, stamp, want):
        if os.path.exists(stamp):
            os.unlink(stamp)
        for name in os.listdir(self.folder):
            if name.endswith(".table") or name.startswith("steps-"):
                os.unlink(os.path.join(self.folder, name))
        self._ship()
        self._log()
        with open(stamp, "w") as file:
            file.write(want)

    def _compile(self, source, number):
        """One source to one object with a model."""
        tools, p = self.tools, self.program
        cxx = source.endswith((".cc", ".cpp", ".cxx"))
        compiler = tools.inquest_cxx if cxx else tools.inquest_cc
        out = os.path.join(self.folder, f"{number}.o")
        flags = [*self.opt, "-g", *p.cflags]
        if not self.inject or source in p.calm:
            run([compiler, *flags, *self.flags, "-c", source, "-o", out], cwd=p.folder)
            return out
        front = os.path.join(self.folder, f"{number}.front.bc")
        changed = os.path.join(self.folder, f"{number}.bc")
        run(["clang++-19" if cxx else "clang-19", *flags, "-Xclang", "-disable-llvm-passes",
             "-emit-llvm", "-c", source, "-o", front], cwd=p.folder)
        tools.opt("truth-inject", front, changed, TRUTH_SEED=str(number), TRUTH_RATE=str(p.rate),
                  TRUTH_PLACES=os.path.join(self.folder, f"{number}.places"))
        keep = [f for f in flags if f.startswith(("-O", "-g", "-f", "-m", "-pthread"))]
        run([compiler, *keep, *self.flags, "-c", changed, "-o", out])
        os.unlink(front)
        os.unlink(changed)
        return out

    def _ship(self):
        p = self.program
        objects = [self._compile(s, i) for i, s in enumerate(p.sources)]
        if self.inject:
            objects.append(self.tools.inject_runtime)
        driver = self.tools.inquest_cxx if p.cxx else self.tools.inquest_cc
        run([driver, *self.opt, *self.flags, *objects, *p.ldflags, "-o", self.exe], cwd=p.folder)
        if self.off:
            run([self.tools.inquest, "tune", self.exe, "--off", self.off, "-q"])
        for o in objects:
            if o != self.tools.inject_runtime:
                os.unlink(o)

    def _log(self):
        """From the bitcode in the executable, in link order."""
        tools, objects = self.tools, []
        for k, (ident, bitcode) in enumerate(Binary(self.exe).models()):
            base = os.path.join(self.folder, f"model{k}")
            with open(base + ".bc", "wb") as file:
                file.write(bitcode)
            tools.opt("truth-table", base + ".bc", "/dev/null",
                      TRUTH_TABLE=f"{base}.{ident:016x}.table")
            tools.opt("truth-log", base + ".bc", base + ".log.bc", TRUTH_MODULE=str(k))
            run(["clang-19", "-O0", "-Wno-override-module", "-fPIC", "-c", base + ".log.bc", "-o",
                 base + ".o"])
            objects.append(base + ".o")
            os.unlink(base + ".bc")
            os.unlink(base + ".log.bc")
        if self.inject:
            objects.append(tools.inject_runtime)
        run(["clang++-19" if self.program.cxx else "clang-19", *objects, tools.log_runtime,
             *self.program.ldflags, "-o", self.logger], cwd=self.program.folder)

    def _read_table(self):
        table = Table()
        names = [n for n in os.listdir(self.folder) if n.startswith("model") and n.endswith(".table")]
        for name in sorted(names, key=lambda n: int(n[5:n.index(".")])):
            with open(os.path.join(self.folder, name)) as file:
                table.add(int(name.split(".")[1], 16), file.read())
        return table

    def place_kinds(self):
        """What is prepared to fail anywhere: fault, global, library, abort."""
        kinds = set()
        for number in range(len(self.program.sources)):
            path = os.path.join(self.folder, f"{number}.places")
            if os.path.exists(path):
                with open(path) as file:
                    kinds |= {line.split()[0] for line in file}
        return kinds

    def entered_names(self):
        """Functions whose every entry shows in the machine code: never inlined, and logged."""
        if self._names is None:
            inlined = self.binary.inlined()
            there = {plain_name(name) for _, _, name, _ in self.binary.functions}
            known = {f.name for _, functions in self.table.modules for f in functions
                     if f.linkage != "available" and f.source_name not in inlined
                     and f.name not in inlined and f.name in there}
            self._names = known
        return self._names


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
