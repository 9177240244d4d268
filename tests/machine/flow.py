# SPDX-License-Identifier: Apache-2.0
"""The flow graph of one function of the machine code."""

import bisect
import re

from machine import CALLED, CALLER_SAVED, Block, register_of, split_operands


class Unreadable(Exception):
    """Where an indirect jump leads cannot be told."""


class Flow:
    def __init__(self, code, low, high):
        self.code, self.low, self.high = code, low, high
        first = bisect.bisect_left(code.instructions, low, key=lambda i: i.address)
        last = bisect.bisect_left(code.instructions, high, key=lambda i: i.address)
        self.body = code.instructions[first:last]
        self.position = {ins.address: i for i, ins in enumerate(self.body)}
        self._tables = None
        self.guessed = False  # is there an indirect jump that may go to more places than it can?
        low, high = code.coverage_range
        self.takes_coverage = any(ins.name.startswith("lea") and low <= (ins.reference or 0) < high for ins in self.body)
        self.successors = [self._successors(i) for i in range(len(self.body))]
        self._resolve_jumps()

    # ---- Edges

    def _inside(self, address):
        return address in self.position

    def _successors(self, i):
        """Positions that control goes on to, within the function. Calls are taken to return."""
        ins = self.body[i]
        after = [i + 1] if i + 1 < len(self.body) else []
        if ins.name.startswith(("ret", "iret", "ud2", "hlt", "int3")):
            return []
        if not ins.name.startswith(("j", "loop", "xbegin")):
            return after
        target = ins.target()
        if ins.name.startswith("jmp"):
            if target is None:
                return []  # until _resolve_jumps()
            return [self.position[target]] if self._inside(target) else []
        return after + ([self.position[target]] if self._inside(target) else [])

    def is_tail_jump(self, i):
        ins = self.body[i]
        if not ins.name.startswith("j") or ins.name == "jrcxz":
            return False
        target = ins.target()
        return (target is not None and not self._inside(target)) or (
            target is None and not self.successors[i])

    def cut(self, ends):
        """Control does not go on behind calls for which `ends` is true."""
        for i, ins in enumerate(self.body):
            if ins.name.startswith("call") and ends(self, ins):
                self.successors[i] = []
        self._find_predecessors()

    # ---- Indirect jumps

    def _resolve_jumps(self):
        """By tables. More edges may let more tables be seen, so again until nothing changes; then what is left goes
        anywhere that any table of the function leads to. No table at all: a call through a pointer, in tail position."""
        jumps = [i for i, ins in enumerate(self.body) if ins.name.startswith("jmp") and ins.target() is None]
        changed = bool(jumps)
        while changed:
            changed = False
            self._find_predecessors()
            for i in jumps:
                targets = sorted(self.position[t] for table in self._tables_of(i) for t in self._read_table(table))
                if targets != self.successors[i]:
                    self.successors[i] = targets
                    changed = True
        for i in jumps:
            if not self.successors[i] and (self._looks_like_table(i) or self._labels()):
                self.successors[i] = sorted({self.position[t] for table in self._all_tables()
                                             for t in self._read_table(table)} | self._labels())
                self.guessed = True
        self._find_predecessors()

    def _labels(self):
        """Positions whose address is in the program's data or is taken in the function: computed gotos."""
        taken = {ins.reference for ins in self.body if ins.name.startswith("lea")}
        return {self.position[t] for t in taken | set(self.code.pointers.values())
                if t in self.position and t != self.low}

    def _looks_like_table(self, i):
        """Is the address that it jumps to loaded by an index?"""
        family = register_of(self.body[i].operands.lstrip("*"))
        if family is None:
            return bool(re.search(r"\(%?\w*,%\w+,8\)", self.body[i].operands))
        return any(self.body[d].name.startswith("add") or
                   re.search(r"\(%?\w*,%\w+,[48]\)", self.body[d].operands) for d in self._definitions(i, family))

    def _tables_of(self, i):
        """Addresses of the tables that the jump's target comes from."""
        operand = self.body[i].operands.lstrip("*")
        family = register_of(operand)
        if family is None:
            return self._tables_in(i, operand)
        return {t for d in self._definitions(i, family) for t in self._tables_loaded(d)}

    def _tables_loaded(self, d):
        """Position d writes the target: `add BASE, OFFSET` or a load of a pointer."""
        operands = split_operands(self.body[d].operands)
        if self.body[d].name.startswith("add") and register_of(operands[0]):
            bases = [register_of(operands[0]), register_of(operands[-1])]
            return {t for base in bases for t in self._addresses(d, base, 0)}
        return self._tables_in(d, operands[0])

    def _tables_in(self, i, operand):
        match = re.match(r"(-?0x[0-9a-f]+)?\((%\w+)?,%\w+,[48]\)$", operand)
        if not match:
            return set()
        if match.group(2) is None:
            return {int(match.group(1), 16)} if match.group(1) else set()
        return {t + int(match.group(1) or "0", 16) for t in self._addresses(i, register_of(match.group(2)), 0)}

    def _addresses(self, i, family, steps=4):
        """Addresses that `lea` may have put into the register before position i, or that it was computed from."""
        found = set()
        for d in self._definitions(i, family):
            ins = self.body[d]
            if ins.name.startswith("lea") and ins.reference:
                found.add(ins.reference)
            elif steps and ins.name.startswith(("lea", "add", "sub", "cmov")):
                for name in set(re.findall(r"%\w+", ins.operands)):
                    if register_of(name):
                        found |= self._addresses(d, register_of(name), steps - 1)
        return found

    def _definitions(self, i, family):
        """Positions that may have written the register last before position i; copies are followed."""
        found, seen, work = set(), set(), [(p, family) for p in self.predecessors[i]]
        while work:
            item = work.pop()
            if item in seen:
                continue
            seen.add(item)
            at, wanted = item
            source = self._value(self.body[at], wanted)
            if source is None or isinstance(source, str):
                work += [(p, source or wanted) for p in self.predecessors[at]]
            else:
                found.add(at)
        return found

    def _all_tables(self):
        if self._tables is None:
            found = {ins.reference for ins in self.body if ins.name.startswith("lea") and ins.reference}
            for ins in self.body:
                match = re.search(r"(0x[0-9a-f]+)\(,%\w+,8\)", ins.operands)
                if match:
                    found.add(int(match.group(1), 16))
            self._tables = sorted(t for t in found if not self._inside(t))
        return self._tables

    def _read_table(self, table):
        """Targets inside the function: offsets of 32 bits from the table, or pointers."""
        return self._read_entries(table, 4, self._offset_entry) | self._read_entries(table, 8, self._pointer_entry)

    def _offset_entry(self, table, at):
        data = self.code.read(at, 4)
        return table + int.from_bytes(data, "little", signed=True) if data else None

    def _pointer_entry(self, _, at):
        data = self.code.read(at, 8)
        return self.code.pointers.get(at, int.from_bytes(data, "little") if data else None)

    def _read_entries(self, table, size, entry):
        """Cases that cannot be are entries that lead to the end of the function."""
        targets, end = set(), self._end_of_table(table)
        for at in range(table, end, size):
            target = entry(table, at)
            if target is None or not (self._inside(target) or target == self.high) or target == self.low:
                break
            if target != self.high:
                targets.add(target)
        return targets

    def _end_of_table(self, table):
        i = bisect.bisect_right(self.code.references, table)
        return self.code.references[i] if i < len(self.code.references) else table + (1 << 16)

    # ---- Values of registers

    def _find_predecessors(self):
        self.predecessors = [[] for _ in self.body]
        for i, successors in enumerate(self.successors):
            for s in successors:
                self.predecessors[s].append(i)

    def always_called(self, i, family):
        """Does the register's low byte hold CALLED before position i, wherever control came from?"""
        seen, work = set(), [(p, family) for p in self.predecessors[i]]
        if not work:
            return False
        while work:
            item = work.pop()
            if item in seen:
                continue
            seen.add(item)
            at, family = item
            ins = self.body[at]
            source = self._value(ins, family)
            if source == CALLED:
                continue
            if source is not None and not isinstance(source, str):
                return False
            before = self.predecessors[at]
            if at == 0:
                return False
            work += [(p, source or family) for p in before]  # none: behind a call that does not return
        return True

    @staticmethod
    def _value(ins, family):
        """What it makes of the register: None for nothing, a family for a copy, a number, or -1."""
        if ins.name.startswith("call"):
            return -1 if family in CALLER_SAVED else None
        if not ins.writes(family):
            return None
        operands = split_operands(ins.operands)
        if ins.name.startswith("mov") and len(operands) == 2:
            if operands[0].startswith("$"):
                return int(operands[0][1:], 16) & 255
            return register_of(operands[0]) or -1
        return -1

    # ---- Events

    def _coverage_event(self, i, ins):
        low, high = self.code.coverage_range
        if ins.reference is None or not low <= ins.reference < high:
            return self._computed_event(i, ins)
        if ins.name.startswith("lea"):
            return None  # for stores by a computed address
        if ins.reference not in self.code.coverage or not self._stores_called(i, ins):
            return ("odd", ins.address, f"{ins.name} {ins.operands}")
        return ("store", ins.address, self.code.coverage[ins.reference])

    def _stores_called(self, i, ins):
        operands = split_operands(ins.operands)
        if ins.name not in ("movb", "mov") or len(operands) != 2:
            return False
        if operands[0].startswith("$"):
            return int(operands[0][1:], 16) & 255 == CALLED
        return bool(register_of(operands[0])) and self.always_called(i, register_of(operands[0]))

    def _computed_event(self, i, ins):
        """A store through registers of which one may hold an address of coverage bytes: LLVM makes one store of two
        that end branches, and computes which byte it is."""
        if not self.takes_coverage or ins.name != "movb" or not ins.operands.endswith(")"):
            return None
        low, high = self.code.coverage_range
        registers = re.findall(r"%\w+", split_operands(ins.operands)[-1])
        bases = {t for r in registers for t in self._addresses(i, register_of(r)) if low <= t < high}
        if not bases:
            return None
        modules = {self.code.module_at(t) for t in bases}
        if len(modules) != 1 or not self._stores_called(i, ins):
            return ("odd", ins.address, f"{ins.name} {ins.operands}")
        return ("computed", ins.address, modules.pop())

    def _event(self, i):
        ins = self.body[i]
        if ins.name.startswith("ret"):
            return ("return", ins.address)
        if ins.name.startswith(("ud2", "hlt", "int3")):
            return ("trap", ins.address)
        if ins.name.startswith("call"):
            return ("call", ins.address, self.callee(ins), "")
        if self.is_tail_jump(i):
            return ("call", ins.address, self.callee(ins), "tail" if ins.name.startswith("jmp") else "maybe")
        if ins.name.startswith("j") and not ins.name.startswith("jmp"):
            return ("jump", ins.address)
        return self._coverage_event(i, ins)

    def callee(self, ins):
        """Names it may go by; None through a pointer."""
        target = ins.target()
        if target is not None:
            return frozenset(self.code.names_of(target)) or frozenset([f"0x{target:x}"])
        if ins.reference in self.code.imports:
            return frozenset([self.code.imports[ins.reference]])
        return None

    def blocks(self):
        """Basic blocks by the position of their first instruction; the first is at 0."""
        starts = {0}
        for i, successors in enumerate(self.successors):
            if successors != [i + 1] or self.body[i].name.startswith("j"):
                starts |= set(successors) | {i + 1}
        blocks, block = {}, None
        for i in range(len(self.body)):
            if i in starts:
                block = blocks[i] = Block(i)
            event = self._event(i)
            if event:
                block.events.append(event)
            block.successors = self.successors[i] if i + 1 in starts or i + 1 == len(self.body) else []
        return blocks
