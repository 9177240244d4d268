#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table, mostly regular; some rows are shorter or longer than the first."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

NAMES = ["id", "name", "city", "age", "price", "count", "email", "zip", "note", "date", "state", "flag",
         "team", "score"]


def cell(rng, column):
    if column in ("id", "age", "count", "zip", "score"):
        return str(rng.randrange(1000)) if rng.random() < 0.95 else "n/a"
    if column == "price":
        return f"{rng.randrange(10000) / 100:.2f}"
    text = rng.choice(["", "Ann", "Bob", "Oslo", "Rome, Italy", "a \"b\"", "yes", "no", "2020-01-02", "x" * 20])
    if "," in text or "\"" in text:
        return "\"" + text.replace("\"", "\"\"") + "\""
    return text


def generate(seed):
    rng = random.Random(f"csv {seed}")
    names = rng.sample(NAMES, min(rng.choice([2, 3, 4, 5, 6, 8, 10, 11, 12, 12, 14]), len(NAMES)))
    lines = [",".join(names)]
    for _ in range(rng.randrange(1, 30)):
        row = [cell(rng, name) for name in names]
        if rng.random() < 0.06:
            row = row[:rng.randrange(1, len(row) + 1)] if rng.random() < 0.5 else row + ["extra"]
        lines.append(",".join(row))
        if rng.random() < 0.1:
            lines.append(lines[-1])
        if rng.random() < 0.03:
            lines.append("")
    args = []
    if rng.random() < 0.6:
        args += ["-s", rng.choice(names)]
    if rng.random() < 0.3:
        args += ["-r"]
    if rng.random() < 0.3:
        args += ["-f", f"{rng.choice(names)}={rng.choice(['1', 'o', 'A', '5', ''])}"]
    if rng.random() < 0.5:
        args += ["-t"]
    if rng.random() < 0.3:
        args += ["-u"]
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
