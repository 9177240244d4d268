#!/usr/bin/env python3
"""Compares what inquest reads out of GraphML files and their failure reports with a reading of its
own (xml.etree), node by node.

    tests/cli/graphml_cases.py INQUEST CASES

CASES holds folders with cfg.graphml.gz and report.json (docs/formats/graphml.md). Prints what
differs, and at the end how much was compared.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


class Graph:
    """The part of a file that is a control-flow graph."""

    def __init__(self, path):
        root = ElementTree.fromstring(gzip.open(path).read())
        defaults = {"node": {}, "edge": {}}
        for key in root.iter(GRAPHML + "key"):
            default = key.find(GRAPHML + "default")
            if default is not None:
                defaults[key.get("for")][key.get("id")] = default.text.strip()
        self.nodes, self.flow, self.calls = {}, set(), set()
        for node in root.iter(GRAPHML + "node"):
            self.nodes[node.get("id")] = dict(defaults["node"], **self.data(node))
        for edge in root.iter(GRAPHML + "edge"):
            data = dict(defaults["edge"], **self.data(edge))
            kind = data["type"], data["scope"]
            ends = edge.get("source"), edge.get("target")
            if kind == ("flow", "intraprocedural"):
                self.flow.add(ends)
            elif kind == ("control", "interprocedural"):
                self.calls.add(ends)
        used = {end for edge in self.flow for end in edge}
        self.nodes = {id: data for id, data in self.nodes.items() if id in used}
        self.entries = {id: data["procedure"] for id, data in self.nodes.items()
                        if data["kind"] == "entry"}

    @staticmethod
    def data(element):
        return {data.get("key"): data.text for data in element.findall(GRAPHML + "data")}

    def entry_of(self, node):
        return node.rsplit(":", 1)[0] + ":1"

    def line_of(self, node):
        number = int(re.search(r"\d+", self.nodes[node].get("lines", "(0)"))[0])
        return number if "file" in self.nodes[self.entry_of(node)] else 0


class Check:
    def __init__(self, case):
        self.case, self.wrong = case, 0

    def same(self, what, ours, expected):
        if ours != expected:
            self.wrong += 1
            print(f"{self.case}: {what}: {ours!r}, not {expected!r}")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def compare_model(check, graph, model):
    functions = model["functions"]
    entry_of_function = {function["id"]: function["nodes"][0]["name"] for function in functions}
    nodes, flow, calls = {}, [], []
    for function in functions:
        names = [node["name"] for node in function["nodes"]]
        check.same("entry", graph.nodes[names[0]]["kind"], "entry")
        check.same("procedure", function["function"], graph.entries[names[0]])
        for node in function["nodes"]:
            nodes[node["name"]] = node
            check.same("function", graph.entry_of(node["name"]), names[0])
            flow += [(node["name"], names[target]) for target in node["successors"]]
            calls += [(node["name"], entry_of_function[callee])
                      for callee in node.get("call", {}).get("callees", [])]
    check.same("nodes", sorted(nodes), sorted(graph.nodes))
    check.same("flow edges", sorted(flow), sorted(graph.flow))
    check.same("call edges", sorted(calls), sorted(graph.calls))
    for name, node in nodes.items():
        kind = graph.nodes[name]["kind"]
        check.same("call-site", "call" in node, kind == "call-site")
        check.same("exit", "return" in node["flags"], kind == "exit")
        check.same("line", node["line"] or 0, graph.line_of(name))
    check.same("roots", [root["function"] for root in model["roots"]], ["main"])
    return len(nodes), len(flow), len(calls)


def compare_report(check, model, report, evidence):
    module = evidence["images"][0]["modules"][0]
    names = {}
    for index, function in enumerate(model["functions"]):
        for node in function["nodes"]:
            names[f"{module}:{index}:{node['node']}"] = node["name"]
    frames = [sorted(names[f"{frame['module']}:{frame.get('index', 0)}:{node}"]
                     for node in frame["candidates"])
              for frame in evidence["threads"][0]["frames"]]
    stack = [call["call"] for call in report.get("stack", [])]
    check.same("frames", frames, [sorted(report["crash"])] + [sorted(call) for call in stack[::-1]])
    check.same("whole", evidence["threads"][0]["whole"], True)
    check.same("interrupted", [frame.get("interrupted", False)
                               for frame in evidence["threads"][0]["frames"]],
               [True] + [False] * len(stack))
    observations = [(one["kind"], [[names[point] for point in entry] for entry in one["entries"]])
                    for one in evidence["observations"]]
    expected = [("ran", trace["entries"]) for trace in report.get("obsYes", [])]
    expected += [("not-all", [nodes]) for nodes in report.get("obsNo", [])]
    check.same("observations", observations, expected)


def main(inquest, folder):
    cases = sorted(name for name in os.listdir(folder)
                   if os.path.exists(os.path.join(folder, name, "cfg.graphml.gz")))
    totals, wrong = (0, 0, 0), 0
    for case in cases:
        cfg, report = (os.path.join(folder, case, name) for name in ("cfg.graphml.gz", "report.json"))
        check = Check(case)
        model = json.loads(run(inquest, "dump", cfg, "--json"))
        counts = compare_model(check, Graph(cfg), model)
        totals = tuple(sum(pair) for pair in zip(totals, counts))
        with open(report, encoding="utf-8") as file:
            compare_report(check, model, json.load(file), json.loads(run(inquest, "report", cfg, report)))
        wrong += check.wrong
    print(f"{len(cases)} cases: {totals[0]} nodes, {totals[1]} flow edges, {totals[2]} call edges, "
          f"{wrong} differences")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
