#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for strtab. Some have names that are not ASCII, in one of two codings."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

NAMES = ["i", "n", "count", "buffer", "x", "y", "main", "_init", "_x", "length", "next", "node", "Table", "tmp", "s2"]
FOREIGN = ["größe", "état", "ñu", "åre", "über", "_öl", "ça", "été", "æon", "ø", "éa", "ægir", "ä2", "île", "ðin"]
TYPES = ["int", "char", "long", "node", "buffer", "float"]


def generate(seed):
    rng = random.Random(f"strtab {seed}")
    foreign = rng.choice([0, 0, 0.06, 0.2])
    lines = []

    def name():
        if rng.random() < foreign:
            return rng.choice(FOREIGN)
        return rng.choice(NAMES) + (str(rng.randrange(10)) if rng.random() < 0.3 else "")

    for _ in range(rng.randrange(15, 100)):
        pick = rng.random()
        if pick < 0.35:
            lines.append(f"define {name()} {rng.choice(TYPES)}")
        elif pick < 0.6:
            lines.append(f"use {name()}")
        elif pick < 0.7:
            lines.append("push")
        elif pick < 0.78:
            lines.append("pop")
        elif pick < 0.85:
            lines.append(f"rename {name()} {name()}")
        elif pick < 0.9:
            lines.append(f"prefix {name()[:2]}")
        elif pick < 0.96:
            lines.append(rng.choice(["dump", "letters"]))
        else:
            lines.append(rng.choice(["use", "define x", "undefine x y", ""]))
    coding = rng.choice(["latin-1", "utf-8"])
    return (["-u"] if rng.random() < 0.4 else []), "".join(f"{line}\n" for line in lines).encode(coding)


if __name__ == "__main__":
    generator.main(generate)
