# SPDX-License-Identifier: Apache-2.0
"""Evidence JSON (docs/formats/evidence.md), read by the oracle on its own."""

import json
import re


def truths(text):
    """ "n2y?" -> "nny?" """
    return "".join(c * int(n or 1) for c, n in re.findall(r"([ny?])(\d*)", text or ""))


class Path:
    """steps: [(node, collapsed loop?)]; end: None (unfinished), "exit" or "cut"."""

    def __init__(self, text):
        self.start, self.steps, self.end, self.next = None, [], None, None
        for word in text.split():
            if word.startswith("@"):
                self.start = int(word[1:])
            elif word == "exit":
                self.end = "exit"
            elif word.startswith(">"):
                self.end = "cut"
                self.next = None if word == ">?" else int(word[1:])
            else:
                self.steps.append((int(word.rstrip("*")), word.endswith("*")))
        if self.start is None and self.steps:
            self.start = self.steps[0][0]


class Frame:
    def __init__(self, item):
        self.kind = item["kind"]
        self.name = item.get("function", "??")
        self.module = int(item["module"], 16) if "module" in item else 0
        self.index = item.get("index", 0)
        self.pc = int(item["pc"], 16)
        self.inlined = item.get("inlined", False)
        self.interrupted = item.get("interrupted", False)
        self.gap = item.get("gap", False)
        self.guessed = item.get("guessed", False)
        self.candidates = item.get("candidates", [])
        self.candidates_from = item.get("candidates_from", "")
        self.record = item.get("record", "none")
        self.paths = [Path(p) for p in item.get("paths", [])]
        self.finished = item.get("paths_finished", 0)
        self.from_entry = item.get("paths_from_entry", False)
        self.partial = Path(item["partial"]) if "partial" in item else None
        self.partial_exact = item.get("partial_exact", False)
        self.calls = truths(item.get("calls"))
        self.text = item


class Thread:
    def __init__(self, item):
        self.tid, self.crashed = item["tid"], item["crashed"]
        self.frames = [Frame(f) for f in item["frames"]]
        self.whole, self.end = item.get("whole", False), item.get("end", "")


class Evidence:
    def __init__(self, text):
        item = json.loads(text)
        self.item = item
        self.signal = item["signal"]["number"]
        self.threads = [Thread(t) for t in item["threads"]]
        self.coverage = {int(c["module"], 16): truths(c["sites"]) for c in item["coverage"]}
        self.warnings = item.get("warnings", [])

    @property
    def crashed(self):
        return next((t for t in self.threads if t.crashed), self.threads[0])
