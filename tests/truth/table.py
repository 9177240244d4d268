# SPDX-License-Identifier: Apache-2.0
"""Functions, nodes and loops of the modules of one executable, from the tables that the pass
truth-table writes."""


class Function:
    def __init__(self, module, index, name, linkage, source_name):
        self.module, self.index, self.name, self.linkage = module, index, name, linkage
        self.source_name = source_name
        self.callees, self.flags, self.successors = [], [], []
        self.sites = []  # node of each call site
        self._bodies, self._dominated_by = {}, None

    def add_node(self, fields):
        if fields[0] == "call":
            self.sites.append(len(self.callees))
        self.callees.append(fields[1] if fields[0] == "call" else None)
        self.flags.append(fields[2])
        self.successors.append([int(f) for f in fields[3:]])

    @property
    def node_count(self):
        return len(self.callees)

    def twice(self):
        """Nodes at which a call that returns twice goes on."""
        return {n + 1 for n in self.sites if "t" in self.flags[n]}

    def body(self, header):
        """The loop of a header: what it reaches and is reached from without any node that control had to
        pass before it."""
        if header not in self._bodies:
            self._bodies[header] = self._find_body(header)
        return self._bodies[header]

    def _find_body(self, header):
        outer = self._dominators()[header] - {header}
        before = [[] for _ in self.successors]
        for n, targets in enumerate(self.successors):
            for s in targets:
                before[s].append(n)
        return self._reach(header, self.successors, outer) & self._reach(header, before, outer)

    def _dominators(self):
        """By node: the nodes that every way to it passes, itself among them."""
        if self._dominated_by is None:
            reached = self._reach(0, self.successors, set())
            above = {n: set(reached) for n in reached}
            above[0] = {0}
            changed = True
            while changed:
                changed = False
                for n in sorted(reached):
                    for s in self.successors[n]:
                        smaller = above[s] & (above[n] | {s})
                        if s and len(smaller) < len(above[s]):
                            above[s], changed = smaller, True
            self._dominated_by = above
        return self._dominated_by

    @staticmethod
    def _reach(start, edges, blocked):
        seen, work = set(), [start]
        while work:
            n = work.pop()
            if n in seen or n in blocked:
                continue
            seen.add(n)
            work.extend(edges[n])
        return seen


class Table:
    """modules[k] is the k-th module in link order: (id, [Function])."""

    def __init__(self):
        self.modules, self.by_id = [], {}

    def add(self, ident, text):
        functions = []
        for line in text.splitlines():
            fields = line.split("\t")
            if fields[0] == "function":
                name = fields[2].lstrip("\x01")
                functions.append(Function(ident, int(fields[1]), name, fields[3], fields[4]))
            else:
                functions[-1].add_node(fields[2:])
        self.by_id.setdefault(ident, len(self.modules))
        self.modules.append((ident, functions))

    def function(self, number):
        """By its number in the log."""
        return self.modules[number >> 16][1][number & 0xFFFF]

    def lookup(self, ident, index):
        k = self.by_id.get(ident)
        if k is None or index >= len(self.modules[k][1]):
            return None
        return self.modules[k][1][index]

    def sites(self, ident):
        """All call sites of a module in order: (function, node)."""
        functions = self.modules[self.by_id[ident]][1]
        return [(f, n) for f in functions for n in f.sites]
