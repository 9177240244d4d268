# SPDX-License-Identifier: Apache-2.0
"""Checks the stores of coverage bytes in an executable's machine code against its model."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
from binary import plain_name  # noqa: E402
from flow import Flow  # noqa: E402
import library  # noqa: E402
from machine import Code  # noqa: E402
from model import Model  # noqa: E402
from rows import Rows  # noqa: E402
from inlined import read_inlined  # noqa: E402
from walk import Facts, TooDeep, Walker  # noqa: E402

PLAIN = ".inquest.plain"
MOST_STATES = 400000


class Totals:
    fields = ("functions", "stores", "computed", "calls", "loose", "made", "jumps", "moved", "plain", "skipped", "unreached")

    def __init__(self):
        for field in self.fields:
            setattr(self, field, 0)

    def add(self, other):
        for field in self.fields:
            setattr(self, field, getattr(self, field) + getattr(other, field))

    def __str__(self):
        return " ".join(f"{field} {getattr(self, field)}" for field in self.fields)


class Violation:
    def __init__(self, function, address, text, before):
        self.function, self.address, self.text, self.before = function, address, text, before

    def __str__(self):
        return f"{self.function} at 0x{self.address:x}: {self.text} (last event: {self.before})"


def open_checker(inquest, path):
    model = Model(inquest, path)
    return Checker(model, Rows(model, path), path)


class Checker:
    def __init__(self, model, rows, path):
        self.model, self.rows, self.code = model, rows, Code(path)
        self.facts, self.inlined = Facts(model), read_inlined(path)
        self.modules = {ident: number for number, (ident, _, _) in enumerate(self.model.modules)}
        self.totals = Totals()
        self.violations, self.notes = [], []
        self._check_layout()
        self.flows = {}
        for low, high, name, _ in self.code.binary.functions:
            if low not in self.flows and low in self.code.index:
                self.flows[low] = (name, Flow(self.code, low, high))
        self.ending = self._find_ending()
        for _, flow in self.flows.values():
            flow.cut(lambda flow, ins: self._never_returns(flow, ins, self.ending))

    def _check_layout(self):
        """Both sides must number sites alike, or all that follows would be nonsense."""
        counts = {}
        for ident, _ in self.code.coverage.values():
            counts[ident] = counts.get(ident, 0) + 1
        for ident, count in counts.items():
            if ident not in self.modules or self.model.site_count(self.modules[ident]) != count:
                raise ValueError(f"module {ident:x}: {count} coverage bytes, and the model has other sites")

    def _check_words(self):
        """Without paths no frame word is there to be stored."""
        levels = {level for _, level, _ in self.model.modules}
        if levels <= {"none", "calls"} and b"__inquest_path" in self.code.binary.section(".debug_str"):
            self.violate("the program", 0, "has frame words, and no module records paths", "none")

    # ---- Which functions never return

    def _returns(self, flow, ending):
        seen, work = set(), [0]
        while work:
            i = work.pop()
            if i in seen:
                continue
            seen.add(i)
            ins = flow.body[i]
            if ins.name.startswith("ret"):
                return True
            if flow.is_tail_jump(i) and ins.target() not in ending:
                return True
            if ins.name.startswith("call") and self._never_returns(flow, ins, ending):
                continue
            work += flow.successors[i]
        return False

    def _never_returns(self, flow, ins, ending):
        names = flow.callee(ins)
        return ins.target() in ending or bool(names and names & self.facts.ends)

    def _find_ending(self):
        ending, changed = set(), True
        while changed:
            changed = False
            for low, (_, flow) in self.flows.items():
                if low not in ending and flow.body and not self._returns(flow, ending):
                    ending.add(low)
                    changed = True
        return ending

    # ---- Functions

    def run(self):
        self._check_words()
        for _, (name, flow) in sorted(self.flows.items()):
            source, plain, _ = name.partition(PLAIN)
            functions = self.model_of(source)
            if functions and plain:
                self._check_plain(name, set(functions), flow)
            elif functions:
                self.check_function(name, functions, flow)
        return self.violations

    def _check_plain(self, name, functions, flow):
        """A plain copy stores nothing of its own; what has no copy may have been inlined into it."""
        for block in flow.blocks().values():
            for event in block.events:
                if event[0] == "odd":
                    self.violate(name, event[1], "a plain copy accesses coverage bytes", "none")
                elif event[0] == "store":
                    self.totals.plain += 1
                    if self.model.sites[self.site(event[2])][0] in functions:
                        self.violate(name, event[1], "a plain copy records a call of its own", "none")

    def model_of(self, name):
        found = self.model.by_name.get(name) or self.model.by_name.get(plain_name(name)) or ()
        return [f for f in found if self.model.functions[f].level != "none" and self.model.functions[f].nodes]

    def check_function(self, name, functions, flow):
        before = len(self.violations)
        try:
            seen = FunctionCheck(self, name, flow).run(functions)
        except TooDeep:
            self._skip(name, "calls nest too deep")
            return
        if flow.guessed and len(self.violations) > before:
            del self.violations[before:]
            self._skip(name, "where an indirect jump leads is not known")
            return
        self.totals.functions += 1
        if len(self.violations) == before:
            self._count_unreached(name, flow, seen)

    def _skip(self, name, why):
        self.totals.skipped += 1
        self.notes.append(f"{name}: skipped: {why}")

    def _count_unreached(self, name, flow, seen):
        missing = [e for block in flow.blocks().values() for e in block.events
                   if e[0] in ("store", "computed", "odd") and e[1] not in seen]
        if missing:
            self.totals.unreached += len(missing)
            self.notes.append(f"{name}: {len(missing)} stores are not reached, the first at 0x{missing[0][1]:x}")

    def violate(self, name, address, text, before):
        if not any(v.address == address and v.text == text for v in self.violations):
            self.violations.append(Violation(name, address, text, before))

    def site(self, byte):
        ident, number = byte
        return (self.modules[ident], number)


class FunctionCheck:
    """One function: all pairs of a block and the places that control can have in the source when it gets there."""

    def __init__(self, checker, name, flow):
        self.checker, self.name, self.flow = checker, name, flow
        self.totals = checker.totals
        self.blocks = flow.blocks()
        self.seen_events = {}  # address: "store", "call", "loose", "made", "jumps", "moved"

    def run(self, functions):
        # with itself: recursion may have become a loop
        inlined = self.checker.inlined.get(self.flow.low, set()) | {self.checker.model.functions[f].name for f in functions}
        self.walker = Walker(self.checker.facts, inlined)
        seen, work = set(), [(0, self.walker.start(functions), "entry")]
        while work:
            first, places, before = work.pop()
            if (first, places) in seen:
                continue
            seen.add((first, places))
            if len(seen) > MOST_STATES:
                raise TooDeep
            block = self.blocks[first]
            for event in block.events:
                places, before = self._event(event, places, before)
                if not places:
                    break
            if places and not block.successors:
                self._run_out(block, places, before)
            if places:
                work += [(s, places, before) for s in block.successors]
        for kind in self.seen_events.values():
            field = {"store": "stores", "call": "calls"}.get(kind, kind)
            setattr(self.totals, field, getattr(self.totals, field) + 1)
        return self.seen_events

    def _run_out(self, block, places, before):
        """Code that ends is what undefined behaviour leaves behind, in whatever node it is. Between a store and a call
        that was not inlined there is none."""
        reach = self.walker.reach(places)
        if not reach.ends and not reach.nodes:
            self._fail((None, self.flow.body[block.first].address), f"runs out of the function; announced: {self._describe(places)}", before)

    def _event(self, event, places, before):
        handler = getattr(self, "_on_" + event[0])
        return handler(event, places, before)

    def _fail(self, event, text, before):
        self.checker.violate(self.name, event[1], text, before)
        return frozenset(), before

    def _describe(self, places):
        pending = {self.checker.model.functions[f].nodes[n].site for _, f, n, p in places if p}
        return "; ".join(self.checker.model.describe(s) for s in sorted(pending)) or "none"

    def _on_store(self, event, places, before):
        site = self.checker.site(event[2])
        self.seen_events[event[1]] = "store"
        text = self.checker.model.describe(site)
        after = self.walker.store(places, site)
        if not after:
            return self._fail(event, f"stores the byte of {text}, where control cannot be", before)
        function, n = self.checker.model.sites[site]
        named = {m for f, m in self.checker.rows.nodes_at(event[1]) if f == function}
        if named and n not in named:
            return self._fail(event, f"stores the byte of {text}, and its row is that of node {named.pop()}", before)
        return after, f"store 0x{event[1]:x} of {text}"

    def _on_computed(self, event, places, before):
        if event[1] not in self.seen_events:
            self.checker.notes.append(f"{self.name} at 0x{event[1]:x}: which byte is stored is computed")
        self.seen_events[event[1]] = "computed"
        after = self.walker.store_any(places, self.checker.modules[event[2]])
        if not after:
            return self._fail(event, "stores a byte where control can come to no call", before)
        return after, f"store 0x{event[1]:x} of a byte that is computed"

    def _on_odd(self, event, places, before):
        return self._fail(event, f"accesses coverage bytes: {event[2]}", before)

    def _on_call(self, event, places, before):
        _, address, names, how = event
        after, made = self.walker.call(places, names)
        text = ", ".join(sorted(names)) if names is not None else "a pointer"
        if not after:
            return self._fail(event, f"calls {text} without the store of any call of it", before)
        free = not made or all("loose" in node.site_flags for node in made)
        kind = "call" if made and not free else "loose" if made or (names & self.checker.facts.loose) else "made"
        if self.seen_events.get(address) != "call":
            self.seen_events[address] = kind
        ends = not how and not self.flow.successors[self.flow.position[address]] or (
            made and all("noreturn" in node.site_flags for node in made)) or self.walker.is_over(after)
        if how:
            reach = self.walker.reach(after)
            if not (ends or reach.returns or reach.ends):
                return self._fail(event, f"leaves for {text} with calls to be made", before)
            return (places, before) if how == "maybe" else (frozenset(), before)
        return (frozenset() if ends else after), f"call 0x{address:x} of {text}"

    def _on_return(self, event, places, before):
        reach = self.walker.reach(places)
        if not (reach.returns or reach.ends):
            return self._fail(event, f"returns where control cannot; announced: {self._describe(places)}", before)
        return frozenset(), before

    def _on_trap(self, event, places, before):
        return frozenset(), before

    def _on_jump(self, event, places, before):
        """A branch that decides whether a call is made must not come behind the store that announces the call. Branches
        are known by their rows, which may be wrong in other ways: so nothing else is concluded from them."""
        branches = self._branches_at(event[1])
        if not branches:
            return places, before
        if branches & self.walker.reach(places).nodes:
            self.seen_events[event[1]] = "jumps"
            return places, before
        for site in {self.checker.model.functions[f].nodes[n].site for _, f, n, pending in places if pending}:
            for function, n in branches:
                if self._decides(function, n, site):
                    text = self.checker.model.describe(site)
                    return self._fail(event, f"decides at node {n} whether to announce {text}, already done", before)
        self.seen_events.setdefault(event[1], "moved")
        return places, before

    def _branches_at(self, address):
        """Nodes that a jump may end: its row and that of the instruction it goes by agree. Where LLVM makes one of two
        jumps that end branches, the row is that of one of them."""
        i = self.flow.position[address] - 1
        while i >= 0 and self.flow.body[i].name.startswith(("mov", "lea", "nop", "push", "pop", "set", "cmov")):
            i -= 1
        nodes_at = self.checker.rows.nodes_at
        return nodes_at(address) & nodes_at(self.flow.body[i].address) if i >= 0 else set()

    def _decides(self, function, n, site):
        """Do some ways from the branch come to the call's announcement next, and others not?"""
        reach = self.walker.reach(frozenset([((), function, n, False)]))
        return (site in reach.announced and self.checker.model.sites[site][0] == function
                and (len(reach.announced) > 1 or reach.returns))
