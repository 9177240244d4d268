# SPDX-License-Identifier: Apache-2.0
"""Does evidence contradict the truth? Each check gives a list of (class, sentence); none is good."""

import collections

ABSENT = float("inf")


class Statistics:
    def __init__(self):
        self.count = collections.Counter()

    def add_evidence(self, evidence):
        self.count["crashes"] += 1
        for thread in evidence.threads:
            for frame in thread.frames:
                self._add_frame(frame)
        for bits in evidence.coverage.values():
            self.count["global"] += len(bits)
            self.count["global unknown"] += bits.count("?")

    def _add_frame(self, frame):
        if frame.kind != "model":
            return
        self.count["frames"] += 1
        self.count["exact"] += len(frame.candidates) == 1
        self.count["candidates"] += len(frame.candidates)
        self.count["record " + frame.record] += 1
        self.count["partial"] += frame.partial is not None
        self.count["partial exact"] += frame.partial_exact
        self.count["local"] += len(frame.calls)
        self.count["local unknown"] += frame.calls.count("?")
        if frame.interrupted:
            self.count["interrupted"] += 1
            self.count["interrupted exact"] += len(frame.candidates) == 1

    def merge(self, other):
        self.count.update(other.count)

    def share(self, part, whole):
        return self.count[part] / self.count[whole] if self.count[whole] else 0.0

    def line(self):
        c = self.count
        return (f"{c['crashes']:6} crashes {c['frames']:7} frames"
                f"  exact {100 * self.share('exact', 'frames'):6.2f}%"
                f" (innermost {100 * self.share('interrupted exact', 'interrupted'):6.2f}%)"
                f"  mean set {self.share('candidates', 'frames'):.3f}"
                f"  unknown bits local {100 * self.share('local unknown', 'local'):.2f}%"
                f" global {100 * self.share('global unknown', 'global'):.2f}%"
                f"  contradictions {c['contradictions']}")


# ---------------------------------------------------------------- paths of one activation

def match_backwards(function, steps, nodes, end):
    """Matches steps, last first, against nodes[:end]; the index before the first one matched, or
    None. A collapsed loop is a maximal run of nodes of its body that begins with its header; a step
    that follows it and is a node of its body is the one that the run ends with."""
    at = end - 1
    for k in range(len(steps) - 1, -1, -1):
        node, loop = steps[k]
        if at < 0:
            return None
        if not loop:
            if nodes[at] != node:
                return None
            left = k > 0 and steps[k - 1][1] and node in function.body(steps[k - 1][0])
            at -= not left
            continue
        body = function.body(node)
        first = None
        while at >= 0 and nodes[at] in body:
            first = nodes[at]
            at -= 1
        if first != node:
            return None
    return at


def match_paths(function, paths, nodes, end, from_entry):
    """Do these consecutive paths end with nodes[end - 1]? With from_entry: begin with nodes[0]."""
    twice = function.twice()
    if not paths:
        return end == 0 or not from_entry
    at = match_backwards(function, paths[-1].steps, nodes, end)
    if at is None:
        return False
    rest, start = paths[:-1], paths[-1].start
    if not rest:
        return at < 0 or not from_entry or start in twice
    if start not in twice:
        return match_paths(function, rest, nodes, at + 1, from_entry)
    # a second return: what came after the last finished path is not told
    for cut in range(at + 1, max(-1, at - 100000), -1):
        if match_paths(function, rest, nodes, cut, from_entry):
            return True
    return False


def path_problems(frame, function, nodes):
    paths = list(frame.paths)
    for a, b in zip(paths, paths[1:] + ([frame.partial] if frame.partial else [])):
        if a.end == "cut" and a.next is not None and a.next != b.start and \
                b.start not in function.twice():
            return [("path", f"path ends at >{a.next}, the next starts at {b.start}")]
    if frame.from_entry and len(paths) != frame.finished:
        return [("path", f"all paths are told, {len(paths)}, but {frame.finished} were finished")]
    for path in paths + ([frame.partial] if frame.partial else []):
        for node, _ in path.steps:
            if node >= function.node_count:
                return [("path", f"node {node} of {function.node_count}")]
    if frame.partial is not None and frame.partial.steps:
        paths.append(frame.partial)
    if not paths:
        return []
    end = len(nodes)
    if frame.partial is not None and frame.partial_exact:
        if match_paths(function, paths, nodes, end, frame.from_entry):
            return []
    else:
        # a prefix: the truth may have gone on by the rest of one path
        for cut in range(end, -1, -1):
            if match_paths(function, paths, nodes, cut, frame.from_entry):
                return []
            if not frame.from_entry and end - cut > 50000:
                break
    tail = list(nodes[-40:])
    claimed = [str(n) + "*" * loop for p in paths for n, loop in p.steps][-40:]
    return [("path", f"claimed ...{' '.join(claimed)} (partial "
             f"{'exact' if frame.partial_exact else 'prefix'}), was ...{' '.join(map(str, tail))}")]


# ---------------------------------------------------------------- frames against activations

def frame_problems(frame, function, activation):
    node = activation.nodes[-1] if activation.nodes else 0
    if node not in frame.candidates:
        return [("node", f"'{function.name}' is at node {node}, candidates {frame.candidates} "
                 f"({frame.candidates_from})")]
    problems = path_problems(frame, function, activation.nodes)
    for site, truth in enumerate(frame.calls):
        called = function.sites[site] in activation.calls if site < len(function.sites) else False
        if truth == "y" and not called:
            problems.append(("local", f"'{function.name}' site {site} was not called in this activation"))
        if truth == "n" and called:
            problems.append(("local", f"'{function.name}' site {site} was called in this activation"))
    if frame.calls and len(frame.calls) != len(function.sites):
        problems.append(("local", f"'{function.name}' has {len(function.sites)} sites, "
                         f"{len(frame.calls)} are told"))
    return problems


def from_library(table, live, at):
    """May a library have run this activation? Bodies that a header gives to the optimiser, and what
    such a body instantiates."""
    linkage = table.function(live[at].function).linkage
    return linkage == "available" or linkage == "weak" and any(
        table.function(a.function).linkage == "available" for a in live[at + 1:])


def pair_frames(table, thread, stack):
    """[(frame, function, activation)] or a problem: the frames of the model, innermost first,
    against the live activations. What evidence may leave out: behind a gap, anything; bodies that
    the program has from its own headers but took from a library; all that is beyond a stack that
    is said not to be whole."""
    pairs, frames = [], [f for f in thread.frames if f.kind == "model"]
    live = [a for a in reversed(stack)]
    at, gap = 0, False
    for frame in frames:
        function = table.lookup(frame.module, frame.index)
        if function is None or function.name != frame.name and function.source_name != frame.name:
            return None, f"frame '{frame.name}' is no function of module {frame.module:#x}"
        while at < len(live):
            other = table.function(live[at].function)
            same = other is function or (other.name == function.name and other.linkage == "weak")
            if same or not gap and not from_library(table, live, at):
                break
            at += 1
        if at == len(live):
            return None, f"frame '{frame.name}' is not on the stack"
        other = table.function(live[at].function)
        if not same:
            return None, f"frame '{frame.name}' where '{other.name}' is"
        pairs.append((frame, other, live[at]))
        at, gap = at + 1, frame.gap
    rest = [live[i] for i in range(at, len(live)) if not from_library(table, live, i)]
    if rest and thread.whole and not gap:
        return None, f"'{table.function(rest[0].function).name}' is missing at the outer end"
    if not frames and live and thread.whole:
        return None, "no frame of the model"
    return pairs, None


def stack_problems(table, thread, stack):
    pairs, problem = pair_frames(table, thread, stack)
    if problem:
        names = [f.name + ("~" if f.inlined else "") for f in thread.frames if f.kind == "model"][:12]
        real = [table.function(a.function).name for a in reversed(stack)][:12]
        return [("stack", f"{problem}; evidence {' < '.join(names)}; truth {' < '.join(real)}")]
    problems = []
    for frame, function, activation in pairs:
        problems += frame_problems(frame, function, activation)
    return problems


# ---------------------------------------------------------------- global coverage

def coverage_window(table, evidence, first):
    """Log positions [low, high) at which the coverage bits can be true: (low, high, why low, why
    high)."""
    low, high, why_low, why_high = 0, ABSENT, "", ""
    first, sure = first
    for ident, bits in evidence.coverage.items():
        if ident not in table.by_id:
            continue
        k = table.by_id[ident]
        sites = table.sites(ident)
        if len(sites) != len(bits):
            return 1, 0, f"module {ident:#x} has {len(sites)} sites, {len(bits)} are told", "that"
        for (function, node), truth in zip(sites, bits):
            if truth == "?":
                continue
            called = first.get((k << 16 | function.index, node), ABSENT)
            if function.linkage == "weak" and called == ABSENT:
                continue  # another module's copy may be the one that ran
            if truth == "y" and called >= low:
                low, why_low = called + 1, f"'{function.name}' node {node} is told as called"
            called = sure.get((k << 16 | function.index, node), ABSENT)
            if truth == "n" and called < high:
                high, why_high = called + 1, f"'{function.name}' node {node} is told as not called"
    return low, high, why_low, why_high


def coverage_problems(window, at):
    low, high, why_low, why_high = window
    if low > at:
        return [("global", f"{why_low}, was not" + (" ever" if low == ABSENT else " yet"))]
    if high <= at:
        return [("global", f"{why_high}, was")]
    return []
