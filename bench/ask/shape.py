# SPDX-License-Identifier: Apache-2.0
"""The shape of a program: what its model (`inquest dump`, docs/formats/model.md) says of size, calls and loops."""

import statistics

HEADS = ("nodes|functions|nodes each|edges a node|nodes that call|of these by pointer|callees then: mean, most|"
         "biggest recursion, of all functions|by direct calls|call themselves|nodes in loops|depth: mean, most")


def components(count, successors):
    """Tarjan, without recursion: lists of nodes, callees first."""
    number, low, closed, stack, found, met = [0] * count, [0] * count, [False] * count, [], [], 0
    for root in range(count):
        if number[root]:
            continue
        path = [(root, iter(successors[root]))]
        met += 1
        number[root] = low[root] = met
        stack.append(root)
        while path:
            node, rest = path[-1]
            for following in rest:
                if not number[following]:
                    met += 1
                    number[following] = low[following] = met
                    stack.append(following)
                    path.append((following, iter(successors[following])))
                    break
                if not closed[following]:
                    low[node] = min(low[node], number[following])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    found.append([])
                    while not found[-1] or found[-1][-1] != node:
                        found[-1].append(stack.pop())
                        closed[found[-1][-1]] = True
    return found


def loop_depths(successors):
    """By node: how many loops it is in. A loop is a component; its header taken away, loops inside of it are left."""
    depths = [0] * len(successors)
    work = [(list(range(len(successors))), successors)]
    while work:
        nodes, edges = work.pop()
        for part in components(len(nodes), edges):
            if len(part) == 1 and part[0] not in edges[part[0]]:
                continue
            inside = set(part)
            header = min(part)  # blocks are numbered in the order of the source, nearly always
            for n in part:
                depths[nodes[n]] += 1
            kept = [n for n in part if n != header]
            place = {n: i for i, n in enumerate(kept)}
            work.append(([nodes[n] for n in kept],
                         [[place[t] for t in edges[n] if t in inside and t != header] for n in kept]))
    return depths


class Shape:
    """Of the lines of a model's text."""

    def __init__(self, lines):
        self.functions, self.sites, sets = [], [], {0: ()}
        for line in lines:
            words = line.split("#")[0].split() if '"' not in line else self.unquoted(line)
            if not words:
                continue
            if words[0] == "function":
                self.functions.append([])
            elif words[0] == "node":
                at = words.index("->") if "->" in words else len(words)
                self.functions[-1].append([int(t.rstrip("!")) for t in words[at + 1:]])
            elif words[0] == "site":
                flags = words[words.index("flags") + 1].split(",") if "flags" in words else []
                self.sites.append((len(self.functions) - 1, "indirect" in flags,
                                   int(words[words.index("callees") + 1])))
            elif words[0] == "set":
                sets[int(words[1])] = tuple(map(int, words[2:]))
        self.measure(sets)

    @staticmethod
    def unquoted(line):
        """Words without the strings, in which anything may stand."""
        return "".join(line.split("#")[0].split('"')[::2]).split()

    def measure(self, sets):
        self.nodes = sum(map(len, self.functions))
        direct, calls = [set() for _ in self.functions], [set() for _ in self.functions]
        for function, indirect, callees in self.sites:
            calls[function].update(sets[callees])
            if not indirect:
                direct[function].update(sets[callees])
        self.fans = [len(sets[c]) for _, indirect, c in self.sites if indirect]
        self.biggest = max(map(len, components(len(calls), calls)))
        self.biggest_direct = max(map(len, components(len(direct), direct)))
        self.recursive = sum(f in c for f, c in enumerate(calls))
        depths = [d for f in self.functions for d in loop_depths(f)]
        self.in_loops = sum(d > 0 for d in depths) / self.nodes
        self.loop_depth, self.loop_most = sum(depths) / self.nodes, max(depths)
        self.edges = sum(len(e) for f in self.functions for e in f)

    def cells(self):
        """As HEADS names them."""
        functions, fans = len(self.functions), self.fans or [0]
        return [f"{self.nodes}", f"{functions}", f"{self.nodes / functions:.1f}", f"{self.edges / self.nodes:.2f}",
                f"{len(self.sites) / self.nodes:.1%}", f"{len(self.fans) / max(1, len(self.sites)):.1%}",
                f"{statistics.mean(fans):.0f}, {max(fans)}", f"{self.biggest / functions:.1%}",
                f"{self.biggest_direct / functions:.1%}", f"{self.recursive / functions:.1%}", f"{self.in_loops:.1%}",
                f"{self.loop_depth:.2f}, {self.loop_most}"]
