# SPDX-License-Identifier: Apache-2.0
"""Where control can stand in the source, given the stores and calls that machine code has made.

A *place* is (frames, function, node, pending): a node of the model, and the calls that were inlined around it.
`pending` says that the byte of the node's call has been stored and the call not been made yet. Source control goes on
silently from node to node, into callees that may have been inlined, and out of them; it waits at a call until its byte
is stored, and at a pending one until it is called. So the stores and calls of a run of the machine code are the
letters of a word, and the model is the automaton that must accept it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
from binary import plain_name  # noqa: E402
import library  # noqa: E402

MOST_FRAMES = 40


class TooDeep(Exception):
    """Inlined calls nest without bound: not followed."""


class Reach:
    """What control can come to without a store or a call."""

    def __init__(self):
        self.announced = {}  # site: places whose byte is to be stored next
        self.pending = []    # places whose call is to be made
        self.nodes = set()   # (function, node) passed
        self.returns = self.ends = False


class Facts:
    """Of functions of the model, whoever walks it."""

    def __init__(self, model):
        self.model = model
        self._quiet, self._silent = {}, {}
        self.ends = library.ENDS | {node.callee for f in model.functions for node in f.nodes
                                    if {"noreturn", "external"} <= node.site_flags and node.callee}
        self.loose = {node.callee for f in model.functions for node in f.nodes if "loose" in node.site_flags}

    def is_quiet(self, function, n):
        """Does control return from behind the call, and can it do so only without another call?"""
        key = (function, n)
        if key not in self._quiet:
            nodes = self.model.functions[function].nodes
            seen = self._behind(nodes, nodes[n].successors)
            self._quiet[key] = (any("return" in nodes[m].flags for m in seen)
                                and not any(nodes[m].is_call for m in seen))
        return self._quiet[key]

    @staticmethod
    def _behind(nodes, work, past_calls=True):
        seen, work = set(), list(work)
        while work:
            m = work.pop()
            if m not in seen:
                seen.add(m)
                work += nodes[m].successors if past_calls or not nodes[m].is_call else ()
        return seen

    def is_silent(self, function):
        """Can it return without a call, so that nothing of it need be left once it is inlined?"""
        if function not in self._silent:
            nodes = self.model.functions[function].nodes
            optimized = self.model.modules[self.model.functions[function].module][2]
            self._silent[function] = optimized and any(
                "return" in nodes[m].flags for m in self._behind(nodes, [0], past_calls=False))
        return self._silent[function]


class Walker:
    """Of one function of the machine code; `inlined` are names of what was inlined into it."""

    def __init__(self, facts, inlined):
        self.facts, self.model, self.inlined = facts, facts.model, inlined
        self._reach = {}

    def start(self, functions):
        return frozenset(((), f, 0, False) for f in functions)

    def _after(self, frames, function, n):
        return [(frames, function, s, False) for s in self.model.functions[function].nodes[n].successors]

    def _inlined(self, place):
        frames, function, n, _ = place
        node = self.model.functions[function].nodes[n]
        inner = frames if self.facts.is_quiet(function, n) else (*frames, (function, n))
        callees = [callee for callee in node.callees if self._may_inline(callee)]
        if callees and len(inner) > MOST_FRAMES:
            raise TooDeep
        return [(inner, callee, 0, False) for callee in callees]

    def _may_inline(self, callee):
        function = self.model.functions[callee]
        return bool(function.nodes) and (
            function.name in self.inlined or function.source in self.inlined or self.facts.is_silent(callee))

    def _may_fold(self, node):
        """May the call be none in machine code, though its callee was not inlined?"""
        if "loose" in node.site_flags:
            return True
        return node.callee is not None and "external" in node.site_flags and library.is_simplified(node.callee)

    def _step(self, place, reach):
        frames, function, n, pending = place
        node = self.model.functions[function].nodes[n]
        if not pending:
            reach.nodes.add((function, n))
        if pending:
            reach.pending.append(place)
            more = self._inlined(place)
            return more + self._after(frames, function, n) if self._may_fold(node) else more
        if node.is_call:
            if self.model.functions[function].level == "none":
                return [(frames, function, n, True)]
            reach.announced.setdefault(node.site, []).append(place)
            return []
        if "unreachable" in node.flags or not (node.successors or "return" in node.flags):
            reach.ends = True
            return []
        if "return" in node.flags and not node.successors:
            if not frames:
                reach.returns = True
                return []
            return self._after(frames[:-1], *frames[-1])
        return self._after(frames, function, n)

    def reach(self, places):
        if places not in self._reach:
            reach, seen, work = Reach(), set(), list(places)
            while work:
                place = work.pop()
                if place not in seen:
                    seen.add(place)
                    work += self._step(place, reach)
            self._reach[places] = reach
        return self._reach[places]

    def is_over(self, places):
        """Is what comes unreachable, as the source has it? Then no code was made for it."""
        reach = self.reach(places)
        return reach.ends and not (reach.announced or reach.pending or reach.returns)

    def store(self, places, site):
        """Places after this byte was stored; none: control cannot be there."""
        return frozenset((f, fn, n, True) for f, fn, n, _ in self.reach(places).announced.get(site, ()))

    def store_any(self, places, module):
        """The same for a byte of the module that is not known."""
        announced = self.reach(places).announced
        return frozenset((f, fn, n, True) for site in announced if site[0] == module for f, fn, n, _ in announced[site])

    def matches(self, node, names):
        """1: this is its call. 2: a call that may stand for it, and perhaps not alone."""
        if names is None:
            return 1 if node.callee is None else 0
        if node.callee is None:
            return 1
        plain = {plain_name(name) for name in names} | names
        if node.callee in plain or any(self.model.functions[f].name in plain for f in node.callees):
            return 1
        if "external" in node.site_flags and library.is_simplified(node.callee):
            return 2 if any(library.is_simplified(name) for name in names) else 0
        return 0

    def call(self, places, names):
        """(places after a call, calls that were pending and may be this one)."""
        after, made = set(), []
        for place in self.reach(places).pending:
            frames, function, n, _ = place
            node = self.model.functions[function].nodes[n]
            match = self.matches(node, names)
            if match:
                made.append(node)
                after.update(self._after(frames, function, n))
            if match == 2:
                after.add(place)
        if names and any(library.is_free(name) or name in self.facts.loose for name in names):
            after |= places
        return frozenset(after), made
