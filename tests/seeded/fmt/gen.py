#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text and requests for fmt."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

WIDTHS = [18, 22, 24, 30, 32, 36, 40, 45, 50, 56, 60, 64, 66, 70, 72, 75, 78, 79, 80, 100]


def word(rng):
    if rng.random() < 0.01:
        return "x" * rng.randrange(20, 150)
    return rng.choice("etaoinshrdlu") * rng.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 9, 12])


def generate(seed):
    rng = random.Random(f"fmt {seed}")
    lines = []
    for _ in range(rng.randrange(3, 14)):
        pick = rng.random()
        if pick < 0.45:
            lines.append(rng.choice([".fill", ".fill", ".nofill", ".left", ".left", ".left", ".justify", ".center",
                                     f".indent {rng.randrange(10)}", f".width {rng.choice(WIDTHS)}", ".bullet",
                                     ".bullet", ".break", f".title {word(rng)} {word(rng)}", ".bogus"]))
        for _ in range(rng.randrange(1, 5)):
            lines.append(" ".join(word(rng) for _ in range(rng.randrange(1, 16))))
        if rng.random() < 0.5:
            lines.append("")
    args = []
    if rng.random() < 0.8:
        args += ["-w", str(rng.choice(WIDTHS))]
    if rng.random() < 0.35:
        args += ["-j"]
    if rng.random() < 0.3:
        args += ["-n"]
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
