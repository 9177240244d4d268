"""Runs programs and takes their user CPU time from wait4.

Rounds are interleaved: in each, every variant of a program runs once, in an order shuffled anew, so
that drift of the machine falls on all alike. The first round is not counted; in it the output is
compared with that of plain clang-19."""

import hashlib
import os
import random
import shutil
import sys


class RunFailed(Exception):
    pass


def make_inputs(program, directory):
    """Writes the inputs that are not there yet; returns paths by name."""
    os.makedirs(directory, exist_ok=True)
    paths = {}
    for name, make in program.inputs.items():
        data_path = os.path.join(directory, program.name + "." + name)
        paths[name] = data_path
        if not os.path.exists(data_path):
            with open(data_path + ".part", "wb") as file:
                file.write(make())
            os.rename(data_path + ".part", data_path)
    return paths


def command_lines(program, executable, inputs):
    """(argv, path of standard input) for each command of the workload."""
    lines = []
    for command in program.commands:
        argv, stdin = [executable], os.devnull
        for word in command:
            if word.startswith("@"):
                argv.append(inputs[word[1:]])
            elif word.startswith("<"):
                stdin = inputs[word[1:]]
            else:
                argv.append(word)
        lines.append((argv, stdin))
    return lines


def run_command(argv, stdin, stdout, environment):
    """User CPU seconds of one command. Output goes to a file and not to /dev/null, where grep would stop early."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RunFailed("'%s' ended with %s" % (" ".join(argv[:3]), describe(status)))
    return usage.ru_utime


def describe(status):
    if os.WIFSIGNALED(status):
        return "signal %d" % os.WTERMSIG(status)
    return "exit status %d" % os.WEXITSTATUS(status)


class Runner:
    def __init__(self, work):
        self.scratch = os.path.join(work, "scratch")
        self.inputs = os.path.join(work, "inputs")

    def run(self, program, variant, executable):
        """(user CPU seconds, digest of the output) of the whole workload."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(self.scratch)
        environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "HOME": self.scratch}
        for key, value in variant.environment.items():
            environment[key] = value.format(scratch=self.scratch)
        seconds, digest = 0.0, hashlib.sha256()
        output = os.path.join(self.scratch, "output")
        for argv, stdin in command_lines(program, executable, make_inputs(program, self.inputs)):
            seconds += run_command(argv, stdin, output, environment)
            with open(output, "rb") as file:
                digest.update(file.read())
        return seconds, digest.hexdigest()

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


def say_on_terminal(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()
