#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs for vm. The height of the stack is followed, so most of them run without a fault."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator


class Writer:
    def __init__(self, rng):
        self.rng, self.lines, self.labels = rng, [], 0

    def emit(self, text):
        self.lines.append("    " + text)

    def label(self):
        self.labels += 1
        return f"l{self.labels}"

    # Leaves the stack one higher.
    def value(self, functions, arguments, depth):
        rng, pick = self.rng, self.rng.random()
        if depth == 0 or pick < 0.3:
            kind = rng.random()
            if arguments and kind < 0.5:
                self.emit(f"arg {rng.randrange(arguments)}")
            elif kind < 0.7:
                self.emit(f"load {rng.randrange(16)}")
            else:
                self.emit(f"push {rng.choice([0, 1, 2, 3, 10, rng.randrange(-50, 1000)])}")
        elif pick < 0.6:
            self.value(functions, arguments, depth - 1)
            self.value(functions, arguments, depth - 1)
            self.emit(rng.choice(["add", "add", "sub", "mul", "lt", "eq", "div" if rng.random() < 0.2 else "sub"]))
        elif pick < 0.7:
            self.value(functions, arguments, depth - 1)
            self.emit(rng.choice(["not", "neg"]))
        elif pick < 0.8 and functions:
            name, count = rng.choice(functions)
            for _ in range(count):
                self.value(functions, arguments, depth - 1)
            self.emit(f"call {name}")
        elif pick < 0.9:
            self.value(functions, arguments, depth - 1)
            self.value(functions, arguments, depth - 1)
            self.emit(rng.choice(["swap", "over", "over"]))
            if self.lines[-1].endswith("over"):
                self.emit("add")
            self.emit(rng.choice(["sub", "add"]))
        elif pick < 0.94 and depth > 1:
            for _ in range(3):
                self.value(functions, arguments, depth - 2)
            self.emit("rot")
            self.emit("sub")
            self.emit("add")
        else:
            self.value(functions, arguments, depth - 1)
            self.emit("dup")
            self.emit("mul")

    def statement(self, functions, arguments):
        rng, pick = self.rng, self.rng.random()
        self.value(functions, arguments, 2)
        if pick < 0.35:
            self.emit("print")
        elif pick < 0.6:
            self.emit(f"store {rng.randrange(16)}")
        elif pick < 0.7:
            self.emit("pop")
        elif pick < 0.88:
            end = self.label()
            self.emit(f"jz {end}")
            self.value(functions, arguments, 2)
            self.emit("print")
            self.lines.append(f"{end}:")
        else:
            start, cell = self.label(), rng.randrange(16)
            self.emit("pop")
            self.emit(f"push {rng.randrange(1, 5)}")
            self.emit(f"store {cell}")
            self.lines.append(f"{start}:")
            self.value(functions, arguments, 1)
            self.emit("print")
            for word in (f"load {cell}", "push 1", "sub", "dup", f"store {cell}", "push 1", "lt", f"jz {start}"):
                self.emit(word)


def generate(seed):
    rng = random.Random(f"vm {seed}")
    writer, functions = Writer(rng), []
    for i in range(rng.randrange(0, 4)):
        arguments = rng.randrange(0, 3)
        writer.lines.append(f"func f{i} {arguments}")
        for _ in range(rng.randrange(0, 2)):
            writer.statement(functions, arguments)
        writer.value(functions, arguments, 2)
        writer.emit("ret")
        functions.append((f"f{i}", arguments))
    writer.lines.append("func main 0")
    for _ in range(rng.randrange(1, 6)):
        writer.statement(functions, 0)
    writer.value(functions, 0, 2)
    writer.emit("ret")
    if rng.random() < 0.06:
        at = rng.randrange(len(writer.lines))
        writer.lines[at] = rng.choice(["    pop", "    bogus", "    jump nowhere", "    arg 9"])
    args = (["-t"] if rng.random() < 0.4 else []) + (["-l", "300"] if rng.random() < 0.2 else [])
    return args, "".join(f"{line}\n" for line in writer.lines)


if __name__ == "__main__":
    generator.main(generate)
