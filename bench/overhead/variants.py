"""The ways of building that are compared, and how one program is built in one of them.

A variant is words added to the compiler's command, and settings for the run. Flags stand in the
compiler's own words and not in CFLAGS, so that every link step sees them too. A tuned variant is
a copy of another variant's program after `inquest tune`.

A package is configured once a level of optimisation, with plain clang-19; a variant copies that
tree and compiles it again (tests/real/package remake). A program of our own is compiled where its variant
is built. What was built is kept and used again as long as compiler, plugin, flags and what says how to build are the
same. Every variant has -fstack-usage, which changes no code: what it writes is for stack.py."""

import hashlib
import os
import resource
import shlex
import shutil
import subprocess


class Variant:
    """optional: measured only where asked for by name."""

    def __init__(self, name, title, flags="", ours=False, environment=None, tuned_from=None, tune=None, optional=False):
        self.name = name
        self.title = title
        self.flags = flags
        self.ours = ours
        self.environment = environment or {}
        self.tuned_from = tuned_from
        self.tune = tune
        self.optional = optional


class BuildFailed(Exception):
    pass


def tune_off(program):
    return [["--off", "*"]]


def tune_realistic(program):
    """Paper 001, section V-A: paths are traced only in the functions that were on the stack of a failure;
    call coverage is what tune leaves on."""
    return [["--off", "*"]] + [["--on", function] for function in program.traced_functions()]


# In '{scratch}' what a run leaves behind is collected; it is thrown away after each run.
VARIANTS = [
    Variant("plain", "plain"),
    Variant("again", "plain again"),
    Variant("none", "none", "-finquest=none", ours=True),
    Variant("calls", "calls", "-finquest=calls", ours=True),
    Variant("paths", "paths", "-finquest=paths", ours=True),
    Variant("full", "full", "-finquest=full", ours=True),
    Variant("off", "tuned off", ours=True, tuned_from="paths", tune=tune_off),
    Variant("realistic", "realistic", ours=True, tuned_from="paths", tune=tune_realistic),
    Variant("single", "paths, not tunable", "-finquest=paths -fno-inquest-tunable", ours=True),
    Variant("gcov", "gcov", "--coverage", environment={"GCOV_PREFIX": "{scratch}"}),
    Variant("source", "source-based coverage", "-fprofile-instr-generate -fcoverage-mapping",
            environment={"LLVM_PROFILE_FILE": "{scratch}/profile"}),
    Variant("xray", "XRay", "-fxray-instrument", environment={"XRAY_OPTIONS": "patch_premain=true"}, optional=True),
]


class Builder:
    """plain and ours are compiler commands as lists of words; work is owned by the benchmark."""

    def __init__(self, source, work, plain, ours, tool):
        self.package = os.path.join(source, "tests", "real", "package")
        self.subjects = os.path.join(source, "bench", "overhead", "subjects")
        self.work = work
        self.plain = plain
        self.ours = ours
        self.tool = tool
        self.by_name = {variant.name: variant for variant in VARIANTS}

    def build(self, program, variant, opt):
        """Path of the program; raises BuildFailed with the reason."""
        if variant.tuned_from:
            return self.tune(program, variant, opt)
        directory = self.directory(program, variant, opt)
        compiler = self.compiler(variant)
        stamp = self.stamp(program, compiler, opt)
        if not self.is_fresh(directory, stamp):
            if program.sources:
                self.compile(program, compiler, opt, directory)
            else:
                self.remake(program, compiler, opt, directory)
            write(os.path.join(directory, "stamp"), stamp)
        if program.sources:
            return os.path.join(directory, program.name)
        return self.run_package(program, ["--work", directory, "single"]).strip()

    def remake(self, program, compiler, opt, directory):
        self.run_package(program, ["--from", self.configured(program, opt), "--cc", shlex.join(compiler), "--opt", opt,
                                   "--work", directory, "--jobs", "1", "remake"])

    def compile(self, program, compiler, opt, directory):
        """A program of our own; leaves the time it took where 'package remake' does."""
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        objects = []
        for source in program.sources:
            objects.append(os.path.join(directory, source + ".o"))
            self.run_compiler(compiler + [opt, "-g", "-c", "-o", objects[-1], source], os.path.join(self.subjects, program.name))
        self.run_compiler(compiler + [opt, "-g", "-o", os.path.join(directory, program.name)] + objects, directory)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        write(os.path.join(directory, "time"), "%.3f %.3f 0\n" % (after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime))

    def run_compiler(self, argv, directory):
        done = subprocess.run(argv, capture_output=True, text=True, cwd=directory, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise BuildFailed(last_line(done.stderr))

    def seconds(self, program, variant, opt):
        """CPU seconds that compiling and linking took, or None."""
        path = os.path.join(self.directory(program, variant, opt), "time")
        try:
            with open(path) as file:
                user, system, _ = file.read().split()[-3:]
            return float(user) + float(system)
        except (OSError, ValueError):
            return None

    def directory(self, program, variant, opt):
        return os.path.join(self.work, "build", program.name + opt, variant.name)

    def compiler(self, variant):
        return (self.ours if variant.ours else self.plain) + ["-fstack-usage"] + shlex.split(variant.flags)

    def stamp(self, program, compiler, opt):
        try:
            version = subprocess.run(compiler[:1] + ["--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise BuildFailed("cannot run '%s': %s" % (compiler[0], error))
        digest = hashlib.sha256("\n".join(compiler + [opt, version]).encode())
        for path in self.instructions(program):
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def instructions(self, program):
        """The files that say how a program is built, or that it is built from."""
        if program.sources:
            folder = os.path.join(self.subjects, program.name)
            return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        return [os.path.join(os.path.dirname(self.package), "packages", program.package + ".sh")]

    def is_fresh(self, directory, stamp):
        try:
            with open(os.path.join(directory, "stamp")) as file:
                return file.read() == stamp
        except OSError:
            return False

    def configured(self, program, opt):
        """The work directory of a plain build, from which every variant copies."""
        directory = os.path.join(self.work, "build", program.name + opt, "configured")
        if not os.path.exists(os.path.join(directory, "built")):
            self.run_package(program, ["fetch", "--cc", shlex.join(self.plain), "--opt", opt, "--work", directory, "build"])
        return directory

    def run_package(self, program, arguments):
        # Tools that a build makes and runs must not leave profiles in the tree.
        environment = dict(os.environ, LLVM_PROFILE_FILE=os.devnull)
        done = subprocess.run([self.package, program.package] + arguments, capture_output=True, text=True, env=environment,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise BuildFailed(last_line(done.stderr))
        return done.stdout

    def tune(self, program, variant, opt):
        original = self.build(program, self.by_name[variant.tuned_from], opt)
        directory = self.directory(program, variant, opt)
        os.makedirs(directory, exist_ok=True)
        tuned = os.path.join(directory, os.path.basename(original))
        for name in (os.path.basename(original),) + program.load.beside:
            shutil.copy2(os.path.join(os.path.dirname(original), name), os.path.join(directory, name))
        for step in variant.tune(program):
            done = subprocess.run([self.tool, "tune", tuned] + step, capture_output=True, text=True)
            # 1 is "not found": a function of the list may be absent where it was inlined everywhere.
            if done.returncode not in ((0, 1) if step[0] == "--on" else (0,)):
                raise BuildFailed("inquest tune %s: %s" % (" ".join(step), last_line(done.stderr)))
        return tuned


def loaded_size(path):
    """Text and data in bytes, as size prints them: what a process maps from the file."""
    done = subprocess.run(["size", path], capture_output=True, text=True, check=True)
    text, data = done.stdout.splitlines()[-1].split()[:2]
    return int(text) + int(data)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
