#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A configuration and commands on it. References mostly name sections that are there."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

SECTIONS = ["core", "user", "net", "ui", "paths", "build", "Core", "extra"]
KEYS = ["name", "path", "port", "host", "color", "Name", "level", "mode"]


def value(rng, present):
    parts = []
    for _ in range(rng.randrange(1, 4)):
        pick = rng.random()
        if pick < 0.45:
            parts.append(rng.choice(["on", "off", "8080", "/usr/lib", "red", "$", "x{y}"]))
        elif pick < 0.6:
            parts.append("${" + rng.choice(KEYS) + "}")
        else:
            known = rng.random() < 0.8 and present
            parts.append("${" + rng.choice(present if known else SECTIONS) + ":" + rng.choice(KEYS) + "}")
    return "".join(parts)


def generate(seed):
    rng = random.Random(f"ini {seed}")
    lines, present = [], rng.sample(SECTIONS, rng.randrange(3, 7))
    for section in present:
        lines.append(f"[{section}]" if rng.random() < 0.97 else f"[{section}")
        for _ in range(rng.randrange(0, 6)):
            pick = rng.random()
            if pick < 0.1:
                lines.append("; a comment")
            elif pick < 0.14:
                lines.append("not a pair")
            else:
                lines.append(f"{rng.choice(KEYS)} = {value(rng, present)}")
    lines.append("%%")
    for _ in range(rng.randrange(5, 25)):
        section = rng.choice(present) if rng.random() < 0.9 else rng.choice(SECTIONS)
        key = rng.choice(KEYS)
        lines.append(rng.choice([
            f"get {section} {key}", f"get {section} {key}", f"expand {section} {key}",
            f"set {section} {key} {value(rng, present)}", f"delete {section} {key}", f"expand {section} {key}",
            f"copy {section} {rng.choice(SECTIONS)}", "dump",
            f"delete {section}" if rng.random() < 0.3 else f"list {section}",
            "bogus" if rng.random() < 0.2 else f"expand {section} {key}"]))
    return (["-i"] if rng.random() < 0.4 else []), "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
