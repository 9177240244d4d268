#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two texts for diff: the second is the first with changes."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def line(rng):
    return rng.choice(["{", "}", "", "    return 0;", "    i++;", "int x;", "// note", "end "]) if rng.random() < 0.5 \
        else f"line {rng.randrange(60)}" + rng.choice(["", "", " "])


def generate(seed):
    rng = random.Random(f"diff {seed}")
    old = [line(rng) for _ in range(rng.choice([rng.randrange(0, 8), rng.randrange(5, 60)]))]
    new = list(old)
    for _ in range(rng.randrange(0, 7)):
        at = rng.randrange(len(new) + 1)
        pick = rng.random()
        count = rng.randrange(1, 4)
        if pick < 0.35:
            new[at:at] = [line(rng) for _ in range(count)]
        elif pick < 0.6:
            del new[at:at + count]
        elif pick < 0.9:
            new[at:at + count] = [line(rng) for _ in range(count)]
        else:
            new[at:at + count], moved = [], new[at:at + count]
            to = rng.randrange(len(new) + 1)
            new[to:to] = moved
    args = []
    if rng.random() < 0.6:
        args += ["-c", str(rng.choice([0, 1, 1, 2, 2, 4, 5]))]
    if rng.random() < 0.2:
        args += ["-q"]
    if rng.random() < 0.3:
        args += ["-w"]
    return args, "".join(f"{text}\n" for text in old + ["===="] + new)


if __name__ == "__main__":
    generator.main(generate)
