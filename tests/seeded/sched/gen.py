#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs for sched."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"sched {seed}")
    names, lines = [], []
    crowded = rng.choice([4, 10, 30])
    lax = rng.choice([1, 4])
    for i in range(rng.randrange(3, 24)):
        name = f"j{rng.randrange(40)}" if rng.random() < 0.9 else f"task-{i}"
        words = [name, str(rng.randrange(0, 10 * crowded)), str(rng.randrange(1, 9)),
                 rng.choice(["system", "user", "user", "batch", "batch", "idle" if rng.random() < 0.1 else "user"])]
        if rng.random() < 0.6:
            words.append(str(lax * rng.randrange(4, 60)))
        else:
            words.append("-")
        if names and rng.random() < 0.25:
            words += ["after", rng.choice(names)]
        if rng.random() < 0.02:
            words = words[:3]
        names.append(name)
        lines.append(" ".join(words))
    args = []
    if rng.random() < 0.6:
        args += ["-q", str(rng.randrange(1, 6))]
    if rng.random() < 0.5:
        args += ["-v"]
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
