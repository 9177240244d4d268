"""What a program is given to do: commands one after the other, or requests to a server (server.py).

A load has two forms. run() is the whole of it, for timing; it returns CPU seconds and a digest of the output.
count() is for runs below valgrind, whose words stand before the command; it returns a digest. It works on a share
of the input, and where what happens depends on time it is another load that does not. repeats: how often it is
counted, for the mean. beside: files that a load needs from where the executable is."""

import hashlib
import os
import signal


class RunFailed(Exception):
    pass


class Setting:
    """One run: inputs are paths by name, scratch is an empty directory, words go before the command."""

    def __init__(self, executable, inputs, environment, scratch, words=()):
        self.executable = executable
        self.inputs = inputs
        self.environment = environment
        self.scratch = scratch
        self.words = list(words)


class Commands:
    """Each command is a list of arguments; '@NAME' is an input file, '<NAME' at the end its standard input."""

    beside = ()
    repeats = 1

    def __init__(self, *commands):
        self.commands = commands

    def run(self, setting):
        """User CPU seconds and the output's digest."""
        seconds, digest = 0.0, hashlib.sha256()
        output = os.path.join(setting.scratch, "output")
        for argv, stdin in self.command_lines(setting):
            seconds += run_command(argv, stdin, output, setting.environment)
            with open(output, "rb") as file:
                digest.update(file.read())
        return seconds, digest.hexdigest()

    def count(self, setting):
        return self.run(setting)[1]

    def describe(self):
        return repr(self.commands)

    def command_lines(self, setting):
        """(argv, path of standard input) for each command."""
        lines = []
        for command in self.commands:
            argv, stdin = setting.words + [setting.executable], os.devnull
            for word in command:
                if word.startswith("@"):
                    argv.append(setting.inputs[word[1:]])
                elif word.startswith("<"):
                    stdin = setting.inputs[word[1:]]
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
        return signal.Signals(os.WTERMSIG(status)).name
    return "exit status %d" % os.WEXITSTATUS(status)
