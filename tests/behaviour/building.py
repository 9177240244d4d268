# SPDX-License-Identifier: Apache-2.0
"""Builds a subject with plain clang or with inquest-cc, and runs it.

Every build has a folder of its own with a program of the same name in it, and is compiled in the folder of the sources, so that
messages and command lines are the same but for the compiler."""

import os
import re
import shutil
import signal
import subprocess
import time

PROGRAM = "prog"
LIBRARY = "libparts.so"
COMPILE_LIMIT = 300  # seconds
RUN_LIMIT = 60  # of what plain clang's program does in PLAIN_LIMIT
PLAIN_LIMIT = 5
STACK = 8192  # KiB, where it is not what is looked at

# Names that differ from command to command.
TEMPORARY = re.compile(r"/tmp/[\w.-]+|/proc/\d+/fd/\d+|[\w-]+-[0-9a-f]{6,8}\.(?:o|s|bc)\b")
COMPILER = re.compile(r"^(?:\S*/)?(?:clang|inquest)[\w+-]*(?:-19)?(?= ?:)", re.MULTILINE)


class Tools:
    def __init__(self, build, plain="clang-19"):
        self.compiler = os.path.join(build, "bin", "inquest-cc")
        self.inquest = os.path.join(build, "bin", "inquest")
        self.plain = plain


class Built:
    """`status` and `messages` of all commands; `problem` where something else went wrong; `path` of the folder."""

    def __init__(self, path):
        self.path, self.status, self.messages, self.problem, self.commands = path, 0, "", None, []

    def run(self, command, folder, environment):
        self.commands.append(command)
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=COMPILE_LIMIT,
                env=environment,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            self.status, self.problem = -signal.SIGALRM, f"compiling takes over {COMPILE_LIMIT} s"
            return False
        self.messages += normal(done.stdout + done.stderr, self.path)
        self.status = self.status or done.returncode
        return done.returncode == 0


def normal(text, path):
    text = text.replace(path + "/", "")
    return COMPILER.sub("CC", TEMPORARY.sub("TEMPORARY", text))


def environment(extra=None):
    result = {
        "PATH": os.environ.get("PATH", ""),
        "LC_ALL": "C",
        "HOME": os.environ.get("HOME", "/"),
        "LLVM_PROFILE_FILE": "/dev/null",
        "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0:handle_segv=0:handle_abort=0:allocator_may_return_null=1",
        "TSAN_OPTIONS": "report_bugs=0:use_sigaltstack=0:handle_segv=0",
        **(extra or {}),
    }
    if "TMPDIR" in os.environ:
        result["TMPDIR"] = os.environ["TMPDIR"]
    return result


def link_flags(subject):
    if subject.layout == "static":
        return ["-static"]
    return ["-nostdlib", "-static", "-no-pie"] if subject.layout == "free" else []


def compile_flags(subject):
    return ["-ffreestanding", "-fno-stack-protector", "-fno-pie"] if subject.layout == "free" else []


def commands(subject, compiler, flags, out, other=None):
    """In the folder of the sources; `compiler` is a list; `other`, another one, compiles all but the first."""
    sources = subject.sources()
    flags = [*subject.flags, *compile_flags(subject), *flags]
    target = ["-o", os.path.join(out, PROGRAM)]
    libraries = [*subject.libraries, *(["-lgcc"] if subject.layout == "free" else [])]
    main, *parts = sources
    if subject.layout == "shared":
        yield [*(other or compiler), *flags, "-fPIC", "-shared", *parts, "-o", os.path.join(out, LIBRARY), *libraries]
        yield [*compiler, *flags, main, *target, "-L" + out, "-lparts", "-Wl,-rpath,$ORIGIN", *libraries]
        return
    if subject.layout != "archive" and not subject.separate:
        yield [*compiler, *flags, *link_flags(subject), *sources, *target, *libraries]
        return
    objects = {s: os.path.join(out, s[:-2] + ".o") for s in sources}
    for source, object_file in objects.items():
        yield [*(other if other and source in parts else compiler), *flags, "-c", source, "-o", object_file]
    inputs = list(objects.values())
    if subject.layout == "archive":
        archive = os.path.join(out, "libparts.a")
        yield ["llvm-ar-19" if any("-flto" in f for f in flags) else "ar", "rcs", archive, *[objects[s] for s in parts]]
        inputs = [objects[main], archive]
    yield [*compiler, *flags, *link_flags(subject), *inputs, *target, *libraries]


def build(subject, folder, compiler, flags, out, other=None):
    """In `folder` are the sources."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    built = Built(out)
    for command in commands(subject, compiler, flags, out, other):
        if not built.run(command, folder, environment()):
            break
    return built


def images(out):
    return [path for path in (os.path.join(out, name) for name in (PROGRAM, LIBRARY)) if os.path.exists(path)]


def finish(built, level, tools):
    """Strips and tunes, as the level says."""
    for path in images(built.path):
        if level.strip:
            subprocess.run(["strip", path], check=True, env=environment())
        if level.tune:
            command = [tools.inquest, "tune", path, *level.tune]
            built.commands.append(command)
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env=environment({"XDG_CACHE_HOME": os.path.join(built.path, "cache")}),
            )
            # 1: no function of that name; 2 with these words: none that could be switched, or none of ours at all
            nothing = ["no function can be switched", *(["no flags to tune"] if level.partial else [])]
            if done.returncode not in (0, 1) and not any(text in done.stderr for text in nothing):
                built.problem = f"inquest tune {' '.join(level.tune)}: status {done.returncode}: {done.stderr.strip()}"


def run(out, arguments, data, stack=STACK, options=None, limit=RUN_LIMIT):
    """Status (negative: a signal; None: over the limit), output and messages, and the seconds that it took."""
    extra = {}
    if options:
        reports = os.path.join(out, "reports")
        os.makedirs(reports, exist_ok=True)
        extra["INQUEST_OPTIONS"] = options.replace("FOLDER", reports)
    # of processor time as well: what a killed campaign leaves behind comes to an end
    limits = f'ulimit -c 0; ulimit -s {stack}; ulimit -t {2 * limit}; exec ./{PROGRAM} "$@"'
    began = time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", limits, "sh", *arguments],
        cwd=out,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(extra),
        start_new_session=True,
    )
    try:
        output, messages = process.communicate(data, timeout=limit)
        return (process.returncode, output, messages), time.monotonic() - began
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return (None, b"", b""), limit
