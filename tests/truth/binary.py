# SPDX-License-Identifier: Apache-2.0
"""An executable as the oracle reads it: a small ELF reader of its own, the model frames of
.inquest.model (layout/section.h has the definition), PLT entries, and which functions were inlined."""

import ctypes
import functools
import re
import struct
import subprocess


class Binary:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"'{path}' is not a 64-bit little-endian ELF file")
        self._read_sections()
        self._read_segments()
        self._read_symbols()

    def _read_sections(self):
        offset, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]
        table = rows[names][4]
        self.sections = {}
        for row in rows:
            end = self.data.index(b"\0", table + row[0])
            self.sections[self.data[table + row[0]:end].decode()] = row

    def section(self, name):
        row = self.sections.get(name)
        return self.data[row[4]:row[4] + row[5]] if row else b""

    def section_range(self, name):
        row = self.sections[name]
        return row[3], row[3] + row[5]

    def _read_segments(self):
        offset, = struct.unpack_from("<Q", self.data, 0x20)
        size, count = struct.unpack_from("<HH", self.data, 0x36)
        loads = []
        for i in range(count):
            kind, _, _, address = struct.unpack_from("<IIQQ", self.data, offset + i * size)
            if kind == 1:
                loads.append(address)
        self.first_load = min(loads) if loads else 0

    def _read_symbols(self):
        """functions: (low, high, name, source file or None), by address."""
        table, names = self.section(".symtab"), self.section(".strtab")
        self.functions, self.symbols = [], {}
        unit = None
        for at in range(0, len(table), 24):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", table, at)
            text = names[name:names.index(b"\0", name)].decode(errors="replace")
            if info & 15 == 4:
                unit = text
            if section:
                self.symbols.setdefault(text, value)
            if info & 15 == 2 and section and size:
                self.functions.append((value, value + size, text, unit if info >> 4 == 0 else None))
        self.functions.sort()

    def function_at(self, address):
        for low, high, name, _ in self.functions:
            if low <= address < high:
                return low, high, name
        return None

    def models(self):
        """(module id, bitcode) of every frame of .inquest.model, in link order."""
        data, at, found = self.section(".inquest.model"), 0, []
        while at + 32 <= len(data):
            magic, version, kind, length, _ = struct.unpack_from("<8sIIQQ", data, at)
            if magic != b"INQUEST\n":
                at += 8
                continue
            if version != 2:
                raise ValueError(f"'{self.path}': model section of version {version}")
            if kind == 1:
                payload = data[at + 32:at + 32 + length]
                ident, size, _, _, functions, _ = struct.unpack_from("<QQIIII", payload)
                found.append((ident, decompress(payload[32 + 16 * functions:], size)))
            at += (32 + length + 7) & ~7
        return found

    @functools.cached_property
    def plt_entries(self):
        """PLT entries: {address: name}."""
        out = subprocess.run(
            ["llvm-objdump-19", "-d", "--no-show-raw-insn", "-j", ".plt", "-j", ".plt.sec", "-j",
             ".plt.got", self.path], capture_output=True, text=True).stdout
        return {int(a, 16): n for a, n in re.findall(r"^([0-9a-f]+) <(\S+)@plt>:", out, re.M)}

    def inlined(self):
        """Names of the functions that were inlined anywhere."""
        command = (f"llvm-dwarfdump-19 --debug-info '{self.path}' | "
                   "grep -A2 'DW_TAG_inlined_subroutine' | grep abstract_origin | sort -u")
        out = subprocess.run(["sh", "-c", command], capture_output=True, text=True).stdout
        return set(re.findall(r'"([^"]+)"', out))


_zstd = None


def decompress(data, size):
    global _zstd
    if _zstd is None:
        _zstd = ctypes.CDLL("libzstd.so.1")
        _zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    got = _zstd.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data)))
    if got != size:
        raise ValueError("the bitcode of a model frame does not decompress")
    return out.raw


def plain_name(name):
    """The function's name without what the optimiser appends to clones."""
    return re.sub(r"(\.(specialized|constprop|isra|part|cold|llvm|inquest\.plain)(\.\d+)?|\.\d+)+$", "", name)
