#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for matrix. Most products are of square matrices."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"matrix {seed}")
    side = rng.randrange(2, 5)
    odd = 0.2 if rng.random() < 0.6 else 0.5
    lines, names = [], "ABCDEFG"

    def define(name):
        rows = columns = side
        if rng.random() < odd:
            rows, columns = rng.randrange(1, 7), rng.choice([side, side, rng.randrange(1, 7)])
        numbers = " ".join(str(rng.randrange(-9, 30)) for _ in range(rows * columns))
        lines.append(f"{name} = {rows} {columns} {numbers}")

    for name in names[:rng.randrange(4, 8)]:
        define(name)
    for _ in range(rng.randrange(4, 22)):
        a, b, c = (rng.choice(names) for _ in range(3))
        pick = rng.random()
        if pick < 0.15:
            define(a)
        elif pick < 0.65:
            lines.append(f"{a} = {b} " + rng.choice([f"+ {c}", f"- {c}", f"* {c}", f"* {c}", f"* {c}", "'", "'", f"^ {rng.randrange(6)}",
                                                     f"+ {b}", "", "? X"]))
        else:
            lines.append(f"{rng.choice(['print', 'print', 'trace', 'det', 'sum', 'drop'])} {a}")
    args = ["-m", str(rng.choice([7, 97, 10007]))] if rng.random() < 0.4 else []
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
