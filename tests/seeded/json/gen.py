#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents for json, one a line, some of them cut."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

KEYS = ["id", "name", "type", "items", "color", "a", "b", "price", "owner", "description", "address",
        "é", "x y", "quote\"d", "created_at", "last_modified_by", "is_published", "number_of_items_in_stock",
        "parent", "email", "phone", "quantity_on_hand", "tags", "", "line\nbreak", "geo", "lat", "lon"]
WEIGHTS = [1 if len(key.encode()) == 16 else 12 for key in KEYS]


def value(rng, depth):
    pick = rng.random()
    if depth > 0 and pick < 0.35:
        return {rng.choices(KEYS, WEIGHTS)[0]: value(rng, depth - 1) for _ in range(rng.randrange(0, 5))}
    if depth > 0 and pick < 0.5:
        return [value(rng, depth - 1) for _ in range(rng.randrange(0, 4))]
    if pick < 0.7:
        return rng.choice(["red", "a longer string of text", "", "tab\there", "ü", "\"", "last_modified_by"])
    if pick < 0.9:
        return rng.choice([0, 1, -5, 3.25, 1e6, rng.randrange(1000)])
    return rng.choice([None, True, False])


def generate(seed):
    rng = random.Random(f"json {seed}")
    args = rng.sample(["-p", "-s", "-k"], rng.randrange(1, 4))
    for _ in range(rng.randrange(0, 3)):
        args += ["-g", ".".join(rng.choice(KEYS[:12] + ["0", "1"]) for _ in range(rng.randrange(1, 3)))]
    lines = []
    for _ in range(rng.randrange(1, 6)):
        document = {rng.choices(KEYS, WEIGHTS)[0]: value(rng, 3) for _ in range(rng.randrange(1, 6))}
        text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.1:
            cut = rng.randrange(len(text))
            text = text[:cut] + rng.choice(["", "\\x", "}", "tru"]) + text[cut + 1:]
        lines.append(text)
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
