# SPDX-License-Identifier: Apache-2.0
"""Dynamic slices of real crashes: the tracing twin of a program, its run, what the failure depended
on, and the comparison with what `inquest slice` says."""

import json
import os
import subprocess

import crash
import dep_points_to
from binary import Binary
from build import HERE, BuildError, Shipped, Tools, digest, run

PLUGIN = ("dep_plugin.cc", "log_plugin.cc")
RUNTIME = ("dep_runtime.c", "dep_library.c")
RUNTIME_HEADERS = ("dep_runtime.h", "dep_trace.h")
SLICER = ("dep_slice.c", "dep_output.c", "dep_graph.c", "dep_shadow.c", "dep_table.c",
          "dep_trace.c")
SLICER_HEADERS = ("dep_output.h", "dep_graph.h", "dep_shadow.h", "dep_table.h", "dep_trace.h")


class DepTools(Tools):
    """Of build.Tools only what tracing needs; `opt` has the passes of dep_plugin.cc."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.inquest = os.path.join(build, "bin", "inquest")
        self.inquest_cc = os.path.join(build, "bin", "inquest-cc")
        self.inquest_cxx = os.path.join(build, "bin", "inquest-c++")
        # also of what is linked with the tracing twin: it is made anew with either
        self.plugin_hash = digest(os.path.join(build, "lib", "inquest", "inquest-plugin.so"),
                                  self.inquest_cc, *[os.path.join(HERE, n)
                                                     for n in RUNTIME + RUNTIME_HEADERS])
        os.makedirs(folder, exist_ok=True)
        self.passes = self._make_of(PLUGIN, ".so", lambda s, o: self._plugin(s[0], o))
        self.inject_runtime = self._make("inject_runtime.c", ".o", self._object)
        self.runtime = [self._make_of((name, *RUNTIME_HEADERS), ".o", lambda s, o: self._object(s[0], o))
                        for name in RUNTIME]
        self.slicer = self._make_of(SLICER + SLICER_HEADERS, "", self._link)

    def _make_of(self, names, suffix, make):
        """As _make, of several files: the first gives the name."""
        sources = [os.path.join(HERE, n) for n in names]
        out = os.path.join(self.folder, f"{os.path.splitext(names[0])[0]}-{digest(*sources)}{suffix}")
        if not os.path.exists(out):
            unfinished = f"{out}.{os.getpid()}"
            make(sources, unfinished)
            os.rename(unfinished, out)
        return out

    def _link(self, sources, out):
        run(["clang-19", "-O2", *[s for s in sources if s.endswith(".c")], "-o", out])

    def opt(self, passes, source, out, **variables):
        quiet = "truth-quiet" if passes == "truth-inject" else passes
        super().opt(quiet, source, out, **variables)


class Traced(Shipped):
    """A program that ships, and its tracing twin in the place of the logging one."""

    _points_to = None

    def _log(self):
        tools, objects = self.tools, []
        for k, (ident, bitcode) in enumerate(Binary(self.exe).models()):
            base = os.path.join(self.folder, f"model{k}")
            with open(base + ".bc", "wb") as file:
                file.write(bitcode)
            tools.opt("truth-dep", base + ".bc", base + ".dep.bc", TRUTH_MODULE=str(k),
                      TRUTH_TABLE=f"{base}.{ident:016x}.dep")
            run(["clang-19", "-O0", "-Wno-override-module", "-fPIC", "-c", base + ".dep.bc", "-o",
                 base + ".o"])
            objects.append(base + ".o")
            os.unlink(base + ".bc")
            os.unlink(base + ".dep.bc")
        if self.inject:
            objects.append(tools.inject_runtime)
        run(["clang++-19" if self.program.cxx else "clang-19", *objects, *tools.runtime,
             *self.program.ldflags, "-ldl", "-o", self.logger], cwd=self.program.folder)

    def tables(self):
        """[(module id, path)] in link order."""
        names = [n for n in os.listdir(self.folder) if n.startswith("model") and n.endswith(".dep")]
        names.sort(key=lambda n: int(n[5:n.index(".")]))
        return [(int(n.split(".")[1], 16), os.path.join(self.folder, n)) for n in names]

    def points_to(self):
        if self._points_to is None:
            self._points_to = dep_points_to.read(self.tools, self.exe)
        return self._points_to

    def _ship(self):
        for _, path in self.tables():
            os.unlink(path)
        super()._ship()


class Slice:
    """insns: {(module id, function, node, instruction)}; lines: {(file, line)}."""

    def __init__(self, text, idents):
        item = json.loads(text)
        self.idents = idents
        self.insns = {self._name(i) for i in item["insns"]}
        self.lines = {(os.path.realpath(f), n) for f, n in item["lines"]}
        self.stack = [(f["function"], self._name(f["insn"])) for f in item["stack"]]
        self.accesses, self.unknown = item["accesses"], item["unknown"]
        self.records, self.instances, self.marked = item["records"], item["instances"], item["marked"]
        self.vague = item["vague"]

    def _name(self, numbers):
        return (self.idents[numbers[0]], *numbers[1:])

    @property
    def nodes(self):
        return {i[:3] for i in self.insns}

    def identity(self, access):
        """An object as the program's text has it: ("global", module, name), ("local", module, alloca),
        ("heap", module, call, calls around it)."""
        if access["kind"] == "global":
            return ("global", self.idents[access["module"]], access["name"])
        module, _, _, insn = access["insn"]
        identity = (access["kind"], self.idents[module], insn)
        if access["kind"] == "heap":
            identity += (tuple((self.idents[o[0]], o[3]) for o in access["outer"]),)
        return identity

    def touched(self, writes):
        """{(module id, instruction): {identity: [(offset, length)]}} of all reads, or writes. Left out:
        what belongs to nobody that is known (the library, argv, where an injected fault went), and what
        was freed."""
        out = {}
        for access in self.accesses:
            at = self._name(access["at"])
            if access["writes"] == writes and access["kind"] != "other" and not access["stale"]:
                out.setdefault((at[0], at[3]), {})[self.identity(access)] = access["spans"]
        return out


def fails(traced, arguments, text, variables):
    """Does the program that ships die of a signal? Leaves no core."""
    with crash.Scratch() as folder:
        done = subprocess.run([traced.program.name, *arguments], executable=traced.exe, input=text,
                              capture_output=True, cwd=folder,
                              env=crash.environment(traced.program, **variables),
                              preexec_fn=crash.no_cores, timeout=crash.LIMIT)
    return done.returncode < 0


def run_tracer(traced, arguments, text, variables, folder):
    """(signal, path of the trace)."""
    path = os.path.join(folder, "trace")
    done = subprocess.run([traced.program.name, *arguments], executable=traced.logger, input=text,
                          capture_output=True, cwd=folder,
                          env=crash.environment(traced.program, TRUTH_LOG=path, **variables),
                          preexec_fn=crash.no_cores, timeout=crash.LIMIT)
    return -done.returncode if done.returncode < 0 else 0, path


def dynamic_slice(traced, path, has_failed=True):
    tables = traced.tables()
    done = subprocess.run([traced.tools.slicer, path, *[p for _, p in tables]], capture_output=True,
                          text=True)
    os.unlink(path)
    if done.returncode != 0 and "is full" in done.stderr:
        raise crash.Unusable("the trace is full")
    if done.returncode != 0 and "several threads" in done.stderr:
        raise crash.Unusable("several threads")
    if done.returncode != 0:
        raise BuildError(f"dep_slice: {done.returncode}: {done.stderr[-500:]}")
    found = Slice(done.stdout, [ident for ident, _ in tables])
    if has_failed and (found.vague or not found.stack):
        raise crash.Unusable("the trace does not tell what failed")
    return found


def same_place(evidence, found):
    """Does the core stand where the trace ends?"""
    frame = next((f for f in evidence.crashed.frames if f.kind == "model"), None)
    _, (module, function, node, _) = found.stack[0]
    return frame is not None and (frame.module, frame.index) == (module, function) \
        and node in frame.candidates


# ---------------------------------------------------------------- comparison

class StaticSlice:
    """`inquest slice EXE CORE --json`: lines[] of file and line, nodes[] of module, index (of the
    function), node and insns[] (numbers in the module)."""

    def __init__(self, text):
        item = json.loads(text)
        self.complete = item["complete"]
        self.stack, self.static = [(item[k + "_nodes"], item[k + "_lines"]) for k in ("stack", "static")]
        self.lines = {(os.path.realpath(l["file"]), l["line"]) for l in item["lines"]}
        self.nodes, self.insns = set(), set()
        for n in item["nodes"]:
            node = (int(n["module"], 16), n["index"], n["node"])
            self.nodes.add(node)
            self.insns |= {(*node, i) for i in n.get("insns", [])}


def static_slice(tools, exe, core, options=()):
    done = subprocess.run([tools.inquest, "slice", exe, core, "--json", *options],
                          capture_output=True, text=True, timeout=crash.LIMIT)
    if done.returncode not in (0, 3):
        if "which was guessed" in done.stderr:  # the stack is lost: it says so, and slices nothing
            raise crash.Unusable("no frame is certain")
        raise crash.Trouble(f"inquest slice: exit status {done.returncode}: {done.stderr[-500:]}")
    found = StaticSlice(done.stdout)
    if found.complete != (done.returncode == 0):
        raise crash.Trouble(f"inquest slice: exit status {done.returncode}, and 'complete' is "
                            f"{found.complete}")
    if not found.complete and "--time" not in options:
        raise crash.Trouble("inquest slice: not complete, without a budget")
    return found


def slice_problems(found, static):
    """[(kind, text)]: what the failure depended on and the static slice does not have."""
    problems = []
    for file, line in sorted(found.lines - static.lines):
        problems.append(("line", f"{file}:{line}"))
    for module, function, node in sorted(found.nodes - static.nodes):
        problems.append(("node", f"module {module:016x} function {function} node {node}"))
    if static.insns:
        for module, function, node, insn in sorted(found.insns - static.insns):
            problems.append(("insn", f"module {module:016x} function {function} node {node} insn {insn}"))
    return problems


SMALL_BUDGETS = ("1ms", "30ms", "150ms")


def wider_problems(tools, exe, core, restricted):
    """The slice of any run has that of the stack, which has the one of this run."""
    stack = static_slice(tools, exe, core, ["--stack", "--quick"])
    static = static_slice(tools, exe, core, ["--static", "--quick"])
    problems = []
    for name, inner, outer in (("--stack", restricted, stack), ("--static", stack, static)):
        for field in ("lines", "nodes", "insns"):
            beyond = getattr(inner, field) - getattr(outer, field)
            if beyond:
                problems.append((f"not in {name}", f"{len(beyond)} {field}: {sorted(beyond)[0]}"))
    # its own are of the same criterion, which may have fewer places where the failure can have been
    for name, wider, sizes in (("stack", stack, restricted.stack), ("static", static, restricted.static)):
        if not len(restricted.nodes) <= sizes[0] <= len(wider.nodes) or \
                not len(restricted.lines) <= sizes[1] <= len(wider.lines):
            problems.append(("size", f"{sizes} nodes and lines of --{name} do not fit"))
    return problems


def budget_problems(tools, exe, core, found, restricted, budget):
    """An answer that was cut short is too large, and says so."""
    short = static_slice(tools, exe, core, ["--quick", "--time", budget])
    problems = [(f"--time {budget}: {kind}", text) for kind, text in slice_problems(found, short)]
    for field in ("lines", "nodes", "insns"):
        if getattr(restricted, field) - getattr(short, field):
            problems.append(("budget", f"fewer {field} with --time {budget}"))
        if short.complete and getattr(restricted, field) != getattr(short, field):
            problems.append(("budget", f"other {field} with --time {budget}, which was enough"))
    return problems


def crash_sliced(traced, arguments, text, oracle_only, number, **variables):
    """(dynamic slice, static slice or None, problems) of one crash. number: which of the small budgets
    is tried."""
    with crash.Scratch() as folder:
        core, failure = crash.run_shipped(traced, arguments, text, variables, folder)
        traced_signal, path = run_tracer(traced, arguments, text, variables, folder)
        if failure != traced_signal:
            raise crash.Unusable(f"the tracing build ended with signal {traced_signal}, "
                                 f"the program with {failure}")
        found = dynamic_slice(traced, path)
        evidence = crash.report(traced.tools, traced.exe, core)
        if not same_place(evidence, found):
            raise crash.Unusable("the tracing build failed elsewhere")
        if oracle_only:
            return found, None, []
        tools, exe = traced.tools, traced.exe
        static = static_slice(tools, exe, core)
        problems = slice_problems(found, static) + dep_points_to.problems(found, traced.points_to()) + \
            wider_problems(tools, exe, core, static) + \
            budget_problems(tools, exe, core, found, static, SMALL_BUDGETS[number % len(SMALL_BUDGETS)])
        return found, static, problems


def run_checked(traced, arguments, text):
    """(the run, problems): accesses outside points-to, of a run that need not fail."""
    with crash.Scratch() as folder:
        _, path = run_tracer(traced, arguments, text, {}, folder)
        found = dynamic_slice(traced, path, False)
        return found, dep_points_to.problems(found, traced.points_to())
