#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for pool."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"pool {seed}")
    ids = rng.randrange(4, 20)
    large = rng.choice([40, 100, 300])
    growing = rng.choice([0.05, 0.15, 0.28])
    lines = []
    for _ in range(rng.randrange(10, 100)):
        number = rng.randrange(ids)
        pick = rng.random()
        if pick < 0.4:
            lines.append(f"new {number} {rng.randrange(large)}")
        elif pick < 0.55:
            lines.append(f"free {number}")
        elif pick < 0.55 + growing:
            lines.append(f"grow {number} {rng.randrange(2 * large)}")
        elif pick < 0.85:
            lines.append(f"fill {number} {rng.choice('abcxyz')}")
        elif pick < 0.95:
            lines.append(f"show {number}")
        else:
            lines.append(rng.choice(["map", "map", "free 99", "shrink 1 1"]))
    args = ["-f"] if rng.random() < 0.4 else []
    if rng.random() < 0.6:
        args += ["-s", str(rng.choice([256, 512, 700, 2048, 4096]))]
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
