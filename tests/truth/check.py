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
        self.count["path"] += bool(frame.path)
        self.count["path exact"] += frame.path_exact
        self.count["local"] += len(frame.calls)
        self.count["local unknown"] += frame.calls.count("?")
        if frame.interrupted:
            self.count["interrupted"] += 1
            self.count["interrupted exact"] += len(frame.candidates) == 1
            self.count["inlined"] += frame.inlined

    def merge(self, other):
        self.count.update(other.count)

    def share(self, part, whole):
        return self.count[part] / self.count[whole] if self.count[whole] else 0.0

    def line(self):
        c = self.count
        return (f"{c['crashes']:6} crashes {c['frames']:7} frames"
                f"  exact {100 * self.share('exact', 'frames'):6.2f}%"
                f" (innermost {100 * self.share('interrupted exact', 'interrupted'):6.2f}%, {c['inlined']} inlined)"
                f"  mean set {self.share('candidates', 'frames'):.3f}"
                f"  unknown bits local {100 * self.share('local unknown', 'local'):.2f}%"
                f" global {100 * self.share('global unknown', 'global'):.2f}%"
                f"  contradictions {c['contradictions']}")


# ---------------------------------------------------------------- paths of one activation

def run_back(nodes, end, body):
    """Where the longest run of nodes of the body that ends before `end` begins."""
    while end > 0 and nodes[end - 1] in body:
        end -= 1
    return end


def is_left(function, steps, k):
    """Is step k the node from which the loop before it was left?"""
    return k > 0 and steps[k - 1][1] == "*" and not steps[k][1] and \
        steps[k][0] in function.body(steps[k - 1][0])


def match_back(function, steps, nodes, end):
    """Matches steps, last first, against nodes[:end]; where the first one begins, or None. A loop that
    was left is a run of nodes of its body that begins with its header; the node behind it from which it was
    left is the last of the run. Passes are such a run, perhaps an empty one; rounds begin with the header."""
    for k in range(len(steps) - 1, -1, -1):
        node, kind = steps[k]
        if kind:
            begin = run_back(nodes, end, function.body(node))
            if kind in "*^" and (begin == end or nodes[begin] != node):
                return None
            end = begin
        elif end == 0 or nodes[end - 1] != node:
            return None
        elif not is_left(function, steps, k):
            end -= 1
    return end


def match_on(function, steps, nodes):
    """Matches steps, first first, against nodes from the beginning: all places where the last one can end."""
    ends = {0}
    for k, (node, kind) in enumerate(steps):
        after = set()
        for at in ends:
            if not kind and is_left(function, steps, k):
                if nodes[at - 1] == node:
                    after.add(at)
            elif not kind:
                if at < len(nodes) and nodes[at] == node:
                    after.add(at + 1)
            elif kind in "*^" and (at == len(nodes) or nodes[at] != node):
                continue
            else:
                body = function.body(node)
                if kind == "+":
                    after.add(at)
                while at < len(nodes) and nodes[at] in body:
                    at += 1
                    after.add(at)
        ends = after
    return ends


def path_fits(frame, function, nodes):
    steps, end = frame.path, len(nodes)
    if frame.from_entry:
        ends = match_on(function, steps, nodes)
        return end in ends if frame.path_exact else bool(ends)
    if frame.path_exact:
        return match_back(function, steps, nodes, end) is not None
    # a beginning: the truth may have gone on from there
    return any(match_back(function, steps, nodes, cut) is not None
               for cut in range(end, max(-1, end - 50000), -1))


def path_problems(frame, function, nodes):
    for node, _ in frame.path:
        if node >= function.node_count:
            return [("path", f"node {node} of {function.node_count}")]
    if not frame.path or path_fits(frame, function, nodes):
        return []
    claimed = [f"{node}{kind}" for node, kind in frame.path][-40:]
    return [("path", f"claimed {'' if frame.from_entry else '...'}{' '.join(claimed)} "
             f"({'exact' if frame.path_exact else 'a beginning'}), was ...{' '.join(map(str, nodes[-40:]))}")]


# ---------------------------------------------------------------- frames against activations

def frame_problems(frame, function, activation):
    node = activation.nodes[-1] if activation.nodes else 0
    if node not in frame.candidates:
        return [("node", f"'{function.name}' is at node {node}, candidates {frame.candidates} "
                 f"({frame.candidates_from})")]
    problems = path_problems(frame, function, activation.nodes)
    if frame.record == "corrupt":
        problems.append(("damage", f"the record of '{function.name}' is called damaged; nothing was overwritten"))
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


def is_before_all(frames):
    """Is it said of the innermost frame that it was stopped before its first line?"""
    return bool(frames) and frames[0].kind == "foreign" and frames[0].gap and \
        "first line" in frames[0].text.get("record_note", "")


def has_begun(activation):
    return len(activation.nodes) > 1 or bool(activation.calls)


def stands_elsewhere(frame, activation):
    return bool(activation.nodes) and activation.nodes[-1] not in frame.candidates


def pair_frames(table, thread, stack):
    """[(frame, function, activation)] or a problem: the frames of the model, innermost first,
    against the live activations. What evidence may leave out: behind a gap, anything; bodies that
    the program has from its own headers but took from a library; all that is beyond a stack that
    is said not to be whole; a function of which no line has run."""
    pairs, frames = [], [f for f in thread.frames if f.kind == "model"]
    live = [a for a in reversed(stack)]
    at, gap = 0, False
    if is_before_all(thread.frames) and live:
        inner = table.function(live[0].function)
        if thread.frames[0].name in (inner.name, inner.source_name) and not has_begun(live[0]):
            at = 1
    for frame in thread.frames:
        if frame.kind != "model":
            gap = gap or frame.gap  # also of what was stopped before its first line: a tail call may have led there
            continue
        function = table.lookup(frame.module, frame.index)
        if function is None or function.name != frame.name and function.source_name != frame.name:
            return None, f"frame '{frame.name}' is no function of module {frame.module:#x}"
        while at < len(live):
            other = table.function(live[at].function)
            same = other is function or (other.name == function.name and other.linkage == "weak")
            if same and gap and stands_elsewhere(frame, live[at]) and \
                    any(a.function == live[at].function and not stands_elsewhere(frame, a)
                        for a in live[at + 1:]):
                at += 1  # of a gap, which activations are missing is not said
                continue
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
    if not frames and live[at:] and thread.whole:
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
