#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines for calc: assignments and expressions, a few of them malformed."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

FUNCTIONS = {"abs": (1, 1), "min": (1, 4), "max": (1, 4), "gcd": (1, 4), "lcm": (2, 2),
             "pow": (2, 2), "avg": (1, 4)}


def expression(rng, depth):
    pick = rng.random()
    if depth == 0 or pick < 0.2:
        if rng.random() < 0.5:
            return rng.choice("abcdefgh")
        return str(rng.choice([0, 1, 2, 3, 7, 10, 12, 100, rng.randrange(100000)]))
    if pick < 0.6:
        return f"{expression(rng, depth - 1)} {rng.choice('++--**/%')} {expression(rng, depth - 1)}"
    if pick < 0.7:
        return f"({expression(rng, depth - 1)})"
    if pick < 0.75:
        return f"-{expression(rng, depth - 1)}"
    name = rng.choice(sorted(FUNCTIONS))
    least, most = FUNCTIONS[name]
    words = [expression(rng, depth - 1) for _ in range(rng.randint(least, most))]
    return f"{name}({', '.join(words)})"


def generate(seed):
    rng = random.Random(f"calc {seed}")
    lines = []
    for name in "abcdefgh":
        if rng.random() < 0.8:
            lines.append(f"{name} = {rng.choice([0, rng.randrange(1, 50), rng.randrange(1, 5000)])}")
    for _ in range(rng.randrange(4, 16)):
        text = expression(rng, rng.randrange(1, 4))
        if rng.random() < 0.4:
            text = f"{rng.choice('abcdefgh')} = {text}"
        if rng.random() < 0.08:
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + rng.choice(["$", ")", "(", "sin(1)", "", "1 2"]) + text[cut + 1:]
        lines.append(text)
    return (["-x"] if rng.random() < 0.3 else []), "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
