# SPDX-License-Identifier: Apache-2.0
"""Is what `inquest coverage` says of a core true? Nodes that it says ran must be in the log of the run,
those that it says did not must not be."""

import collections
import functools
import json
import os
import re
import subprocess
import zlib

from log import ENTER, NODE

SOLVERS = ("utl", "fsa", "vpa", "csi")
NARROW = ["--narrow"] if os.environ.get("TRUTH_NARROW") else []  # calls through pointers, by points-to
COUNT = collections.Counter()  # answers, by solver
ANSWER = re.compile(r'"answer":"(\w+)"')
NEVER = float("inf")


def first_nodes(log):
    """{(function number, node): index of the first record of that node}."""
    first, function, words = {}, {}, log.words
    for i in range(log.length):
        event = words[2 * i + 1]
        kind, value = event >> 29, event & 0x1FFFFFFF
        if kind == ENTER:
            function[words[2 * i]] = value
        elif kind == NODE and words[2 * i] in function:
            first.setdefault((function[words[2 * i]], value), i)
    return first


@functools.cache
def knows(inquest, solver):
    """An older tool may be looked at that does not have all of them."""
    return solver in subprocess.run([inquest, "coverage", "--help"], capture_output=True, text=True).stdout


class Shape:
    """What is the same in all answers of one build: nodes and lines, in their order."""

    def __init__(self, table, item):
        real = functools.cache(lambda file: os.path.realpath(file or ""))
        self.nodes = item["nodes"]
        self.lines = [(real(line["file"]), line["line"]) for line in item["lines"]]
        self.places = {(int(n["module"], 16), n["index"], n["node"]): (real(n["file"]), n["line"]) for n in self.nodes}
        self.keys = [self._key(table, n) for n in self.nodes]

    @staticmethod
    def _key(table, node):
        """In the log; None: another copy may be the one that ran, or it cannot log."""
        ident = int(node["module"], 16)
        if ident not in table.by_id or table.lookup(ident, node["index"]).linkage in ("weak", "available", "naked"):
            return None
        return table.by_id[ident] << 16 | node["index"], node["node"]


class Answer:
    """nodes, lines: "yes", "no" or "maybe" for each of those of the shape."""

    def __init__(self, shipped, text):
        if not hasattr(shipped, "shapes"):
            shipped.shapes = {}
        begin, end = text.find('"nodes": ['), re.search(r'\n  "(active|complete)": ', text)
        parts = ANSWER.split(text[max(begin, 0):end.start() if end else len(text)])
        self.shape, answers = shipped.shapes.get("".join(parts[::2])), parts[1::2]
        if self.shape is None:
            item = json.loads(text)
            self.shape = Shape(shipped.table, item)
            if answers != [i["answer"] for i in (*item["nodes"], *item["lines"])]:
                raise ValueError("the answers of `inquest coverage` are not where they are looked for")
            shipped.shapes["".join(parts[::2])] = self.shape
        self.nodes, self.lines = answers[:len(self.shape.nodes)], answers[len(self.shape.nodes):]


def ask(shipped, source, solver):
    """(answer, trouble); `source` is a core or evidence."""
    with open(os.memfd_create("answer"), "w+") as out:  # a pipe would be read in small pieces
        done = subprocess.run([shipped.tools.inquest, "coverage", "--json", "--solver", solver, *NARROW, shipped.exe, source],
                              stdout=out, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return None, done.stderr.strip()
        out.seek(0)
        return Answer(shipped, out.read()), None


def ask_all(shipped, core, evidence, key, solvers=SOLVERS):
    """{solver: (answer, trouble)}. In a quarter of all questions, drawn by what the crash is (`key`), the core itself is read, otherwise the
    evidence that `inquest report` made of it."""
    solvers = [s for s in solvers if knows(shipped.tools.inquest, s)]
    direct = SOLVERS[zlib.crc32(repr((shipped.program.name, shipped.opt, key)).encode()) % len(SOLVERS)]
    with open(core + ".json", "w") as file:
        file.write(evidence.text)
    return {s: ask(shipped, core if s == direct else core + ".json", s) for s in solvers}


def problems(shipped, answers, first, low, high):
    """The run stood somewhere between records low and high (both: after so many of them)."""
    found, times = [], {}
    for solver, (answer, trouble) in answers.items():
        if trouble:
            found.append(("coverage", f"{solver}: {trouble}"))
            continue
        shape = answer.shape
        if shape not in times:
            times[shape] = [first.get(key, NEVER) for key in shape.keys]
        COUNT.update((solver, a) for a in answer.nodes)
        for k, (told, at, key) in enumerate(zip(answer.nodes, times[shape], shape.keys)):
            if key and (told == "yes" and at >= high or told == "no" and at < low):
                node = shape.nodes[k]
                found.append(("coverage", f"{solver}: '{shipped.table.function(key[0]).name}' node {node['node']} (line {node['line']}) is told "
                              + ("to have run, it did not" if told == "yes" else "not to have run, it did")))
    return found


def wanted():
    return os.environ.get("TRUTH_COVERAGE")


def lines():
    for solver in SOLVERS:
        total = sum(COUNT[solver, a] for a in ("yes", "no", "maybe"))
        if total:
            yield (f"coverage {solver}: yes {100 * COUNT[solver, 'yes'] / total:.1f}% no "
                   f"{100 * COUNT[solver, 'no'] / total:.1f}% maybe {100 * COUNT[solver, 'maybe'] / total:.1f}%")
