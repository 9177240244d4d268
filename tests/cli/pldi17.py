# SPDX-License-Identifier: Apache-2.0
"""Compares `inquest coverage` with the reference answers of ../shared/pldi17. See test_pldi17.sh."""

import collections
import glob
import gzip
import json
import os
import subprocess
import sys

INQUEST, DATA = sys.argv[1:3]
STACK, ALL = ["--use", "stack"], []


def reference(folder, name):
    path = os.path.join(folder, name + ".tsv.gz")
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt") as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def answers(folder, solver, use):
    done = subprocess.run([INQUEST, "coverage", "--json", "--solver", solver, *use,
                           os.path.join(folder, "cfg.graphml.gz"), os.path.join(folder, "report.json")],
                          capture_output=True, text=True)
    if done.returncode:
        return None
    return {node["node"]: node["answer"] for node in json.loads(done.stdout)["nodes"]}


def compare(folder, name, got, want, count):
    wrong = [f"{n}: {got and got.get(n)} for {want[n]}" for n in want if not got or got.get(n) != want[n]]
    wrong += [f"{n}: not in the reference" for n in got or () if n not in want]
    count[name, "nodes"] += len(want)
    count[name, "wrong"] += len(wrong)
    count[name, "definite"] += sum(a != "maybe" for a in want.values())
    if wrong:
        print(f"{os.path.basename(folder)} {name}: {len(wrong)} wrong: {'; '.join(wrong[:3])}")


def main():
    count, cases = collections.Counter(), sorted(glob.glob(os.path.join(DATA, "*", "")))
    for folder in (c.rstrip("/") for c in cases):
        for mode, use in (("stack", STACK), ("cov", ALL)):
            utl, vpa = answers(folder, "utl", use), answers(folder, "vpa", use)
            compare(folder, f"{mode}.utl", utl, reference(folder, f"{mode}.utl"), count)
            want = reference(folder, f"{mode}.svpa")
            if want:
                compare(folder, f"{mode}.svpa", vpa, want, count)
            for node, answer in (utl or {}).items():
                count[mode + " vpa", "nodes"] += 1
                count[mode + " vpa", "definite"] += vpa[node] != "maybe"
                if answer != "maybe" and vpa[node] != answer:
                    count[mode + " vpa", "wrong"] += 1
    for name in sorted({k[0] for k in count}):
        print(f"{name:12} {count[name, 'nodes']:6} nodes, {count[name, 'wrong']} wrong, "
              f"{100 * count[name, 'definite'] / count[name, 'nodes']:.1f}% definite")
    return 1 if not cases or any(v for (_, what), v in count.items() if what == "wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
