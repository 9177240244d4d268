# SPDX-License-Identifier: Apache-2.0
"""What is built: generated programs, csmith's, the seeded ones, the examples.

A subject has `files` (name to text), how to build them (`layout`, `flags`, `libraries`, `separate`), and `runs`, pairs of arguments
and standard input. `frames` is about how many frames of the program's are on the stack at the same time, at most."""

import os
import subprocess
import sys
import tempfile

from random_c.draw import Draw
from random_c.program import Program

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..", "seeded"), os.path.join(HERE, "..", "truth")]

import programs  # noqa: E402  (of tests/truth: the examples and their inputs)
import seeded  # noqa: E402

KINDS = [(80, "generated"), (13, "csmith"), (5, "seeded"), (2, "examples")]


class Unusable(Exception):
    """The message says why this one tells nothing."""


class Subject:
    def __init__(self, kind, name, files, **fields):
        self.kind, self.name, self.files = kind, name, files
        self.layout, self.flags, self.libraries, self.separate = "one", [], [], False
        self.runs, self.frames, self.groups, self.program = [([], b"")], 8, [], None
        for key, value in fields.items():
            setattr(self, key, value)

    def sources(self):
        return [name for name in self.files if name.endswith(".c")]

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for name, text in self.files.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)


def generated(seed, dropped=()):
    program = Program(seed, dropped)
    return Subject(
        "generated",
        seed,
        program.files,
        layout=program.layout,
        flags=program.flags(),
        libraries=program.libraries(),
        separate=program.separate,
        frames=program.frames(),
        groups=program.groups(),
        program=program,
    )


def csmith(seed):
    draw = Draw(f"{seed}:csmith")
    number = draw.below(1 << 31)
    command = [
        "csmith",
        "--seed",
        str(number),
        "--concise",
        "--max-funcs",
        str(draw.between(1, 5)),
        "--max-block-depth",
        str(draw.between(2, 4)),
        "--max-expr-complexity",
        str(draw.between(3, 8)),
        *draw.of([], ["--packed-struct"], ["--inline-function"], ["--builtins"]),
    ]
    try:
        with tempfile.TemporaryDirectory() as folder:  # it leaves a file behind
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=folder)
    except subprocess.TimeoutExpired:
        raise Unusable("csmith takes too long")
    except FileNotFoundError:
        raise Unusable("csmith is not installed")
    if done.returncode != 0:
        raise Unusable(f"csmith ends with {done.returncode}")
    return Subject("csmith", " ".join(command), {"main.c": done.stdout}, flags=["-w", "-I/usr/include/csmith"])


def seeded_program(seed):
    """With its bugs repaired, so that what it does is defined."""
    draw = Draw(f"{seed}:seeded")
    program = seeded.Program(draw.of(*seeded.names()))
    inputs = [draw.below(100_000) for _ in range(4)]
    return Subject(
        "seeded",
        f"{program.name} {' '.join(map(str, inputs))}",
        program.sources("fixed"),
        flags=["-std=gnu17"],
        libraries=program.truth.get("libraries", []),
        separate=draw.chance(50),
        runs=[program.generate(i) for i in inputs],
        layout="units" if len(program.files) > 1 else "one",
        frames=2000,
    )


def example(seed):
    draw = Draw(f"{seed}:example")
    program = draw.of(*programs.examples())
    files = {}
    for name in program.sources:
        with open(os.path.join(program.folder, name)) as file:
            files[name] = file.read()
    return Subject(
        "examples",
        program.name,
        files,
        flags=list(program.cflags),
        libraries=list(program.ldflags),
        runs=[*program.runs, *program.crashes],
        frames=2000,
    )


MAKERS = {"generated": generated, "csmith": csmith, "seeded": seeded_program, "examples": example}


def draw_subject(seed, kinds=None):
    draw = Draw(f"{seed}:subject")
    kind = draw.weighted((weight, kind) for weight, kind in KINDS if not kinds or kind in kinds)
    return MAKERS[kind](seed)
