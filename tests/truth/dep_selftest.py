# SPDX-License-Identifier: Apache-2.0
"""Is the oracle of dynamic slices itself right? Small programs that fail, checked by hand: comments on
their lines say `in` or `out`, and `writes local`, `writes heap`, `writes global NAME` or `reads stale`. And:
do its numbers of instructions agree with the model's?"""

import glob
import json
import os
import re
import subprocess

import crash
import dep
import dep_points_to
from programs import HERE, Program

OPCODES = {"p": ["phi"], "c": ["call", "invoke", "callbr"], "a": ["alloca"], "l": ["load"],
           "s": ["store"], "r": ["ret"], "j": ["br"]}


def expected(path):
    """({lines that are in}, {lines that are out})."""
    wanted = {"in": set(), "out": set()}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            found = re.search(r"// (in|out)\b(:|,|\s*$)", line)
            if found:
                wanted[found.group(1)].add(number)
    return wanted["in"], wanted["out"]


def line_problems(path, found):
    inside, outside = expected(path)
    lines = {line for file, line in found.lines if file == os.path.realpath(path)}
    if not inside or not outside:
        return ["no line says what is expected"]
    return [f"line {n} is not in the slice" for n in sorted(inside - lines)] + \
        [f"line {n} is in the slice" for n in sorted(outside & lines)]


def read_table(path):
    """[[instructions of a node, as letters]] of each function, by name."""
    functions = []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[0] == "function":
                functions.append((words[1], []))
            elif words[0] == "node":
                functions[-1][1].append([])
            elif words[0] == "insn":
                functions[-1][1][-1].append(words[1])
    return functions


def insn_problems(texts, letters, number):
    """Instructions of one node, as `inquest dump -v` prints them; those with a result are numbered."""
    if len(texts) != len(letters):
        return [f"{len(texts)} instructions in the model, {len(letters)} in the trace"]
    problems = []
    for k, (text, letter) in enumerate(zip(texts, letters)):
        result = re.match(r"%(\d+): .*? = (.*)", text)
        opcode = (result.group(2) if result else text).split()[0]
        if (result and int(result.group(1)) != number + k) or \
                opcode not in OPCODES.get(letter, [opcode]):
            problems.append(f"instruction {number + k} is '{letter}' here, '{text}' in the model")
    return problems


def number_problems(traced):
    """Modules, functions, nodes and instructions count as in the model."""
    done = subprocess.run([traced.tools.inquest, "dump", traced.exe, "--json", "-v"],
                          capture_output=True, text=True)
    if done.returncode:
        return [f"inquest dump: {done.stderr[-300:]}"]
    item = json.loads(done.stdout)
    model = {int(m["id"], 16): [] for m in item["modules"]}
    for function in item["functions"]:
        model[int(item["modules"][function["module"]]["id"], 16)].append(function)
    problems = []
    for ident, path in traced.tables():
        number, table = 0, read_table(path)
        if len(table) != len(model[ident]):
            problems.append(f"{len(table)} functions, {len(model[ident])} in the model")
        for (name, nodes), function in zip(table, model[ident]):
            if name.lstrip("\x01") != function["function"].lstrip("\x01") or \
                    len(nodes) != len(function["nodes"]):
                problems.append(f"function '{name}' is '{function['function']}' in the model")
            for letters, node in zip(nodes, function["nodes"]):
                problems += insn_problems(node["instructions"], letters, number)
                number += len(letters)
    return problems


def comparison_problems(found):
    """A static slice that lacks something has to be noticed."""
    class Static:
        lines, nodes, insns = set(found.lines), set(found.nodes), set(found.insns)
    problems = [] if not dep.slice_problems(found, Static) else ["a slice is not within itself"]
    for field in ("lines", "nodes", "insns"):
        whole = getattr(Static, field)
        setattr(Static, field, whole - {min(whole)})
        if len(dep.slice_problems(found, Static)) != 1:
            problems.append(f"one of {field} is missing, and it is not noticed")
        setattr(Static, field, whole)
    return problems


def points_to_problems(traced, found):
    """Accesses are within points-to; and a set that lacks an object, or an offset, is noticed."""
    points_to = traced.points_to()
    problems = [" ".join(p) for p in dep_points_to.problems(found, points_to)]
    at = min(found.touched(True))
    identity, spans = min(found.touched(True)[at].items())
    key = points_to.accesses[at]["writes"]
    whole, points_to.sets[key] = points_to.sets[key], set()
    if "object" not in {group for group, _ in dep_points_to.problems(found, points_to)}:
        problems.append("an object outside is not noticed")
    one = points_to.find(identity)[0]
    cells = one["cells"]
    one["cells"] = [{"offset": spans[0][0] + spans[0][1], "stride": 0, "length": 1}]
    points_to.sets[key] = {one["first_cell"]}
    if "offset" not in {group for group, _ in dep_points_to.problems(found, points_to)}:
        problems.append("an offset outside is not noticed")
    one["cells"], points_to.sets[key] = cells, whole
    return problems


def insn_lines(path):
    """The line of each instruction."""
    with open(path) as file:
        return [int(line.split()[3]) for line in file if line.startswith("insn ")]


def object_problems(path, traced, found):
    """What lines wrote to, and who touched what was freed."""
    lines, wrote, stale = insn_lines(traced.tables()[0][1]), {}, set()
    for access in found.accesses:
        line = lines[access["at"][3]]
        if access["writes"]:
            what = " ".join([access["kind"], *[access[k] for k in ("name",) if k in access]])
            wrote.setdefault(line, set()).add(what)
        if access["stale"]:
            stale.add(line)
    problems = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            wanted = re.search(r", writes (.*?)\s*$", line)
            if wanted and wrote.get(number) != {wanted.group(1)}:
                problems.append(f"line {number} writes to {wrote.get(number)}")
            if (", reads stale" in line) != (number in stale):
                problems.append(f"line {number} does{'' if number in stale else ' not'} read what was freed")
    return problems


def input_of(path):
    with open(path) as file:
        found = re.search(r"^// input: (.*)$", file.read(), re.M)
    return found.group(1).replace("\\n", "\n").encode() + b"\n" if found else b""


def programs():
    """[(path, program)]: each fails by itself."""
    paths = sorted(glob.glob(os.path.join(HERE, "dynamic", "*.c")))
    return [(path, Program(os.path.splitext(os.path.basename(path))[0], os.path.dirname(path), [path],
                           crashes=[([], input_of(path))])) for path in paths]


def traced_build(campaign, program, opt):
    return dep.Traced(campaign.tools, program, None, opt, False, [],
                      os.path.join(campaign.work, f"dynamic-{program.name}{opt}"))


def look_at(campaign, path, program, opt):
    traced = traced_build(campaign, program, opt)
    with crash.Scratch() as folder:
        number, trace = dep.run_tracer(traced, *program.crashes[0], {}, folder)
        if number == 0:
            return ["it did not fail"], 0
        found = dep.dynamic_slice(traced, trace)
    problems = line_problems(path, found) + number_problems(traced) + comparison_problems(found) + \
        points_to_problems(traced, found) + object_problems(path, traced, found)
    return problems, len(found.lines)


def run(campaign):
    """How much is wrong."""
    count = 0
    for path, program in programs():
        for opt in campaign.arguments.opt.split(","):
            problems, lines = look_at(campaign, path, program, opt)
            count += len(problems)
            print(f"{os.path.basename(path):14} {opt}: {lines} lines"
                  f"{'' if not problems else ', WRONG'}", flush=True)
            for text in problems[:12]:
                print(f"    {text}")
    return count
