# SPDX-License-Identifier: Apache-2.0
"""Makes a difference smaller: fewer fragments of a generated program, fewer flags, a simpler level."""

import os

import judging
import subjects
import variants


class Case:
    def __init__(self, subject, flags, level):
        self.subject, self.flags, self.level = subject, flags, level


def still_differs(case, folder, tools, outcome):
    try:
        reference = judging.Reference(case.subject, folder, tools, case.flags)
    except subjects.Unusable:
        return None
    verdict = judging.judge(reference, case.level)
    return verdict if verdict.outcome == outcome else None


def smaller_cases(case):
    """One step each, the promising ones first."""
    program = case.subject.program
    if program:
        numbers = [f.number for f in program.live()]
        for half in (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]):
            if len(numbers) > 3:
                yield Case(subjects.generated(program.seed, program.dropped | set(half)), case.flags, case.level)
        for number in numbers:
            yield Case(subjects.generated(program.seed, program.dropped | {number}), case.flags, case.level)
    for i in range(len(case.flags)):
        yield Case(case.subject, case.flags[:i] + case.flags[i + 1 :], case.level)
    for level in simpler_levels(case.level):
        yield Case(case.subject, case.flags, level)


def simpler_levels(level):
    if level.partial:
        yield variants.Level(level.name, level.flags, level.tune, level.strip)
    if level.strip:
        yield variants.Level(level.name, level.flags, level.tune, run=level.run, partial=level.partial)
    if level.run:
        yield variants.Level(level.name, level.flags)
    if level.tune:
        yield variants.Level(level.name, level.flags)
    if not level.tune and level.name != "suspects":
        for flags in (["-finquest=calls", "-fno-inquest-tunable"], ["-finquest=paths", "-fno-inquest-tunable"]):
            if level.flags == flags:
                break
            yield variants.Level(level.name, flags)


def reduce(case, folder, tools, verdict, most=40):
    """The smallest case found with the same outcome, and its verdict."""
    tried, found = 0, True
    while found and tried < most:
        found = False
        for smaller in smaller_cases(case):
            tried += 1
            again = still_differs(smaller, os.path.join(folder, "reduce"), tools, verdict.outcome)
            if again:
                case, verdict, found = smaller, again, True
                break
            if tried >= most:
                break
    return case, verdict
