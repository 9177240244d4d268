#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statistics of suspects by brute force, from the runs themselves: sets of runs, and nothing that is kept from one
step to the next. Knows docs/suspects_statistics.md and docs/formats/suspects_report.md, and no line of the store.

    suspects_stats.py compare RUNS RESULT [--elimination 0|1|2] [--most N] [--confidence C]
        RUNS: JSON of `test_store_random fill`; or a directory of reports, with --sites and the same JSON for the kinds.
        RESULT: JSON of `test_store_random print`. Says what differs; exit status 1 if anything does.
"""
import argparse
import fractions
import json
import math
import os
import statistics
import struct
import sys

# Counters of a kind, and the sets of counters that make its predicates true.
THREE = [{0}, {1}, {2}, {1, 2}, {0, 2}, {0, 1}]
KINDS = {1: (2, [{0}, {1}]), 2: (3, THREE), 3: (3, THREE), 4: (9, [{i} for i in range(9)]), 5: (1, [{0}]),
         6: (2, [{0}, {1}])}
PASSED, FAILED = 1, 2


# ---- Reports as files

class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        assert self.at <= len(self.data), "cut"
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7


def fnv1a(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def read_report(path):
    data = Bytes(open(path, "rb").read())
    assert data.take(8) == b"INQREPT\n" and data.take(8) == struct.pack("<II", 1, len(data.data))
    run = {"id": data.take(16).hex()}
    data.take(data.take(1)[0])  # build-id
    run["outcome"] = data.take(1)[0]
    for _ in range(5):  # signal, exit status, rate, seed, start
        data.varint()
    run["counts"] = {}
    for _ in range(data.varint()):
        module, _, count = data.take(8)[::-1].hex(), data.varint(), data.varint()
        counters, following = [], 0
        for _ in range(count):
            following += data.varint()
            assert data.varint() > 0
            counters.append(following)
            following += 1
        run["counts"][module] = counters
    for _ in range(data.varint()):
        if data.varint() == 0:
            data.take(8)
        data.varint(), data.varint()
    before = data.at
    assert data.take(8) == struct.pack("<Q", fnv1a(data.data[:before])) and data.at == len(data.data)
    return run


def read_runs(path, sites):
    if not os.path.isdir(path):
        program = json.load(open(path))
        return program["modules"], program["runs"]
    modules = json.load(open(sites))["modules"]
    runs = [read_report(os.path.join(path, name)) for name in sorted(os.listdir(path))]
    for run in runs:
        run["counts"] = [run["counts"].get(module["id"], []) for module in modules]
    return modules, runs


# ---- What is true in which runs

class Predicate:
    def __init__(self, module, site, number, width):
        self.module, self.site, self.number, self.width = module, site, number, width
        self.true, self.observed = set(), set()
        self.same = []  # of its site, true in the same runs

    def key(self):
        return self.module, self.site, self.number

    def is_strongest(self):
        return all((self.width, self.number) < (other.width, other.number) for other in self.same)


def predicates_of(modules, runs):
    found = []
    for m, module in sorted(enumerate(modules), key=lambda pair: int(pair[1]["id"], 16)):
        first = 0
        sets = [(r, set(run["counts"][m])) for r, run in enumerate(runs) if run["outcome"] in (PASSED, FAILED)]
        for s, kind in enumerate(module["kinds"]):
            width, statements = KINDS[kind]
            here = [Predicate(module["id"], s, p, len(which)) for p, which in enumerate(statements)]
            for r, counters in sets:
                hit = {c for c in range(width) if first + c in counters}
                for predicate, which in zip(here, statements):
                    if hit:
                        predicate.observed.add(r)
                    if hit & which:
                        predicate.true.add(r)
            first += width
            here = [predicate for predicate in here if predicate.true]
            for predicate in here:
                predicate.same = [other for other in here if other is not predicate and other.true == predicate.true]
            found += here
    return found


# ---- Formulas

def numbers(predicate, failing, passing, z):
    """counts, and [failure, context, increase, lower bound, importance, ochiai, tarantula]"""
    f, s = len(predicate.true & failing), len(predicate.true & passing)
    fo, so = len(predicate.observed & failing), len(predicate.observed & passing)
    failure = f / (f + s) if f else 0.0
    context = fo / (fo + so) if fo else 0.0
    increase = failure - context
    spread = sum(p * (1 - p) / n for p, n in ((failure, f + s), (context, fo + so)) if n)
    coverage = 0.0
    if f:
        coverage = math.log(f) / math.log(len(failing)) if len(failing) > 1 else 1.0
    importance = 2 * increase * coverage / (increase + coverage) if increase > 0 and coverage > 0 else 0.0
    ochiai = f / math.sqrt(len(failing) * (f + s)) if f else 0.0
    tarantula = (f / len(failing)) / (f / len(failing) + (s / len(passing) if s else 0)) if f else 0.0
    return [f, s, fo, so], [failure, context, increase, increase - z * math.sqrt(spread), importance, ochiai, tarantula]


def predicts(values):
    return values[3] > 0 and values[4] > 0


def eliminate(predicates, failing, passing, z, how, most):
    """[(predicate, its importance, the failing runs it is chosen for)]"""
    failing, passing, heads = set(failing), set(passing), []
    while len(failing) > (1 if heads else 0) and not (most and len(heads) == most):
        best = None
        for predicate in predicates:
            values = numbers(predicate, failing, passing, z)[1]
            if predicate.is_strongest() and predicts(values) and (best is None or values[4] > best[1] * (1 + 1e-13)):
                best = predicate, values[4]
        if best is None:
            break
        gone = best[0].true
        heads.append((best[0], best[1], failing & gone))
        if how == 0:
            passing = passing - gone
        elif how == 2:
            passing = passing | failing & gone
        failing = failing - gone
    return heads


def clusters_of(predicates, heads, failing, passing, z):
    clusters = [[] for _ in heads]
    chosen = [head for head, _, _ in heads]
    for predicate in predicates:
        values = numbers(predicate, failing, passing, z)[1]
        if predicate in chosen or not predicate.is_strongest() or not predicts(values):
            continue
        mine = predicate.true & failing
        shares = [fractions.Fraction(len(mine & head.true), len(mine | head.true & failing)) for head in chosen]
        if shares and max(shares) > 0:
            clusters[shares.index(max(shares))].append((-values[4], predicate))
    return [[head] + [p for _, p in sorted(members, key=lambda pair: pair[0])] for head, members in zip(chosen, clusters)]


# ---- Comparison

class Differences:
    def __init__(self):
        self.count = 0

    def check(self, what, ours, theirs):
        same = ours == theirs
        if isinstance(ours, float) and not same:
            same = math.isclose(ours, theirs, rel_tol=1e-11, abs_tol=1e-13)
        if not same:
            self.count += 1
            if self.count <= 10:
                print(f"{what}: {theirs}, expected {ours}")


def compare_predictor(out, what, predicate, theirs, failing, passing, z):
    counts, values = numbers(predicate, failing, passing, z)
    out.check(what, predicate.key(), (theirs["module"], theirs["site"], theirs["predicate"]))
    out.check(f"{what} counts", counts, theirs["counts"])
    out.check(f"{what} redundant", len(predicate.same), theirs["redundant"])
    names = ("failure", "context", "increase", "increase_low", "importance", "ochiai", "tarantula")
    for name, ours, value in zip(names, values, theirs["numbers"]):
        out.check(f"{what} {name}", float(ours), value)


def compare(arguments):
    modules, runs = read_runs(arguments.runs, arguments.sites)
    result = json.load(open(arguments.result))
    failing = {r for r, run in enumerate(runs) if run["outcome"] == FAILED}
    passing = {r for r, run in enumerate(runs) if run["outcome"] == PASSED}
    predicates = predicates_of(modules, runs)
    z = statistics.NormalDist().inv_cdf((1 + arguments.confidence) / 2)
    out = Differences()
    out.check("failing", len(failing), result["failing"])
    out.check("passing", len(passing), result["passing"])
    out.check("candidates", sum(bool(p.true & failing) for p in predicates), result["candidates"])
    out.check("complete", True, result["complete"])
    out.check("predicates", len(predicates), len(result["predicates"]))
    for predicate, theirs in zip(predicates, result["predicates"]):
        compare_predictor(out, f"predicate {predicate.key()}", predicate, theirs, failing, passing, z)
    heads = eliminate(predicates, failing, passing, z, arguments.elimination, arguments.most)
    clusters = clusters_of(predicates, heads, failing, passing, z)
    out.check("unexplained", len(failing) - sum(len(explained) for _, _, explained in heads), result["unexplained"])
    out.check("clusters", len(clusters), len(result["clusters"]))
    for number, (cluster, head, theirs) in enumerate(zip(clusters, heads, result["clusters"])):
        out.check(f"cluster {number} failing", len(head[2]), theirs["failing"])
        out.check(f"cluster {number} length", len(cluster), len(theirs["predictors"]))
        out.check(f"cluster {number} head importance", head[1], theirs["predictors"][0]["head"][0])
        out.check(f"cluster {number} head failing", len(head[2]), theirs["predictors"][0]["head"][1])
        for predicate, predictor in zip(cluster, theirs["predictors"]):
            compare_predictor(out, f"cluster {number}", predicate, predictor, failing, passing, z)
    print(f"{len(runs)} runs, {len(predicates)} predicates, {len(clusters)} clusters of "
          f"{[len(cluster) for cluster in clusters]}: {out.count} differences")
    return 1 if out.count else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["compare"])
    parser.add_argument("runs")
    parser.add_argument("result")
    parser.add_argument("--sites")
    parser.add_argument("--elimination", type=int, default=0)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--confidence", type=float, default=0.95)
    return compare(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
