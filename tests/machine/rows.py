# SPDX-License-Identifier: Apache-2.0
"""Rows of the line table, and the nodes of the model that they name: inquest-cc gives each node of a function a
discriminator, its number plus one."""

import bisect
import re
import subprocess

_ROW = re.compile(r"^0x([0-9a-f]+)\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s*(.*)$")
_NAME = re.compile(r'^\s+name: "(.*)"')


class Rows:
    def __init__(self, model, path):
        self.rows, self.addresses = [], None
        self._files, self._base = {}, 0
        self._lines = self._index(model)
        self._model = model
        with subprocess.Popen(["llvm-dwarfdump-19", "--debug-line", path], stdout=subprocess.PIPE, text=True) as dump:
            for line in dump.stdout:
                self._read(line)
        self.rows.sort(key=lambda row: row[0])
        self.addresses = [row[0] for row in self.rows]

    @staticmethod
    def _index(model):
        """Functions by the file and the line where they begin."""
        lines = {}
        for function in model.functions:
            if function.file:
                lines.setdefault(function.file, {}).setdefault(function.line, []).append(function.ident)
        return {file: (sorted(starts), starts) for file, starts in lines.items()}

    def _read(self, line):
        if line.startswith("0x"):
            match = _ROW.match(line)
            address, number, file, discriminator = (int(match.group(1), 16), int(match.group(2)),
                                                    int(match.group(4)), int(match.group(5)))
            name = None if "end_sequence" in match.group(6) else self._files.get(file)
            self.rows.append((address, number, name, discriminator))
        elif line.startswith("file_names["):
            self._number = int(re.search(r"\d+", line).group())
        elif line.startswith("debug_line["):
            self._files = {}
        elif _NAME.match(line):
            self._files[self._number] = _NAME.match(line).group(1).rsplit("/", 1)[-1]

    def nodes_at(self, address):
        """{(function, node)} that the row of an instruction may name; empty where it names none."""
        i = bisect.bisect_right(self.addresses, address) - 1
        if i < 0:
            return set()
        _, line, file, discriminator = self.rows[i]
        if not discriminator or not line or file not in self._lines:
            return set()
        starts, functions = self._lines[file]
        at = bisect.bisect_right(starts, line) - 1
        found = functions[starts[at]] if at >= 0 else ()
        return {(f, discriminator - 1) for f in found if discriminator <= len(self._model.functions[f].nodes)}
