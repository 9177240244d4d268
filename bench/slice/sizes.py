# SPDX-License-Identifier: Apache-2.0
"""What one crash comes to, as a line of JSON: counts, sizes, seconds, memory.

    sizes.py INQUEST EXE CORE DYNAMIC TIME

DYNAMIC is what crashes.py keeps of the dynamic slice, or a file that is not there. A process of its own: whatever measures
another has to be small."""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ask"))
import measure

INSN = re.compile(r"^\| (?:%\d+: .*? = )?(\w+) ?(.*?)(?:  !(\d+):\d+)?$")
UNSEEN = ("@llvm.lifetime", "@llvm.dbg", "@llvm.assume", "@llvm.stacksave", "@llvm.stackrestore")
KINDS = {"restricted": (), "stack": ("--stack",)}


class Weights:
    """How many dependence nodes an instruction stands for, as the paper counts: one where it has a line, and for a call
    one more for each argument. An argument that an instruction computes counts if that one is in the slice, any other with
    the call. `inquest dump -v` has the instructions in the order of their numbers."""

    def __init__(self, dump):
        self.modules, self.names, self.nodes = {}, {}, 0
        module, first = [], 0
        for text in dump:
            text = text.strip()
            if text.startswith("module "):
                words = text.split()
                self.names[words[1]] = words[words.index("id") + 1]
                self.modules[int(self.names[words[1]], 16)] = []
            elif text.startswith("function "):
                module = self.modules[int(self.names[text.split()[3]], 16)]
                first = len(module)
            elif text.startswith("node "):
                self.nodes += 1
            elif text.startswith("| "):
                module.append(self._insn(text, first))

    @staticmethod
    def _insn(text, first):
        """(weight, numbers of the instructions that compute its arguments)."""
        opcode, operands, line = INSN.match(text).groups()
        if opcode == "alloca" or not line or line == "0" or any(u in operands for u in UNSEEN):
            return 0, ()
        if opcode not in ("call", "invoke"):
            return 1, ()
        arguments = operands.split(", ")[:-1]
        computed = tuple(first + int(a[1:]) for a in arguments if re.fullmatch(r"%\d+", a))
        return 1 + len(arguments) - len(computed), computed

    def all(self):
        return sum(w + len(c) for module in self.modules.values() for w, c in module)

    def size(self, kept):
        """kept: {module: set of instructions}."""
        total = 0
        for module, insns in kept.items():
            known = self.modules[module]
            total += sum(known[i][0] + sum(c in insns for c in known[i][1]) for i in insns)
        return total


class Crash:
    def __init__(self, inquest, exe, core, seconds):
        self.inquest, self.files, self.seconds = inquest, [exe, core], seconds
        self.folder = tempfile.TemporaryDirectory(prefix="bench-slice-")

    def run(self, name, *command):
        """Its measures; what it prints goes to a file, for later."""
        done = measure.Measured([self.inquest, *command, *self.files, "--json", "--quiet", "--time", self.seconds])
        with open(os.path.join(self.folder.name, name), "w") as file:
            file.write(done.out)
        return {"seconds": done.seconds, "memory": done.memory, "trouble": done.trouble()}

    def read(self, name):
        with open(os.path.join(self.folder.name, name)) as file:
            text = file.read()
        return json.loads(text) if text else None


def reduced(now, before):
    return 100 * (1 - now / before) if before else None


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def active(part):
    return {what: {"now": part[what], "before": part["baseline_" + what],
                   "reduced": reduced(part[what], part["baseline_" + what])} for what in ("nodes", "edges")}


def intra(weights, frames, slices, reach):
    """Over the functions on the stack with an ambiguous branch, each by itself. What a slice has of other functions (signal
    handlers write at any time), or behind where the frame stands, does not count."""
    ambiguous = [f for f in frames["frames"] if f["ambiguous"]]
    out = {"ambiguous": len(ambiguous), "frames": sum(f["count"] for f in frames["frames"])}
    for what in ("nodes", "edges"):
        out[what] = mean([active(f["active"])[what]["reduced"] for f in ambiguous])
    names = {f["function"] for f in ambiguous}
    kept = [kept_insns(s, names, reach) if s and s["complete"] else None for s in slices]
    if None not in kept:
        sizes = [{name: weights.size(insns) for name, insns in k.items()} for k in kept]
        out["slice"] = mean([reduced(sizes[0][name], sizes[1][name]) for name in sizes[1]])
        out["sizes"] = [mean(s.values()) for s in sizes]
    return out


def place(node):
    return node["module"], node["index"], node["node"]


def reached(found):
    return {place(n) for n in found["nodes"] if n["answer"] != "no"}


def all_insns(found, nodes=None):
    """{module: instructions}, of these nodes alone where they are given."""
    kept = {}
    for node in found["nodes"]:
        if nodes is None or place(node) in nodes:
            kept.setdefault(int(node["module"], 16), set()).update(node["insns"])
    return kept


def kept_insns(found, functions, reach):
    """{function: {module: instructions}}."""
    return {name: all_insns({"nodes": [n for n in found["nodes"] if n["function"] == name]}, reach) for name in functions}


def slice_size(weights, found, reach):
    """`reached`: of the slice what lies before the crash by the stack. What is written at any time may lie behind it, and
    would make a baseline look worse than it is."""
    return {"size": weights.size(all_insns(found)), "reached": weights.size(all_insns(found, reach)),
            "nodes": found["kept_nodes"], "lines": found["kept_lines"], "insns": found["kept_insns"]}


def dynamic_size(weights, path):
    if not os.path.exists(path):
        return None
    with open(path) as file:
        item = json.load(file)
    kept = {}
    for module, _, _, insn in item["insns"]:
        kept.setdefault(module, set()).add(insn)
    return {"size": weights.size(kept), "lines": len(item["lines"]), "nodes": len({tuple(i[:3]) for i in item["insns"]}),
            "insns": len(item["insns"])}


def main(inquest, exe, core, dynamic, seconds):
    crash, row = Crash(inquest, exe, core, seconds), {}
    crash.run("reach", "coverage", "--solver", "csi", "--use", "stack")  # first: the model's cache is filled, too
    crash.run("reach.intra", "coverage", "--solver", "csi", "--use", "stack", "--intra")
    cost = {}
    cost["coverage"] = crash.run("coverage", "coverage", "--solver", "csi")
    crash.run("coverage.intra", "coverage", "--solver", "csi", "--intra")
    for kind, options in KINDS.items():
        cost[kind] = crash.run(kind, "slice", "--quick", *options)
        crash.run(kind + ".intra", "slice", "--quick", "--intra", *options)
    with os.popen(f"'{inquest}' dump -v '{exe}'") as dump:
        weights = Weights(dump)
    row["cost"], row["program"] = cost, {"nodes": weights.nodes, "size": weights.all()}
    row["inter"] = active(crash.read("coverage")["active"])
    reach = set().union(*map(reached, crash.read("reach.intra")["frames"]))
    row["intra"] = intra(weights, crash.read("coverage.intra"), [crash.read(kind + ".intra") for kind in KINDS], reach)
    reach = reached(crash.read("reach"))
    for kind in KINDS:
        found = crash.read(kind)
        row[kind] = slice_size(weights, found, reach) if found and found["complete"] else None
    row["dynamic"] = dynamic_size(weights, dynamic)
    print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:6])
