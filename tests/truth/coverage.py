# SPDX-License-Identifier: Apache-2.0
"""Is what `inquest coverage` says of a core true? Nodes that it says ran must be in the log of the run,
those that it says did not must not be."""

import collections
import functools
import json
import os
import subprocess

from log import ENTER, NODE

SOLVERS = ("utl", "fsa", "vpa", "csi")
NARROW = ["--narrow"] if os.environ.get("TRUTH_NARROW") else []  # calls through pointers, by points-to
COUNT = collections.Counter()  # answers, by solver


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


def ask(shipped, core, solver):
    done = subprocess.run([shipped.tools.inquest, "coverage", "--json", "--solver", solver, *NARROW, shipped.exe, core],
                          capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    return json.loads(done.stdout), None


def problems(shipped, core, first, low, high):
    """The run stood somewhere between records low and high (both: after so many of them)."""
    table, found = shipped.table, []
    for solver in SOLVERS:
        if not knows(shipped.tools.inquest, solver):
            continue
        answer, trouble = ask(shipped, core, solver)
        if trouble:
            found.append(("coverage", f"{solver}: {trouble}"))
            continue
        for node in answer["nodes"]:
            ident = int(node["module"], 16)
            COUNT[solver, node["answer"]] += 1
            if ident not in table.by_id or node["answer"] == "maybe":
                continue
            function = table.lookup(ident, node["index"])
            at = first.get((table.by_id[ident] << 16 | node["index"], node["node"]), float("inf"))
            if function.linkage in ("weak", "available", "naked"):
                continue  # another copy may be the one that ran; or it cannot log
            if node["answer"] == "yes" and at >= high:
                found.append(("coverage", f"{solver}: '{function.name}' node {node['node']} (line "
                              f"{node['line']}) is told to have run, it did not"))
            if node["answer"] == "no" and at < low:
                found.append(("coverage", f"{solver}: '{function.name}' node {node['node']} (line "
                              f"{node['line']}) is told not to have run, it did"))
    return found


def wanted():
    return os.environ.get("TRUTH_COVERAGE")


def lines():
    for solver in SOLVERS:
        total = sum(COUNT[solver, a] for a in ("yes", "no", "maybe"))
        if total:
            yield (f"coverage {solver}: yes {100 * COUNT[solver, 'yes'] / total:.1f}% no "
                   f"{100 * COUNT[solver, 'no'] / total:.1f}% maybe {100 * COUNT[solver, 'maybe'] / total:.1f}%")
