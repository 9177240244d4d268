#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cells and commands for sheet. Formulas mostly speak of cells that are there."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"sheet {seed}")
    columns, rows = rng.randrange(2, 7), rng.randrange(3, 12)
    loose = rng.choice([0, 0, 0.02, 0.15])
    known, lines = [], []

    def cell():
        return f"{chr(65 + rng.randrange(columns))}{1 + rng.randrange(rows)}"

    def reference():
        if known and rng.random() >= loose:
            return known[-1] if rng.random() < 0.4 else rng.choice(known)
        return cell()

    def formula(depth):
        pick = rng.random()
        if depth == 0 or pick < 0.4:
            return reference() if rng.random() < 0.6 else str(rng.randrange(100))
        if pick < 0.5 and loose > 0.1:
            column, row = rng.randrange(columns), rng.randrange(1, rows)
            return f"{rng.choice(['sum', 'max', 'min', 'count', 'avg'])}" \
                   f"({chr(65 + column)}{row}:{chr(65 + column)}{row + rng.randrange(1, 3)})"
        if pick < 0.6:
            return f"({formula(depth - 1)})"
        return f"{formula(depth - 1)}{rng.choice('+-*/')}{formula(depth - 1)}"

    for _ in range(rng.randrange(8, 45)):
        pick = rng.random()
        if pick < 0.7:
            name = cell()
            plain = rng.random() < 0.35
            text = str(rng.randrange(-50, 500)) if plain else "=" + formula(2)
            if rng.random() < 0.01:
                text = "=1+"
            lines.append(f"{name} = {text}")
            if name not in known:
                known.append(name)
        elif pick < 0.78:
            lines.append("calc")
        elif pick < 0.92:
            lines.append(f"show {reference()}")
        elif pick < 0.96:
            lines.append(f"clear {reference()}")
        else:
            lines.append(rng.choice(["dump", "dump", "Z9 = 4"]))
    lines.append("dump")
    args = ["-d", str(rng.choice([2, 3, 4, 6, 10]))] if rng.random() < 0.6 else []
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
