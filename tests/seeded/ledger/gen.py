#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands for ledger."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

NAMES = ["ann", "bob", "cay", "dan", "eve", "savings", "shop", "a-very-long-name-indeed"]


def generate(seed):
    rng = random.Random(f"ledger {seed}")
    there = rng.sample(NAMES[:7], rng.randrange(2, 6))
    lines = [f"open {name} {rng.choice([0, 0, 100, 500])}" for name in there]
    closing, reversing = rng.choice([0.02, 0.06]), rng.choice([0.02, 0.08])
    bookings = 0
    for _ in range(rng.randrange(10, 60)):
        a, b = (rng.choice(there) if rng.random() < 0.96 else rng.choice(NAMES) for _ in range(2))
        amount = rng.choice([0, 5, 20, 50, 100, 250, 1000]) if rng.random() < 0.98 else 200000
        pick = rng.random()
        if pick < closing:
            lines.append(f"close {a}")
        elif pick < closing + reversing:
            lines.append(f"reverse {rng.randrange(bookings + 2)}")
        elif pick < 0.35:
            lines.append(f"deposit {a} {amount}")
            bookings += 1
        elif pick < 0.5:
            lines.append(f"withdraw {a} {amount}")
            bookings += rng.random() < 0.5
        elif pick < 0.68:
            lines.append(f"transfer {a} {b} {amount}")
            bookings += rng.random() < 0.5
        elif pick < 0.76:
            lines.append(f"order {a} {b} {amount}")
        elif pick < 0.84:
            lines.append("month")
        elif pick < 0.95:
            lines.append(f"statement {a}")
        elif pick < 0.97:
            lines.append("audit")
        else:
            lines.append(rng.choice([f"open {a} 50", "bogus", "order ann bob"]))
    args = ["-f", str(rng.choice([0, 1, 3]))] if rng.random() < 0.5 else []
    return args, "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    generator.main(generate)
