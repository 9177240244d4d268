# SPDX-License-Identifier: Apache-2.0
"""Damage to machine code that a checker of stores must notice, as a wrong compiler would do it.

    behind    a store moved to behind its call
    gone      a store taken away
    other     a store of another call's byte
    uncalled  a call taken away, its store left
    early     a store moved to before the branch that decides whether it is made"""

import library
from walk import Walker

STORE = b"\xc6\x05"  # movb $0xd6, RELATIVE(%rip): 2 bytes, 4 of the offset, 1 of the value
STORE_LENGTH = 7
NOPS = {5: b"\x0f\x1f\x44\x00\x00", 7: b"\x0f\x1f\x80\x00\x00\x00\x00"}
KINDS = ("behind", "gone", "other", "uncalled", "early")


def relative(data, at, change):
    """The 32-bit offset at `at`, changed."""
    return (int.from_bytes(data[at:at + 4], "little", signed=True) + change).to_bytes(4, "little", signed=True)


class Mutant:
    """`patches`: (address, bytes). `moved`: {address of an instruction now: where it was}, for the line table."""

    def __init__(self, kind, site, patches, moved):
        self.kind, self.site, self.patches, self.moved = kind, site, patches, moved


class Mutator:
    def __init__(self, checker):
        self.checker, self.code = checker, checker.code

    def mutants(self):
        for name, flow in self.checker.flows.values():
            if ".inquest.plain" in name or not self.checker.model_of(name):
                continue
            entered = {s for i, successors in enumerate(flow.successors) for s in successors
                       if s != i + 1 or flow.body[i].name.startswith("j")}
            for i, ins in enumerate(flow.body):
                if self._is_store(ins):
                    yield from self._of_store(flow, i, entered)

    def _is_store(self, ins):
        return ins.reference in self.code.coverage and self.code.read(ins.address, 2) == STORE

    def _of_store(self, flow, i, entered):
        ins = flow.body[i]
        site = self.checker.site(self.code.coverage[ins.reference])
        function, n = self.checker.model.sites[site]
        node = self.checker.model.functions[function].nodes[n]
        if "loose" in node.site_flags or (node.callee and library.is_simplified(node.callee)):
            return  # what becomes of the call is up to the compiler
        data = self.code.read(ins.address, STORE_LENGTH)
        for step in (1, -1):
            other = self.code.coverage.get(ins.reference + step)
            if other and other[0] == self.code.coverage[ins.reference][0]:
                yield Mutant("other", site, [(ins.address, STORE + relative(data, 2, step) + data[6:])], {})
                break
        yield from self._early(flow, i, entered, site, data)
        call = self._call_behind(flow, i, entered)
        if call is None or Walker(self.checker.facts, ()).matches(node, flow.callee(flow.body[call])) != 1:
            return
        yield Mutant("gone", site, [(ins.address, NOPS[STORE_LENGTH])], {})
        target = flow.body[call]
        if self.code.read(target.address, 1) == b"\xe8":
            yield Mutant("uncalled", site, [(target.address, NOPS[5])], {})
            yield from self._behind(flow, i, call, site, data)

    def _call_behind(self, flow, i, entered):
        """The call that follows in the same straight line."""
        for j in range(i + 1, len(flow.body)):
            ins = flow.body[j]
            if j in entered or ins.name.startswith(("j", "ret", "ud2")) or self._is_store(ins):
                return None
            if ins.name.startswith("call"):
                return j
        return None

    def _behind(self, flow, i, call, site, data):
        first, target = flow.body[i].address, flow.body[call].address
        if any("(%rip)" in ins.operands for ins in flow.body[i + 1:call]):
            return
        between = self.code.read(first + STORE_LENGTH, target - first - STORE_LENGTH)
        called = self.code.read(target, 5)
        text = (between + called[:1] + relative(called, 1, STORE_LENGTH)
                + STORE + relative(data, 2, first - (target + 5 - STORE_LENGTH)) + data[6:])
        yield Mutant("behind", site, [(first, text)], {target + 5 - STORE_LENGTH: first})

    def _early(self, flow, i, entered, site, data):
        jump = flow.body[i - 1] if i else None
        if not jump or i in entered and len(flow.predecessors[i]) > 1:
            return
        if not jump.name.startswith("j") or jump.name.startswith("jmp") or flow.predecessors[i] != [i - 1]:
            return
        length = flow.body[i].address - jump.address
        old = self.code.read(jump.address, length)
        if length == 6:
            moved = old[:2] + relative(old, 2, -STORE_LENGTH)
        elif length == 2 and -128 <= int.from_bytes(old[1:], "little", signed=True) - STORE_LENGTH < 128:
            moved = old[:1] + (int.from_bytes(old[1:], "little", signed=True) - STORE_LENGTH).to_bytes(
                1, "little", signed=True)
        else:
            return
        text = STORE + relative(data, 2, length) + data[6:] + moved
        yield Mutant("early", site, [(jump.address, text)],
                     {jump.address: flow.body[i].address, jump.address + STORE_LENGTH: jump.address})

    def write(self, mutant, path):
        data = bytearray(self.code.binary.data)
        for address, text in mutant.patches:
            row = self.code.binary.sections[".text"]
            at = row[4] + address - row[3]
            data[at:at + len(text)] = text
        with open(path, "wb") as file:
            file.write(data)
