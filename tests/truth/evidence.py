# SPDX-License-Identifier: Apache-2.0
"""Evidence JSON (docs/formats/evidence.md), read by the oracle on its own."""

import json
import re


def truths(text):
    """ "n2y?" -> "nny?" """
    return "".join(c * int(n or 1) for c, n in re.findall(r"([ny?])(\d*)", text or ""))


def path_steps(text):
    """ "0 3* 5 7+ 7" -> [(0, ""), (3, "*"), ...]: a node, a loop that was left, passes through a loop ("^": at least one) """
    return [(int(word.rstrip("*+^")), word.lstrip("0123456789")) for word in text.split()]


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
        self.path = path_steps(item.get("path", ""))
        self.path_exact = item.get("path_exact", False)
        self.from_entry = item.get("path_from_entry", False)
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
        self.text, self.item = text, item
        self.signal = item["signal"]["number"]
        self.threads = [Thread(t) for t in item["threads"]]
        self.coverage = {int(c["module"], 16): truths(c["sites"]) for c in item["coverage"]}
        self.warnings = item.get("warnings", [])

    @property
    def crashed(self):
        return next((t for t in self.threads if t.crashed), self.threads[0])
