# SPDX-License-Identifier: Apache-2.0
"""Machine code as llvm-objdump reads it: for each function its instructions in basic blocks, with what
matters here: stores of coverage bytes, calls, returns. x86-64."""

import bisect
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
from binary import Binary  # noqa: E402

CALLED = 0xD6
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\s*(\S.*?)\s*(?:# (.*))?$")
_COMMENT = re.compile(r"0x([0-9a-f]+)")
_TARGET = re.compile(r"^0x([0-9a-f]+)(?: <([^>]*)>)?$")
_ABSOLUTE = re.compile(r", (?:%[cdefgs]s:)?(0x[0-9a-f]+)$")
_LEGACY = {"a": "ax", "b": "bx", "c": "cx", "d": "dx"}
# Instructions that change registers they do not name.
_IMPLICIT = {name: frozenset(families.split()) for name, families in (
    ("mul", "ax dx"), ("imul", "ax dx"), ("div", "ax dx"), ("idiv", "ax dx"), ("cqto", "dx"), ("cltd", "dx"),
    ("cltq", "ax"), ("cwtl", "ax"), ("cpuid", "ax bx cx dx"), ("rdtsc", "ax dx"), ("cmpxchg", "ax"), ("stos", "di cx"),
    ("lods", "ax si"), ("scas", "di cx"), ("syscall", "ax cx r11"), ("lahf", "ax"), ("xgetbv", "ax dx"))}
CALLER_SAVED = frozenset("ax cx dx si di r8 r9 r10 r11".split())


def register_of(operand):
    """The family of a register: `ax` of %al, %eax, %rax; None if it is no general register."""
    if not operand.startswith("%"):
        return None
    name = operand[1:]
    match = re.match(r"(r\d+)[bwd]?$", name)
    if match:
        return match.group(1)
    if name[-1] in "lh" and name[0] in _LEGACY and len(name) == 2:
        return _LEGACY[name[0]]
    name = name[:-1] if name.endswith("l") and len(name) == 3 else name
    name = name[1:] if name[0] in "re" and len(name) == 3 else name
    return name if name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp") else None


def split_operands(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text else []


class Instruction:
    __slots__ = ("address", "name", "operands", "reference")

    def __init__(self, address, text, comment):
        self.address = address
        words = text.split(None, 1)
        while words[0] in ("lock", "rep", "repne", "notrack", "data16", "bnd", "rex64") and len(words) > 1:
            words = words[1].split(None, 1)
        self.name = words[0]
        self.operands = words[1] if len(words) > 1 else ""
        match = _COMMENT.match(comment or "") if "(%rip)" in self.operands else None
        self.reference = int(match.group(1), 16) if match else self._absolute()

    def _absolute(self):
        match = _ABSOLUTE.search(", " + self.operands)
        return int(match.group(1), 16) if match and self.name[:1] not in "jc" else None

    def target(self):
        match = _TARGET.match(self.operands)
        return int(match.group(1), 16) if match else None

    def writes(self, family):
        """May it change the register? Not told: what calls do."""
        operands = split_operands(self.operands)
        if self.name.startswith(("cmp", "test", "push", "j", "nop", "bt")) and not self.name.startswith(
                ("cmpxchg", "bts", "btr", "btc")):
            return False
        if operands and register_of(operands[-1]) == family:
            return True
        if self.name.startswith("xchg") or self.name.startswith("xadd"):
            return any(register_of(o) == family for o in operands)
        if self.name in ("movsb", "movsw", "movsl", "movsq") and "(" in operands[0] and "(" in operands[-1]:
            return family in ("si", "di", "cx")
        if self.name.startswith(("imul", "mul", "div")) and len(operands) > 1:
            return False  # also mulsd and divss
        return any(self.name.startswith(name) and family in families for name, families in _IMPLICIT.items())


# What a block does, in order: ("store", address, byte), ("computed", address, module) for a store of one of its bytes,
# ("call", address, names or None, how), where `how` is "", "tail"
# or "maybe" (in tail position, under a condition), ("jump", address) under a condition, ("return", address),
# ("trap", address), ("odd", address, text).
class Block:
    def __init__(self, first):
        self.first = first
        self.events, self.successors = [], []


class Code:
    """An executable's instructions, by function."""

    def __init__(self, path):
        self.binary = Binary(path)
        self.names = {}
        for low, _, name, _ in self.binary.functions:
            self.names.setdefault(low, set()).add(name)
        self._read_relocations()
        self._disassemble(path)
        self.coverage = {}  # address: (module id, number)
        self._read_descriptors()
        self.covered = sorted(self.coverage)
        low, high = (self.binary.section_range("inquest_cov") if "inquest_cov" in self.binary.sections else (0, 0))
        self.coverage_range = (low, high)

    def _read_relocations(self):
        """pointers: what the loader stores where; imports: names of functions by slot of the GOT."""
        self.pointers, self.imports = {}, {}
        symbols, strings = self.binary.section(".dynsym"), self.binary.section(".dynstr")
        for section in (".rela.dyn", ".rela.plt"):
            data = self.binary.section(section)
            for at in range(0, len(data) - 23, 24):
                where, info, addend = struct.unpack_from("<QQq", data, at)
                if info & 0xFFFFFFFF == 8:
                    self.pointers[where] = addend
                elif info >> 32:
                    name, = struct.unpack_from("<I", symbols, 24 * (info >> 32))
                    self.imports[where] = strings[name:strings.index(b"\0", name)].decode()

    def _disassemble(self, path):
        out = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", path], capture_output=True, text=True)
        if out.returncode != 0:
            raise ValueError(f"llvm-objdump-19 failed: {out.stderr.strip()}")
        self.instructions, self.plt = [], {}
        for line in out.stdout.splitlines():
            match = _INSTRUCTION.match(line)
            if match:
                self.instructions.append(Instruction(int(match.group(1), 16), match.group(2), match.group(3)))
                continue
            match = re.match(r"^([0-9a-f]+) <(.*)@plt>:", line)
            if match:
                self.plt[int(match.group(1), 16)] = match.group(2)
        self.instructions.sort(key=lambda i: i.address)
        # what instructions refer to: a table ends where the next thing begins
        self.references = sorted({ins.reference for ins in self.instructions if ins.reference})
        self.index = {ins.address: i for i, ins in enumerate(self.instructions)}

    def _read_descriptors(self):
        """The coverage bytes of each module, from inquest_desc (layout/frame.h)."""
        if "inquest_desc" not in self.binary.sections:
            return
        start, end = self.binary.section_range("inquest_desc")
        data = self.binary.section("inquest_desc")
        for at in range(0, end - start - 47, 8):
            magic, ident, offset, count, _, _ = struct.unpack_from("<QQiIiI", data, at)
            if magic == 0x6D71756573743031:
                for i in range(count):
                    self.coverage[start + at + offset + i] = (ident, i)

    def module_at(self, address):
        """The module whose bytes these are, or come next: what stands before them belongs to it."""
        i = bisect.bisect_left(self.covered, address)
        return self.coverage[self.covered[i]][0] if i < len(self.covered) else None

    def names_of(self, target):
        names = set(self.names.get(target, ()))
        if target in self.plt:
            names.add(self.plt[target])
        return names

    def read(self, address, size):
        for row in self.binary.sections.values():
            if row[3] and row[3] <= address and address + size <= row[3] + row[5] and row[1] != 8:
                at = row[4] + address - row[3]
                return self.binary.data[at:at + size]
        return None
