#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Patterns and texts for regex."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def atom(rng, depth):
    pick = rng.random()
    if depth > 0 and pick < 0.25:
        return f"({pattern(rng, depth - 1)})"
    if pick < 0.31:
        return "()" if rng.random() < 0.45 else "(a)"
    if pick < 0.45:
        return "[" + rng.choice(["abc", "^a", "a-f", "0-9", "^x-z", "A-Z]", "ab"]) + "]"
    if pick < 0.52:
        return "."
    if pick < 0.56:
        return rng.choice(["\\.", "\\*", "\\\\"])
    return rng.choice("aabbccdxyzAB01 ")


def pattern(rng, depth):
    parts = []
    for _ in range(rng.randrange(1, 4)):
        text = "".join(atom(rng, depth) + rng.choice(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,}"])
                       for _ in range(rng.randrange(1, 4)))
        parts.append(text)
        if rng.random() < 0.7:
            break
    return "|".join(parts)


def generate(seed):
    rng = random.Random(f"regex {seed}")
    lines = []
    for _ in range(rng.randrange(1, 6)):
        text = pattern(rng, 2)
        if rng.random() < 0.1:
            text = "^" + text
        if rng.random() < 0.1:
            text += "$"
        if rng.random() < 0.08:
            cut = rng.randrange(len(text) + 1)
            text = text[:cut] + rng.choice(["(", ")", "[", "*", "{9", "\\"]) + text[cut:]
        lines.append("/" + text[:200])
        for _ in range(rng.randrange(1, 6)):
            lines.append("".join(rng.choice("aaabbbcdxyzAB01 .*") for _ in range(rng.randrange(0, 14))))
    lines = [line for line in lines if line.startswith("/") or line[:1] != "/"]
    args = (["-i"] if rng.random() < 0.3 else []) + (["-o"] if rng.random() < 0.4 else [])
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
