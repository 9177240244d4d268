# SPDX-License-Identifier: Apache-2.0
"""Does a program built with inquest-cc behave as plain clang's does?

    reference = Reference(subject, folder, tools, flags)     # built by plain clang and run; Unusable where that tells nothing
    judge(reference, level) -> Verdict

Looked at are the compiler's status and messages, and of each run the status or signal, standard output and standard error; once with the
usual stack, and once with a stack that is twice what plain clang's program needs, and STACK_A_FRAME bytes more for each frame that
the program may have at the same time."""

import os
import shutil

import building
from subjects import Unusable

STACK_A_FRAME = 80
STACK_LIMITS = [192, 384, 768, 1536, 3072, 6144]  # KiB
SAME = "same"
EXCUSED = (SAME, "unstable", "undefined", "debug")
CHECKS = ["-fsanitize=undefined,address,float-cast-overflow,integer-divide-by-zero", "-fno-sanitize-recover=all"]
REPEAT = 3  # runs of both before a difference counts


class Verdict:
    """`outcome`: SAME, "compile", "messages", "tune", "status", "output", "hangs", "stack"; or "unstable" (the plain one
    differs from itself), "undefined" (csmith's program has undefined behaviour), "debug" (clang itself does not build it with -g)."""

    def __init__(self, outcome, text="", limited=False, commands=()):
        self.outcome, self.text, self.limited, self.commands = outcome, text, limited, list(commands)

    def differs(self):
        return self.outcome not in EXCUSED


class Reference:
    def __init__(self, subject, folder, tools, flags):
        self.subject, self.folder, self.tools, self.flags = subject, folder, tools, list(flags)
        self.sources = os.path.join(folder, "sources")
        subject.write(self.sources)
        self.built = building.build(subject, self.sources, [tools.plain], self.flags, os.path.join(folder, "plain"))
        if self.built.status != 0:
            raise Unusable(f"clang does not build it: {self.built.messages[-400:]}")
        self.results = [self.first_run(arguments, data) for arguments, data in subject.runs]
        self.stack = self.find_stack()

    def first_run(self, arguments, data):
        result, seconds = building.run(self.built.path, arguments, data, limit=building.PLAIN_LIMIT + 1)
        if result[0] is None or seconds > building.PLAIN_LIMIT:
            raise Unusable("it runs too long")
        if self.subject.program and result[0] < 0 and -result[0] != self.subject.program.signal:
            raise Unusable(f"plain clang's program dies of signal {-result[0]}")
        return result

    def find_stack(self):
        """KiB for the builds to be judged, or None where plain clang's needs too much."""
        if any("sanitize=address" in f or "sanitize=thread" in f for f in self.flags):
            return None
        for limit in STACK_LIMITS:
            if all(
                building.run(self.built.path, arguments, data, limit // 2)[0] == expected
                for (arguments, data), expected in zip(self.subject.runs, self.results)
            ):
                return limit + STACK_A_FRAME * self.subject.frames // 1024
        return None

    def builds_with_debug(self):
        """inquest-cc always has debug information made."""
        out = os.path.join(self.folder, "debug")
        built = building.build(self.subject, self.sources, [self.tools.plain, "-g"], self.flags, out)
        shutil.rmtree(out, ignore_errors=True)
        return built.status == 0

    def is_stable(self):
        """The examples that crash do what addresses have them do: they are asked more often."""
        return all(
            building.run(self.built.path, arguments, data)[0] == expected
            for _ in range(10 * REPEAT if self.subject.kind == "examples" else REPEAT)
            for (arguments, data), expected in zip(self.subject.runs, self.results)
        )

    def is_defined(self):
        """Only what csmith makes is doubted."""
        if self.subject.kind != "csmith":
            return True
        out = os.path.join(self.folder, "checked")
        built = building.build(self.subject, self.sources, [self.tools.plain], ["-O1", *CHECKS], out)
        return built.status == 0 and all(building.run(out, *run)[0][0] == 0 for run in self.subject.runs)


def judge(reference, level, name="level"):
    tools, out = reference.tools, os.path.join(reference.folder, name)
    built = building.build(
        reference.subject,
        reference.sources,
        [tools.compiler, *level.flags],
        reference.flags,
        out,
        [tools.plain] if level.partial else None,
    )
    try:
        return judge_built(reference, level, built)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def judge_built(reference, level, built):
    if built.status != 0 or built.problem:
        if built.status > 0 and not reference.builds_with_debug():
            return Verdict("debug")
        return Verdict("compile", built.problem or f"status {built.status}\n{built.messages}", commands=built.commands)
    # lld warns from several threads
    if sorted(built.messages.splitlines()) != sorted(reference.built.messages.splitlines()):
        return Verdict("messages", difference("messages", reference.built.messages, built.messages), commands=built.commands)
    building.finish(built, level, reference.tools)
    if built.problem:
        return Verdict("tune", built.problem, commands=built.commands)
    outcome, text = compare_runs(reference, level, built.path, building.STACK)
    if outcome == SAME and reference.stack:
        outcome, text = compare_runs(reference, level, built.path, reference.stack)
        if outcome != SAME:
            outcome, text = "stack", f"with {reference.stack} KiB of stack: {text}"
    if outcome != SAME and not reference.is_stable():
        outcome = "unstable"
    elif outcome != SAME and not reference.is_defined():
        outcome = "undefined"
    return Verdict(outcome, text, reference.stack is not None, built.commands)


def compare_runs(reference, level, path, stack):
    for (arguments, data), expected in zip(reference.subject.runs, reference.results):
        result, _ = building.run(path, arguments, data, stack, level.run)
        if result != expected:
            return what_differs(expected, result), describe(arguments, expected, result)
    return SAME, ""


def what_differs(expected, result):
    if result[0] is None:
        return "hangs"
    return "status" if result[0] != expected[0] else "output"


def describe(arguments, expected, result):
    text = f"arguments {' '.join(arguments)}\n" if arguments else ""
    text += f"status {result[0]}, plain: {expected[0]}\n"
    return (
        text
        + difference("stdout", as_text(expected[1]), as_text(result[1]))
        + difference("stderr", as_text(expected[2]), as_text(result[2]))
    )


def as_text(data):
    return data.decode(errors="replace")


def difference(what, expected, actual):
    """The lines from the first on that differs, a few of them."""
    if expected == actual:
        return ""
    old, new = expected.splitlines(), actual.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    return "".join(
        f"{what}, line {at + 1}, {who}: {line}\n"
        for who, lines in (("plain", old), ("inquest", new))
        for line in lines[at : at + 8]
    )
