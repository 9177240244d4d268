#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A generated program as a model's text, and the evidence of one run of it.

    bench/ask/generate.py NODES OUT [--seed N] [--deep FRAMES] [--calls TRUE,FALSE]

Writes OUT.model and OUT.json and prints a line of facts. Its shape is that of sqlite3 at -O2 (`SHAPE`; bench/ask/run prints both):
functions of any size made of branches and loops, a quarter of the nodes are calls, a fiftieth of these go through a pointer
to any function of a kind whose address is taken, which makes two thirds of the program one recursion.

The run is a real one: a walk with a stack, which returns to where it was called from. It goes no deeper than SHAPE["depth"], and
stops when the wanted number of different calls has been made. Then it recurses to the wanted depth, if any."""

import argparse
import heapq
import itertools
import json
import math
import random

SHAPE = {
    "median": 9, "mean": 20.4,        # nodes of a function: log-normal
    "branch": 0.33, "loop": 0.07,      # of the statements
    "calls": 0.26,                    # of the nodes
    "indirect": 0.024,                # of the calls
    # Through a pointer: (share of all functions, share of the calls). Each kind holds the ones before it.
    "kinds": ((0.079, 0.29), (0.144, 0.27), (0.204, 0.20), (0.227, 0.13), (0.252, 0.11)),
    "back": 0.024,                    # of the direct calls go to an earlier function, or to itself
    "depth": 24,                      # frames, at most
    "made": 0.06,                     # of the calls that the walk makes before it stops
}


class Program:
    def __init__(self, nodes, chance):
        self.chance = chance
        deviation = math.sqrt(2 * math.log(SHAPE["mean"] / SHAPE["median"]))
        sizes = []
        while sum(sizes) < nodes:
            sizes.append(max(1, min(2600, round(chance.lognormvariate(math.log(SHAPE["median"]), deviation)))))
        sizes[0] = 60
        self.count = len(sizes)
        self.kinds = self.pointers()
        self.functions = [self.function(f, size) for f, size in enumerate(sizes)]

    def pointers(self):
        order = self.chance.sample(range(1, self.count), self.count - 1)
        return [tuple(sorted(order[:max(2, round(share * self.count))])) for share, _ in SHAPE["kinds"]]

    # ---- One function: [(successors, callees or None)]

    def function(self, f, size):
        self.edges, self.optional = [[] for _ in range(size)], [True] * size
        ends = self.statements(0, size, [], False)
        for n in ends:
            self.edges[n].append(1 if f == 0 else None)  # main goes on for ever
        nodes = []
        for n, edges in enumerate(self.edges):
            callees = None
            if self.chance.random() < SHAPE["calls"] and None not in edges and f + 1 < self.count:
                callees = self.callees(f, self.optional[n])
            nodes.append((sorted({t for t in edges if t is not None}), None in edges, callees))
        return nodes

    def join(self, sources, target):
        for n in sources:
            self.edges[n].append(target)

    def statements(self, first, last, before, nested):
        """Nodes first to last - 1; `before` lead there. The nodes that lead behind."""
        n = first
        while n < last:
            self.join(before, n)
            self.optional[n] = nested
            kind, left = self.chance.random(), last - n - 1
            if left >= 2 and kind < SHAPE["loop"] * 2:
                size = self.chance.randrange(1, min(left, 60))
                ends = self.statements(n + 1, n + 1 + size, [n], True)
                self.join(ends, n)
                before, n = [n], n + 1 + size
            elif left >= 2 and kind < SHAPE["loop"] * 2 + SHAPE["branch"] * 2:
                size = self.chance.randrange(1, min(left, 12))
                half = self.chance.randrange(0, size)
                before = self.statements(n + 1, n + 1 + size - half, [n], not half or nested)
                before = before + (self.statements(n + 1 + size - half, n + 1 + size, [n], nested) if half else [n])
                n += 1 + size
            else:
                before, n = [n], n + 1
        return before

    def callees(self, f, optional):
        if self.chance.random() < (SHAPE["indirect"] if f else 0.5):  # main leads to all there is
            return self.chance.choices(self.kinds, [w for _, w in SHAPE["kinds"]])[0]
        if optional and self.chance.random() < SHAPE["back"]:  # or it would never end
            return (max(1, self.chance.choice((f, f - self.chance.randrange(20)))),)
        # its neighbours, or what everybody uses: the later, the more
        if self.chance.random() < 0.5:
            return (min(self.count - 1, f + 1 + int(self.chance.expovariate(1 / 15))),)
        return (f + 1 + int((self.count - f - 1) * self.chance.random() ** 0.4),)

    def write(self, path):
        sets = {}
        with open(path, "w") as out:
            out.write('inquest-model 1\nfile 0 "/" "a.c"\nimage 0 executable "a"\n'
                      'module 0 image 0 id 00000000000000ff level calls flags 0 source "a.c"\n')
            line = 0
            for f, nodes in enumerate(self.functions):
                out.write(f'function {f} module 0 "f{f}" debug "f{f}" source "f{f}" at 0:{line + 1} '
                          f'linked unknown level calls record 0\n')
                for n, (following, returns, callees) in enumerate(nodes):
                    line += 1
                    flags = "block" + (",call" if callees else "") + (",return" if returns else "")
                    out.write(f"  node {n} at 0:{line}:1 flags {flags}"
                              + (" -> " + " ".join(map(str, following)) if following else "") + "\n")
                    if callees:
                        name, more = (f'"f{callees[0]}"', "") if len(callees) == 1 else ("*", " flags indirect")
                        number = sets.setdefault(callees, len(sets) + 1)
                        out.write(f"    site {name}{more} callees {number} callbacks 0\n")
            for members, number in sets.items():
                out.write(f"set {number} {' '.join(map(str, members))}\n")
            out.write("root 0 main\n")


class Heights:
    """By node: how much deeper the stack has to become until the function has returned. None: it cannot."""

    def __init__(self, functions):
        self.functions = functions
        self.node = [[None] * len(nodes) for nodes in functions]
        before = [[[] for _ in nodes] for nodes in functions]
        callers = {}
        for f, nodes in enumerate(functions):
            for n, (following, _, callees) in enumerate(nodes):
                for t in following:
                    before[f][t].append(n)
                if callees:
                    callers.setdefault(callees, []).append((f, n))
        by_function = {}
        for callees in callers:
            for g in callees:
                by_function.setdefault(g, []).append(callees)
        self.of_set, self.behind = {}, {}
        work = [(0, f, n) for f, nodes in enumerate(functions) for n, (_, returns, _) in enumerate(nodes) if returns]
        heapq.heapify(work)  # from the lowest up, so that what is found stays
        while work:
            height, f, n = heapq.heappop(work)
            if self.node[f][n] is not None:
                continue
            callees = functions[f][n][2]
            if callees and (callees not in self.of_set or self.of_set[callees] > height):
                self.behind.setdefault((f, n), height)  # the way on is known, the call is not
                if callees in self.of_set:
                    heapq.heappush(work, (self.of_set[callees], f, n))
                continue
            self.node[f][n] = height
            for b in before[f][n]:
                heapq.heappush(work, (height, f, b))
            if n == 0:
                for callees in by_function.get(f, ()):
                    if callees not in self.of_set:
                        self.of_set[callees] = height + 1
                        for caller in callers[callees]:
                            if caller in self.behind:
                                heapq.heappush(work, (max(height + 1, self.behind[caller]), *caller))

    def allowed(self, f, following, room):
        return [t for t in following if self.node[f][t] is not None and self.node[f][t] <= room]

    def callees(self, callees, room):
        return [g for g in callees if self.node[g][0] is not None and self.node[g][0] < room]


class Walk:
    def __init__(self, program):
        self.program, self.chance = program, program.chance
        self.heights = Heights(program.functions)
        self.stack, self.function, self.node, self.called = [], 0, 0, {}
        self.main_is_endless()

    def main_is_endless(self):
        """Main has no end, so that its nodes have no height: it may go where its calls can be completed."""
        nodes, heights = self.program.functions[0], self.heights
        for n, (_, _, callees) in enumerate(nodes):
            heights.node[0][n] = heights.of_set.get(callees, 1 << 30) if callees else 0

    def enter(self, g):
        self.called.setdefault((self.function, self.node))
        self.stack.append((self.function, self.node))
        self.function, self.node = g, 0

    def step(self, depth):
        """One node on, or into a call."""
        following, returns, callees = self.program.functions[self.function][self.node]
        room = depth - len(self.stack)
        if callees:
            return self.enter(self.chance.choice(self.heights.callees(callees, room)))
        return self.leave(following, returns, depth)

    def leave(self, following, returns, depth):
        while True:
            ways = self.heights.allowed(self.function, following, depth - len(self.stack))
            if ways and not (returns and self.chance.random() < 0.5):
                self.node = self.chance.choice(ways)
                return
            self.function, self.node = self.stack.pop()
            following, returns, _ = self.program.functions[self.function][self.node]

    def make_calls(self, count, steps):
        for _ in range(steps):
            if len(self.called) >= count:
                break
            self.step(SHAPE["depth"])

    def recurse(self, frames):
        """Down a cycle of calls until the stack is so deep."""
        cycle = self.cycle()
        while cycle and len(self.stack) < frames:
            for g, node in cycle:
                if self.node != node:
                    self.go_to(node)
                self.enter(g)
        return bool(cycle)

    def ways(self):
        """{callee: call} of what can be called from here on, without returning."""
        functions, found, seen, work = self.program.functions, {}, {self.node}, [self.node]
        while work:
            n = work.pop()
            following, _, callees = functions[self.function][n]
            for g in self.heights.callees(callees, 1 << 29) if callees else ():
                found.setdefault(g, n)
            for t in following if not callees or callees in self.heights.of_set else ():
                if t not in seen:
                    seen.add(t)
                    work.append(t)
        return found

    def cycle(self):
        """The shortest cycle of calls through this function, or through one that it leads to; enters that one."""
        here = (self.function, self.node)
        for _ in range(50):
            before, work = {}, [self.function]
            for f in work:
                self.function, self.node = f, 0 if f != here[0] or before else here[1]
                for g, n in self.ways().items():
                    if g not in before:
                        before[g] = (f, n)
                        work.append(g)
                if here[0] in before:
                    break
            if here[0] in before:
                path, g = [], here[0]
                while not path or g != here[0]:
                    f, n = before[g]
                    path.append((g, n))
                    g = f
                self.function, self.node = here
                return path[::-1]
            self.function, self.node = here
            for _ in range(100):
                self.step(SHAPE["depth"])
            here = (self.function, self.node)
        return None

    def go_to(self, node):
        """Within the activation, calls on the way completed."""
        functions, function, before, work = self.program.functions, self.function, {self.node: None}, [self.node]
        for n in work:
            following, _, callees = functions[function][n]
            for t in following if not callees or callees in self.heights.of_set else ():
                if t not in before:
                    before[t] = n
                    work.append(t)
        path = [node]
        while before[path[-1]] is not None:
            path.append(before[path[-1]])
        for at in path[:0:-1]:
            self.complete(at)
        self.node = node

    def complete(self, node):
        """The call at `node`, if there is one, by the shallowest way."""
        function, height = self.function, len(self.stack)
        self.node = node
        callees = self.program.functions[function][node][2]
        if not callees or (function, node) in self.called:
            return
        depth = height + self.heights.of_set[callees]
        self.step(depth)
        while len(self.stack) > height:
            self.step_inside(depth, height)
        self.function, self.node = function, node

    def step_inside(self, depth, height):
        """Like step, but ends when the stack is back where it was."""
        following, returns, callees = self.program.functions[self.function][self.node]
        if callees:
            return self.enter(self.chance.choice(self.heights.callees(callees, depth - len(self.stack))))
        while len(self.stack) > height:
            ways = self.heights.allowed(self.function, following, depth - len(self.stack))
            if ways and not (returns and self.chance.random() < 0.5):
                self.node = self.chance.choice(ways)
                return
            self.function, self.node = self.stack.pop()
            following, returns, _ = self.program.functions[self.function][self.node]

    def write(self, path, false):
        """`false`: how many of the calls that were not made are told as such; None: all."""
        sites = [(f, n) for f, nodes in enumerate(self.program.functions) for n, (_, _, c) in enumerate(nodes) if c]
        quiet = [s for s in sites if s not in self.called]
        told = set(quiet if false is None else self.chance.sample(quiet, min(false, len(quiet))))
        truths = "".join("y" if s in self.called else "n" if s in told else "?" for s in sites)
        runs = "".join(k + (str(n) if n > 1 else "") for k, n in
                       ((k, len(list(g))) for k, g in itertools.groupby(truths)))
        frames = [(self.function, self.node, True)] + [(f, n, False) for f, n in reversed(self.stack)]
        with open(path, "w") as out:
            out.write('{"schema":"evidence/1","kind":"hand","threads":[{"tid":1,"crashed":true,"whole":true,"frames":['
                      + ",".join(f'{{"kind":"model","module":"0xff","index":{f},"function":"f{f}","candidates":[{n}]'
                                 + (',"interrupted":true' if inner else "") + "}" for f, n, inner in frames)
                      + f']}}],"coverage":[{{"module":"0xff","sites":"{runs}"}}]}}')
        return {"frames": len(frames), "true": truths.count("y"), "false": truths.count("n")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deep", type=int, help="recurse until there are so many frames")
    parser.add_argument("--calls", help="TRUE,FALSE: observations of calls")
    arguments = parser.parse_args()
    program = Program(arguments.nodes, random.Random(arguments.seed))
    program.write(arguments.out + ".model")
    calls = sum(bool(c) for nodes in program.functions for _, _, c in nodes)
    true, false = map(int, arguments.calls.split(",")) if arguments.calls else (round(SHAPE["made"] * calls), None)
    walk = Walk(program)
    walk.make_calls(true, 40 * arguments.nodes)
    if arguments.deep and not walk.recurse(arguments.deep):
        raise SystemExit("no recursion was found")
    facts = {"nodes": sum(map(len, program.functions)), **walk.write(arguments.out + ".json", false)}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
