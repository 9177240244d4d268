#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for lru."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


def generate(seed):
    rng = random.Random(f"lru {seed}")
    keys = [f"{group}{i}" for group in ("user:", "page:", "img:", "s:") for i in range(rng.randrange(2, 8))]
    lines = []
    for _ in range(rng.randrange(20, 120)):
        key = rng.choice(keys)
        pick = rng.random()
        if pick < 0.38:
            lines.append(f"put {key} {rng.choice('abcxyz') * rng.choice([rng.randrange(1, 50), rng.randrange(30, 40)])}")
        elif pick < 0.82:
            lines.append(f"get {key}")
        elif pick < 0.9:
            lines.append(f"drop {key}")
        elif pick < 0.91:
            lines.append(f"limit {rng.randrange(0, 20)}")
        elif pick < 0.955:
            lines.append(f"prefix {rng.choice(['user:', 'page:', 'img:', 's:', 'x', key])}")
        elif pick < 0.97:
            lines.append("list")
        elif pick < 0.99:
            lines.append("stat")
        else:
            lines.append(rng.choice(["flush all", "put", "get"]))
    return ([str(rng.randrange(1, 16))] if rng.random() < 0.7 else []), "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
