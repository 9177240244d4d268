# SPDX-License-Identifier: Apache-2.0
"""The seeded programs: their truth, their variants, their runs.

A program's source says nothing of its bug. truth.json does: where it is, and what to replace, one
line at a time, to have it repaired ("fix") or noted when it takes effect ("note"). Variants:

    plain     as it is
    fixed     every bug repaired
    only-K    every bug but K repaired
    truth     as it is, noting bugs (note.h)
"""

import importlib.util
import json
import os
import re
import resource
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = os.environ.get("SEEDED_CC", "clang-19")
LIMIT = 10  # seconds a run


class Trouble(Exception):
    pass


def names():
    return sorted(n for n in os.listdir(HERE) if os.path.exists(os.path.join(HERE, n, "truth.json")))


class Program:
    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(HERE, name)
        with open(os.path.join(self.folder, "truth.json")) as file:
            self.truth = json.load(file)
        self.bugs = self.truth["bugs"]
        self.files = self.truth["files"]
        self.by_output = self.truth["oracle"] == "output"
        spec = importlib.util.spec_from_file_location(f"gen_{name}", os.path.join(self.folder, "gen.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._generate = module.generate

    def generate(self, seed):
        args, data = self._generate(seed)
        return args, data.encode() if isinstance(data, str) else data

    def text(self, file):
        with open(os.path.join(self.folder, file)) as source:
            return source.read()

    def sources(self, variant):
        """The text of each file: replaced line by line, so that line numbers stay."""
        texts = {file: self.text(file) for file in self.files}
        for bug in self.bugs:
            if variant == "fixed" or (variant.startswith("only-") and variant != f"only-{bug['id']}"):
                edits = bug["fix"]
            elif variant == "truth":
                edits = bug["note"]
            else:
                continue
            for edit in edits:
                file = edit.get("file", bug["file"])
                texts[file] = replace(self.name, texts[file], edit["from"], edit["to"])
        if variant == "truth":
            texts = {f: '#include "note.h"\n#line 1\n' + t if f.endswith(".c") else t
                     for f, t in texts.items()}
        return texts

    def build(self, variant, flags, output):
        folder = output + ".src"
        os.makedirs(folder, exist_ok=True)
        for file, text in self.sources(variant).items():
            with open(os.path.join(folder, file), "w") as copy:
                copy.write(text)
        sources = [os.path.join(folder, f) for f in self.files if f.endswith(".c")]
        command = [CLANG, "-std=gnu17", "-g", *flags, "-I", HERE, "-o", output, *sources,
                   *self.truth.get("libraries", [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            raise Trouble(f"{self.name}: {' '.join(command)}:\n{done.stderr}")
        return output

    def fails(self, outcome, reference):
        """reference: the outcome of the fixed variant, which decides if output is judged."""
        status, output = outcome
        return status != 0 or (self.by_output and output != reference[1])


def replace(name, text, old, new):
    if old.count("\n") != new.count("\n") or text.count(old) != 1:
        raise Trouble(f"{name}: '{old}' is {text.count(old)} times in the source, or lines would move")
    return text.replace(old, new)


def line_of(text, edit):
    """The first line that an edit changes."""
    same = os.path.commonprefix([edit["from"], edit["to"]])
    return (text[:text.index(edit["from"])] + same).count("\n") + 1


def run(executable, args, data, truth=None):
    """Status (negative: a signal) and standard output."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
    if truth is not None:
        environment["SEEDED_TRUTH"] = truth
        if os.path.exists(truth):
            os.unlink(truth)
    environment["ASAN_OPTIONS"] = "detect_leaks=1:exitcode=99"
    environment["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=99"
    try:
        done = subprocess.run([executable, *args], input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=environment, timeout=LIMIT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM, b""


def notes(truth):
    if not os.path.exists(truth):
        return set()
    with open(truth) as file:
        return {int(line) for line in file.read().split()}


def no_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def calls(program):
    """For every function: the functions of the program that its body names, at -O0."""
    graph = {}
    for file in program.files:
        if not file.endswith(".c"):
            continue
        done = subprocess.run([CLANG, "-std=gnu17", "-O0", "-S", "-emit-llvm", "-o", "-",
                               os.path.join(program.folder, file)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Trouble(done.stderr)
        current = None
        for line in done.stdout.splitlines():
            if line.startswith("define "):
                current = re.search(r"@([\w.]+)\(", line).group(1)
                graph.setdefault(current, set())
            elif line == "}":
                current = None
            elif current is not None:
                graph[current].update(re.findall(r"@([A-Za-z_][\w.]*)", line))
    return {name: sorted(n for n in called if n in graph and n != name)
            for name, called in graph.items()}


def derived(program):
    """What truth.json says of each bug that follows from the source: its lines, its neighbours."""
    graph = calls(program)
    result = []
    for bug in program.bugs:
        text = program.text(bug["file"])
        lines = sorted({line_of(text, edit) for edit in bug["fix"]
                        if edit.get("file", bug["file"]) == bug["file"]})
        for function in bug["functions"]:
            if function not in graph:
                raise Trouble(f"{program.name}: no function '{function}'")
        callers = {f for f, called in graph.items() if set(called) & set(bug["functions"])}
        callers |= set(bug.get("indirect_callers", []))
        callees = {c for f in bug["functions"] for c in graph[f]} | set(bug.get("indirect_callees", []))
        result.append({"lines": lines, "callers": sorted(callers - set(bug["functions"])),
                       "callees": sorted(callees - set(bug["functions"]))})
    return result
