#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for btree: growing, shrinking, mixed."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"btree {seed}")
    span = rng.choice([20, 60, 150, 400])
    shrink = rng.choice([0.05, 0.12, 0.2, 0.35])
    lines = []
    for _ in range(rng.randrange(10, 90)):
        key = rng.randrange(span)
        pick = rng.random()
        if pick < shrink:
            lines.append(f"del {key}")
        elif pick < 0.8:
            lines.append(f"add {key} {rng.randrange(1000)}")
        elif pick < 0.92:
            lines.append(f"get {key}")
        elif pick < 0.96:
            lines.append(f"range {key} {key + rng.randrange(40)}")
        else:
            lines.append(rng.choice(["count", "show", "bogus", "count", "add 3"]))
    args = ["-c", str(rng.choice([1, 5, 20]))] if rng.random() < 0.4 else []
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
