# SPDX-License-Identifier: Apache-2.0
"""The model of an executable as `inquest dump` prints it: which nodes control can go through in the
source, where its calls are, and the number of each call's coverage byte."""

import re
import subprocess

_FUNCTION = re.compile(r'^function (\d+) module (\d+) "([^"]*)".*? source "([^"]*)" at (\S+) .*?level (\w+)')
_NODE = re.compile(r"^  node (\d+) at (\S+)(?: flags (\S+))?(?: -> ([\d !]+))?$")
_SITE = re.compile(r'^    site (?:"([^"]*)"|\*)(?: flags (\S+))? callees (\d+)')


class Node:
    def __init__(self, line, flags, successors):
        self.line, self.flags, self.successors = line, flags, successors
        self.site = None  # (module, number of its byte)
        self.callee, self.site_flags, self.callees = None, frozenset(), 0

    @property
    def is_call(self):
        return self.site is not None


class Function:
    def __init__(self, ident, module, name, source, place, level):
        self.ident, self.module, self.name, self.source, self.level = ident, module, name, source, level
        self.file, self.line = place
        self.nodes = []


class Model:
    def __init__(self, inquest, path):
        text = subprocess.run([inquest, "dump", "--alone", "-q", path], capture_output=True, text=True)
        if text.returncode != 0:
            raise ValueError(f"'inquest dump {path}' failed: {text.stderr.strip()}")
        self.modules, self.functions, self.sets, self.by_name = [], [], {0: ()}, {}
        self.files = {}
        self.sites = {}  # (module, number): (function, node)
        self._counts = {}
        for line in text.stdout.splitlines():
            self._read(line)
        for function in self.functions:
            self.by_name.setdefault(function.name, []).append(function.ident)
        for function in self.functions:
            for node in function.nodes:
                node.callees = self.sets[node.callees]

    def _read(self, line):
        word = line.split(None, 1)[0] if line.strip() else ""
        if word == "node":
            self._read_node(_NODE.match(line))
        elif word == "site":
            self._read_site(_SITE.match(line))
        elif word == "function":
            self._read_function(_FUNCTION.match(line))
        elif word == "set":
            number, *members = (int(w) for w in line.split()[1:])
            self.sets[number] = tuple(members)
        elif word == "module":
            fields = line.split()
            self.modules.append((int(fields[5], 16), fields[7], bool(int(fields[9]) & 2)))  # optimised?
        elif word == "file":
            number, name = int(line.split()[1]), line.rstrip('"').rsplit('"', 1)[1]
            self.files[number] = name.rsplit("/", 1)[-1]

    def _read_function(self, match):
        ident, module, name, source, place, level = match.groups()
        file, _, line = place.partition(":")
        place = (self.files.get(int(file)), int(line)) if line else (None, 0)
        assert int(ident) == len(self.functions)
        self.functions.append(Function(int(ident), int(module), name, source, place, level))

    def _read_node(self, match):
        number, place, flags, successors = match.groups()
        nodes = self.functions[-1].nodes
        assert int(number) == len(nodes)
        line = int(place.split(":")[1]) if ":" in place else 0
        nodes.append(Node(line, frozenset((flags or "").split(",")),
                          # not those of unwinding (`!`): machine code comes there by tables that are not read
                          tuple(int(s) for s in (successors or "").split() if not s.endswith("!"))))

    def _read_site(self, match):
        function = self.functions[-1]
        node = function.nodes[-1]
        number = self._counts.get(function.module, 0)
        self._counts[function.module] = number + 1
        node.site = (function.module, number)
        node.callee = match.group(1)
        node.site_flags = frozenset((match.group(2) or "").split(","))
        node.callees = int(match.group(3))
        self.sites[node.site] = (function.ident, len(function.nodes) - 1)

    def site_count(self, module):
        return self._counts.get(module, 0)

    def describe(self, site):
        ident, n = self.sites[site]
        function = self.functions[ident]
        node = function.nodes[n]
        return f"{function.name}:{node.line} (node {n}) calling {node.callee or 'through a pointer'}"
