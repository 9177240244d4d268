#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for route."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

NAMES = ["ath", "ber", "cph", "dub", "edi", "fra", "gva", "hel", "ist", "jnb", "kyv", "lis", "mad", "nce", "osl",
         "par", "rom", "sof", "tll", "vie"]


def generate(seed):
    rng = random.Random(f"route {seed}")
    names = NAMES[:rng.randrange(3, len(NAMES) + 1)]
    asked = rng.choice([0, 0.05, 0.15])
    lines = []
    for _ in range(rng.randrange(3, 18)):
        lines.append(f"road {rng.choice(names)} {rng.choice(names)} {rng.randrange(1, 900)}")
    for _ in range(rng.randrange(3, 22)):
        a, b = rng.choice(names), rng.choice(names)
        pick = rng.random()
        if pick < asked:
            lines.append(f"unreached {a}")
        elif pick < 0.45:
            lines.append(f"path {a} {b}")
        elif pick < 0.6:
            lines.append(f"far {a}")
        elif pick < 0.78:
            lines.append(f"road {a} {b} {rng.randrange(0, 900)}")
        elif pick < 0.84:
            lines.append(f"close {a} {b}")
        elif pick < 0.88:
            lines.append(f"merge {a} {b}")
        elif pick < 0.92:
            lines.append(f"town {a}")
        else:
            lines.append(rng.choice(["towns", "towns", f"fly {a} {b}", "path", f"path {a}"]))
    return (["-o"] if rng.random() < 0.4 else []), "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
