# SPDX-License-Identifier: Apache-2.0
"""Crashes one program for real and holds the evidence against the truth."""

import fnmatch
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import zlib

import check
import coverage
import lines
from binary import plain_name
from evidence import Evidence
from log import ENTER, THREAD, Log, Replay

# Library functions that may call back into the program, or leave by another way than they came.
# The stepper has to follow them.
CALLERS = re.compile(r"^(qsort(_r)?|bsearch|l(find|search)|t(walk|search|find|delete)|hsearch|ftw|nftw|"
                     r"scandir|glob|dl_iterate_phdr|atexit|on_exit|exit|quick_exit|raise|kill|"
                     r"signal|sigaction|pthread_.*|thrd_.*|call_once|"
                     r"_?(sig)?longjmp|__longjmp_chk|_Unwind_.*|__cxa_.*|swapcontext|makecontext|dl.*)$")

CORE_SIGNALS = [signal.SIGQUIT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                signal.SIGABRT, signal.SIGSYS, signal.SIGXCPU]


LIMIT = 300  # seconds; the machine may be busy


class Unusable(Exception):
    """No verdict: the crash did not happen as meant (not a contradiction)."""


class Trouble(Exception):
    """inquest itself failed on a good core."""


def default_signals():
    """Programs ask which signals are ignored (gzip does); a shell's background job ignores some, and
    the stepper's and the logging build's runs have to be alike."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def core_problem():
    """Why the kernel leaves no core in the working directory; None where it does."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith(("|", "/")) or not pattern.startswith("core"):
        return f"/proc/sys/kernel/core_pattern is '{pattern}': cores do not come to the working directory"
    return None


def environment(program, **more):
    keep = {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_BIND_NOW": "1"}
    return {**keep, **program.environment, **more}


def unlimit_cores():
    """In the child: cores are wanted, and no signal is ignored, as a background shell has it."""
    for number in (signal.SIGQUIT, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def report(tools, exe, core, options=()):
    done = subprocess.run([tools.inquest, "report", exe, core, *options], capture_output=True,
                          text=True, timeout=300)
    if done.returncode != 0:
        raise Trouble(f"inquest report: exit status {done.returncode}: {done.stderr[-500:]}")
    return Evidence(done.stdout)


def timed(make):
    """A run that takes too long gives no verdict."""
    def wrapped(*arguments):
        try:
            return make(*arguments)
        except subprocess.TimeoutExpired:
            raise Unusable(f"it took longer than {LIMIT} s") from None
    return wrapped


@timed
def run_shipped(shipped, arguments, text, variables, folder):
    """Runs until it dies; the core's name and the signal."""
    done = subprocess.run([shipped.program.name, *arguments], executable=shipped.exe, input=text,
                          capture_output=True, cwd=folder,
                          env=environment(shipped.program, **variables), preexec_fn=unlimit_cores,
                          timeout=LIMIT)
    cores = glob.glob(os.path.join(folder, "core*"))
    if done.returncode >= 0:
        raise Unusable("it did not crash")
    if not cores:
        raise Unusable("no core was left")
    return cores[0], -done.returncode


def no_cores():
    """In the child: its core would take the place of the one that is looked at."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@timed
def run_logger(shipped, arguments, text, variables, folder):
    path = os.path.join(folder, "log")
    done = subprocess.run([shipped.program.name, *arguments], executable=shipped.logger, input=text,
                          capture_output=True, cwd=folder,
                          env=environment(shipped.program, TRUTH_LOG=path, **variables),
                          preexec_fn=no_cores, timeout=LIMIT)
    log = Log(path)
    os.unlink(path)
    if log.overflow:
        raise Unusable("the log is full")
    return log, -done.returncode if done.returncode < 0 else 0


class Scratch:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="truth-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


# ---------------------------------------------------------------- oracle A: the logging twin

def thread_problems(table, evidence, replay):
    """Of a program whose threads take turns (threads/turns.h): each thread of the evidence against that of
    the log. Both in the order of creation, which numbers of threads give; those that have ended are in neither."""
    live = sorted((ident, stack) for ident, stack in replay.stacks.items() if stack)
    with open("/proc/sys/kernel/pid_max") as file: # numbers begin anew behind it
        most = int(file.read())
    told = sorted((t for t in evidence.threads if not t.whole or any(f.kind == "model" or f.gap for f in t.frames)),
                  key=lambda t: (t.tid - evidence.item["pid"]) % most)
    if len(live) != len(told):
        return [("threads", f"evidence has {len(told)} threads in the program, there were {len(live)}")]
    problems = []
    for k, ((ident, stack), thread) in enumerate(zip(live, told)):
        problems += [(group, f"thread {k}: {text}") for group, text in check.stack_problems(table, thread, stack)]
        if thread.crashed != (ident == replay.last_thread):
            problems.append(("threads", f"thread {k} is told {'' if thread.crashed else 'not '}to have failed"))
    return problems


def final_problems(table, evidence, log, threads=False):
    """Which thread failed is not in the log unless they take turns (`threads`): with several, the one that
    fits best is taken."""
    replay = Replay(log).run_to_end()
    stacks = [s for s in replay.stacks.values() if s]
    if not stacks:
        raise Unusable("nothing was active when the logging build ended")
    if threads:
        problems = thread_problems(table, evidence, replay)
    else:
        problems = min((check.stack_problems(table, evidence.crashed, s) for s in stacks), key=len)
    window = check.coverage_window(table, evidence, log.first_calls(table))
    return problems + check.coverage_problems(window, log.length)


def repeats(shipped, arguments, text, variables, folder, log):
    """Does the program do the same once more, at other addresses?"""
    again, _ = run_logger(shipped, arguments, text, {**variables, "TRUTH_PADDING": "x" * 4321}, folder)
    threads = {w for w in range(0, len(log.words), 2) if log.words[w + 1] >> 29 == THREAD}
    return len(log.words) == len(again.words) and all(
        a == b or i in threads for i, (a, b) in enumerate(zip(log.words, again.words)))


def counting_run(shipped, arguments, text, variables, folder):
    """A function that runs another build of the program; the signal that ended it."""
    @timed
    def run(exe, more):
        done = subprocess.run([shipped.program.name, *arguments], executable=exe, input=text, capture_output=True, cwd=folder,
                              env=environment(shipped.program, **variables, **more), preexec_fn=no_cores, timeout=LIMIT)
        return -done.returncode
    return run


def counted_problems(shipped, arguments, text, variables, folder, answer, evidence, log):
    """Against clang's counters. No verdict where that build fails otherwise, or where two runs differ."""
    run = counting_run(shipped, arguments, text, variables, folder)
    problems = lines.problems(shipped, answer, evidence, log, run, folder)
    if problems and not repeats(shipped, arguments, text, variables, folder, log):
        problems = None
    if problems is None:
        lines.COUNT["unusable"] += 1
    return problems or []


def solvers_wanted():
    return coverage.SOLVERS if coverage.wanted() else ("vpa",) if lines.wanted() else ()


def crash_logged(shipped, arguments, text, **variables):
    """(evidence, problems) of one deterministic crash."""
    with Scratch() as folder:
        core, number = run_shipped(shipped, arguments, text, variables, folder)
        log, logged = run_logger(shipped, arguments, text, variables, folder)
        if number != logged:
            raise Unusable(f"the logging build ended with signal {logged}, the program with {number}")
        evidence = report(shipped.tools, shipped.exe, core)
        problems = final_problems(shipped.table, evidence, log, shipped.program.threads)
        if problems and not repeats(shipped, arguments, text, variables, folder, log):
            raise Unusable("two runs of the logging build differ")
        answers = coverage.ask_all(shipped, core, evidence, (arguments, variables), solvers_wanted())
        if coverage.wanted():
            problems += coverage.problems(shipped, answers, coverage.first_nodes(log), log.length, log.length)
        if lines.wanted():
            answer, trouble = answers["vpa"]
            problems += [("lines", trouble)] if trouble else \
                counted_problems(shipped, arguments, text, variables, folder, answer, evidence, log)
        if evidence.signal != number:
            problems.append(("signal", f"died of signal {number}, evidence says {evidence.signal}"))
        if problems and os.environ.get("TRUTH_KEEP"):
            shutil.copy(core, os.path.join(os.environ["TRUTH_KEEP"], "core"))
        return evidence, problems


# ---------------------------------------------------------------- oracle B: single steps

def write_plan(shipped, path, stops, limit, follow):
    binary, names = shipped.binary, shipped.entered_names()
    low, high = binary.section_range(".text")
    lines = [f"image {os.path.realpath(shipped.exe)}", f"first {binary.first_load:x}",
             f"main {binary.symbols['main']:x}", f"text {low:x} {high:x}", f"limit {limit}", f"random {follow}"]
    there = {name for _, _, name, _ in binary.functions}
    for start, end, name, _ in binary.functions:
        # the entry of what is off leads to its plain copy at once, and that is what counts
        if shipped.off and f"{name}.inquest.plain" in there and fnmatch.fnmatch(name, shipped.off):
            continue
        if plain_name(name) in names or name in names:
            lines.append(f"function {start:x} {end:x}")
    for address, name in binary.plt_entries.items():
        if CALLERS.match(name.split("@")[0]):
            lines.append(f"through {address:x}")
    lines += [f"stop {step} {number}" for step, number in stops]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


class Stop:
    def __init__(self, line):
        fields = line.split()
        self.core, self.step, self.signal = fields[1], int(fields[3]), int(fields[5])
        self.pc, self.sp, self.entries = int(fields[7], 16), int(fields[9], 16), int(fields[11])
        self.stack = [int(f, 16) for f in fields[13:]]


def read_stops(folder):
    base, stops, ended = 0, [], None
    with open(os.path.join(folder, "steps")) as file:
        for line in file:
            if line.startswith("base"):
                base = int(line.split()[1], 16)
            elif line.startswith("core"):
                stops.append(Stop(line))
            elif line.startswith("end exit"):
                ended = int(line.split()[-2])
    return base, stops, ended


def symbolize(exe, addresses):
    """{address: [(function, discriminator)] innermost first}."""
    out, addresses = {}, sorted(set(addresses))
    text = "".join(f"{a:#x}\n" for a in addresses)
    done = subprocess.run(["llvm-symbolizer-19", f"--obj={exe}", "--inlines", "--output-style=JSON"],
                          input=text, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        item = json.loads(line)
        out[int(item["Address"], 16)] = [(s["FunctionName"], s.get("Discriminator", 0))
                                         for s in item.get("Symbol", [])]
    return out


def logged_entries(shipped, log):
    """[(name, position)] of the functions whose entries show in the machine code, from main on."""
    names, table, found, words = shipped.entered_names(), shipped.table, [], log.words
    for i in range(log.length):
        event = words[2 * i + 1]
        if event >> 29 == ENTER:
            name = table.function(event & 0x1FFFFFFF).name
            if found or name == "main":
                if name in names:
                    found.append((name, i))
    return found


def entry_positions(shipped, log, entered):
    """For each number of entries that the stepper has counted, from 1 (main's own) on: where in the log
    the last of them stands, and where the next one. Both must have seen the same entries; a function
    whose entries do not all show after all (inlined without a trace in debug information) is left
    out, which makes windows wider and nothing else."""
    at_address = {low: plain_name(name) for low, _, name, _ in shipped.binary.functions}
    stepped = [at_address[e] for e in entered]
    logged = logged_entries(shipped, log)
    left_out = set()
    while True:
        mine = [n for n in stepped if n not in left_out]
        theirs = [e for e in logged if e[0] not in left_out]
        wrong = next((k for k, n in enumerate(mine) if k >= len(theirs) or theirs[k][0] != n), None)
        if wrong is None:
            break
        if wrong >= len(theirs) or len(left_out) == 12 or theirs[wrong][0] == "main":
            raise Unusable(f"entry {wrong}: the program entered '{mine[wrong]}', the logging build "
                           f"{repr(theirs[wrong][0]) if wrong < len(theirs) else 'had ended'}")
        left_out.add(theirs[wrong][0])
    windows, count = [None], 0
    for name in stepped:
        count += name not in left_out
        windows.append((theirs[count - 1][1],
                        theirs[count][1] if count < len(theirs) else log.length))
    return windows


def physical_problems(shipped, evidence, stop, base, symbols):
    """The stack and the nodes, from addresses alone."""
    low, high = shipped.binary.section_range(".text")
    real = [stop.pc] + stop.stack
    told = [f for f in evidence.crashed.frames]
    problems, chain = [], []
    for k, address in enumerate(real):
        if not low <= address - base < high:
            continue
        lookup = address - base - (1 if k else 0)
        chain += [(plain_name(n), d, k == 0) for n, d in symbols.get(lookup, [])]
    frames = [f for f in told if f.kind == "model"]
    names = [n for n, _, _ in chain]
    told_names = [f.name for f in frames]
    known = {f.source_name for _, functions in shipped.table.modules for f in functions}
    kept = [(n, d, i) for n, d, i in chain if n in known]
    if kept and check.is_before_all(told) and told[0].name == kept[0][0]:
        kept = kept[1:]
    # An instruction that was moved out of what was inlined: evidence may leave that out. Whether it had
    # returned, the log says.
    moved = len(kept) - len(frames)
    if 0 < moved < sum(i for _, _, i in kept) and frames[0].candidates_from == "machine":
        kept = [(kept[moved][0], 0, True)] + kept[moved + 1:]
    # `??` stands for what was inlined, and may be any of it
    unnamed = bool(told) and told[0].kind == "foreign" and told[0].name == "??" and told[0].gap
    if [n for n, _, _ in kept] != told_names and not unnamed and not any(f.gap for f in frames):
        return [("stack", f"evidence {' < '.join(told_names[:12])}; by stepping {' < '.join(names[:12])}")]
    if len(kept) != len(frames):
        return problems
    for (name, discriminator, innermost), frame in zip(kept, frames):
        function = shipped.table.lookup(frame.module, frame.index)
        node = discriminator - 1
        if function and 0 <= node < function.node_count and node not in frame.candidates:
            problems.append(("node", f"'{name}' stands at an instruction of node {node}, "
                             f"candidates {frame.candidates} ({frame.candidates_from})"))
    return problems


class Pending:
    """One stepped core that waits for its window of the log."""

    def __init__(self, stop, evidence, window, low, high):
        self.stop, self.evidence, self.coverage = stop, evidence, window
        self.low, self.high = low, high
        self.best = None
        self.done = False
        self.cache = {}

    def look(self, table, replay, stack):
        """The state after this record, as a candidate for the truth."""
        if self.done:
            return
        problems = check.coverage_problems(self.coverage, replay.at)
        pairs, problem = check.pair_frames(table, self.evidence.crashed, stack)
        if problem:
            problems += check.stack_problems(table, self.evidence.crashed, stack)
            score = (0, -len(problems), 0)
        else:
            matched = 0
            for frame, function, activation in pairs:
                key = (id(frame), activation.id, len(activation.nodes), len(activation.calls))
                if key not in self.cache:
                    self.cache[key] = check.frame_problems(frame, function, activation)
                if self.cache[key]:
                    problems += self.cache[key]
                else:
                    matched += 1
            # of two moments that fit equally badly, the one whose node is right says more
            nodes = sum(group == "node" for group, _ in problems)
            score = (1 + matched, -len(problems), -nodes)
        if not problems:
            self.done, self.best = True, None
        elif self.best is None or score > self.best[0]:
            self.best = (score, problems)


def window_problems(shipped, log, positions, cores):
    """cores: [(stop, evidence)]. Yields (stop, evidence, problems)."""
    first = log.first_calls(shipped.table)
    replay = Replay(log)
    waiting = []
    for stop, evidence in cores:
        low, high = positions[stop.entries]
        low += 1
        window = check.coverage_window(shipped.table, evidence, first)
        waiting.append(Pending(stop, evidence, window, low, high))
    waiting.sort(key=lambda p: p.low)
    at = 0
    while at < len(waiting):
        group = [p for p in waiting[at:] if p.low == waiting[at].low]
        at += len(group)
        replay.run_to(group[0].low)
        while True:
            stack = next((s for s in replay.stacks.values() if s), [])
            for pending in group:
                pending.look(shipped.table, replay, stack)
            if replay.at >= group[0].high or all(p.done for p in group):
                break
            replay.step()
        for pending in group:
            yield pending.stop, pending.evidence, [] if pending.done else pending.best[1]


def call_problems(shipped, folder, number, evidence, symbols):
    """Calls that were executed are not told as never made, globally."""
    by_name = {}
    for ident, bits in evidence.coverage.items():
        if ident in shipped.table.by_id:
            for (function, node), truth in zip(shipped.table.sites(ident), bits):
                by_name[(function.source_name, node)] = by_name.get((function.source_name, node), "") + truth
    problems = []
    with open(os.path.join(folder, "calls")) as file:
        for line in file:
            address, before = line.split()
            if int(before) >= number:
                continue
            for name, discriminator in symbols.get(int(address, 16), []):
                if by_name.get((name, discriminator - 1)) == "n":
                    problems.append(("global", f"'{name}' node {discriminator - 1} is told as not "
                                     f"called, its call at {address} was executed"))
    return problems


def run_stepper(shipped, arguments, text, stops, limit, folder, follow=0):
    """Where its output is. `follow` draws the calls of the library that are followed."""
    out, plan = os.path.join(folder, "out"), os.path.join(folder, "plan")
    os.makedirs(out, exist_ok=True)
    write_plan(shipped, plan, stops, limit, follow)
    done = subprocess.run([shipped.tools.stepper, plan, out, shipped.exe, shipped.program.name,
                           *arguments], input=text, capture_output=True, cwd=folder, env=environment(shipped.program),
                          timeout=1800)
    if done.returncode != 0:
        found = [l for l in done.stderr.decode(errors="replace").splitlines() if l.startswith("stepper")]
        raise Unusable(" ".join(found) or "the stepper failed")
    return out


def run_length(shipped, arguments, text):
    """Steps that this run takes, at most those that the program allows; found once."""
    known = os.path.join(shipped.folder, f"steps-{zlib.crc32(repr((arguments, text)).encode()):08x}")
    if not os.path.exists(known):
        with Scratch() as folder:
            limit = shipped.program.steps
            out = run_stepper(shipped, arguments, text, [(limit + 1, 0)], limit, folder)
            _, _, ended = read_stops(out)
        with open(f"{known}.{os.getpid()}", "w") as file:
            file.write(str(ended or limit))
        os.rename(f"{known}.{os.getpid()}", known)  # another campaign may look for it
    with open(known) as file:
        return int(file.read())


def crash_stepped(shipped, arguments, text, seed, count, most=None):
    """Yields (what, evidence, problems) for `count` signals at random instructions of one run, or for `most` of these: the same signal
    comes at the same instruction whichever are left out."""
    chance = random.Random(seed)
    limit = run_length(shipped, arguments, text)
    stops, follow = [(chance.randrange(1, limit), int(chance.choice(CORE_SIGNALS))) for _ in range(count)], chance.getrandbits(62)
    with Scratch() as folder:
        out = run_stepper(shipped, arguments, text, sorted(stops[:most]), limit, folder, follow)
        base, found, _ = read_stops(out)
        with open(os.path.join(out, "entries"), "rb") as file:
            data = file.read()
        entered = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]
        log, _ = run_logger(shipped, arguments, text, {}, folder)
        positions = entry_positions(shipped, log, entered)
        first = coverage.first_nodes(log)
        with open(os.path.join(out, "calls")) as file:
            calls = [int(line.split()[0], 16) for line in file]
        addresses = calls + [s.pc - base for s in found] + [r - base - 1 for s in found for r in s.stack]
        symbols = symbolize(shipped.exe, [a for a in addresses if 0 <= a < 1 << 40])
        cores, direct = [], {}
        for number, stop in enumerate(found):
            core = os.path.join(out, stop.core)
            try:
                evidence = report(shipped.tools, shipped.exe, core)
            except Trouble as trouble:
                yield f"step={stop.step}", None, [("trouble", str(trouble))]
                continue
            # Half-way through longjmp the stack is neither the old nor the new one, and the log has no
            # such moment: the evidence has to say that frames are missing.
            inner = evidence.crashed.frames[0]
            if re.search(r"longjmp", inner.name) and len(evidence.crashed.frames) > 1:
                left = evidence.crashed.frames[1]
                if inner.gap and left.record == "untold" and not left.path:
                    yield f"step={stop.step} pc={stop.pc - base:#x}", evidence, []
                    continue
            cores.append((stop, evidence))
            covered = []
            if coverage.wanted():
                answers = coverage.ask_all(shipped, core, evidence, (arguments, stop.step, stop.signal))
                covered = coverage.problems(shipped, answers, first, *positions[stop.entries])
            direct[stop.core] = covered + (physical_problems(shipped, evidence, stop, base, symbols)
                                 + call_problems(shipped, out, number, evidence, symbols))
            if evidence.signal != stop.signal:
                direct[stop.core].append(("signal", f"sent {stop.signal}, told {evidence.signal}"))
        for stop, evidence, problems in window_problems(shipped, log, positions, cores):
            problems = problems + direct[stop.core]
            if problems and os.environ.get("TRUTH_KEEP"):
                shutil.copy(os.path.join(out, stop.core),
                            os.path.join(os.environ["TRUTH_KEEP"], f"core.{stop.step}"))
            yield f"step={stop.step} pc={stop.pc - base:#x}", evidence, problems
