#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data for lz: text, repetition, now and then noise."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

WORDS = "the quick brown fox jumps over a lazy dog and then sleeps all day near some river bank".split()


def generate(seed):
    rng = random.Random(f"lz {seed}")
    parts = []
    for _ in range(rng.randrange(1, 9)):
        pick = rng.random()
        if pick < 0.4:
            parts.append(" ".join(rng.choice(WORDS) for _ in range(rng.randrange(2, 60))).encode())
        elif pick < 0.6:
            parts.append(bytes([rng.randrange(256)]) * rng.randrange(1, 400))
        elif pick < 0.8:
            unit = rng.randbytes(rng.randrange(2, 20))
            parts.append(unit * rng.randrange(1, 30))
        elif parts and pick < 0.9:
            parts.append(rng.choice(parts))
        else:
            parts.append(rng.randbytes(rng.randrange(4, 170)))
    args = []
    if rng.random() < 0.5:
        args += ["-b", str(rng.choice([16, 64, 100, 256, 1000, 4096]))]
    if rng.random() < 0.5:
        args += ["-e"]
    if rng.random() < 0.3:
        args += ["-v"]
    return args, b"".join(parts)


if __name__ == "__main__":
    generator.main(generate)
