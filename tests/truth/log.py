# SPDX-License-Identifier: Apache-2.0
"""The log of a run (log_runtime.c), and its replay: who was active at each moment, which nodes each
activation had gone through and which calls it had made."""

import array
import struct

NODE, CALL, ENTER, LEAVE, THREAD = range(5)
MAGIC = 0x31676F6C68747274
HEADER = 32


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            magic, length, capacity, _ = struct.unpack("<QQQQ", file.read(HEADER))
            if magic != MAGIC:
                raise ValueError(f"'{path}' is no log")
            self.overflow = length > capacity
            self.length = min(length, capacity)
            self.words = array.array("I")
            self.words.frombytes(file.read(8 * self.length))

    def first_calls(self, table):
        """({(function number, node): index of the first record of that call}, the same without what
        was called from a body that a library may have run in its stead)."""
        if any(f.linkage == "available" for _, functions in table.modules for f in functions):
            return self._first_sure_calls(table)
        first, function = {}, {}
        words = self.words
        for i in range(self.length):
            event = words[2 * i + 1]
            kind = event >> 29
            if kind == ENTER:
                function[words[2 * i]] = event & 0x1FFFFFFF
            elif kind == CALL:
                first.setdefault((function[words[2 * i]], event & 0x1FFFFFFF), i)
        return first, first

    def _first_sure_calls(self, table):
        first, sure, replay, words = {}, {}, Replay(self), self.words
        for i in range(self.length):
            replay.step()
            event = words[2 * i + 1]
            activation = replay.live.get(words[2 * i])
            if event >> 29 != CALL or activation is None:
                continue
            key = (activation.function, event & 0x1FFFFFFF)
            first.setdefault(key, i)
            if key not in sure and not any(table.function(a.function).linkage == "available"
                                           for a in replay.stacks[activation.thread]):
                sure[key] = i
        return first, sure


class Activation:
    __slots__ = ("id", "function", "thread", "nodes", "calls", "calling")

    def __init__(self, ident, function, thread):
        self.id, self.function, self.thread = ident, function, thread
        self.nodes = array.array("I")
        self.calls = set()
        self.calling = False


class Replay:
    """state after `at` records; stacks[thread] has the outermost activation first."""

    def __init__(self, log):
        self.log, self.at = log, 0
        self.live, self.stacks = {}, {}
        self.thread = 0
        self.last_thread = 0  # whose the last record was

    def _expose(self, activation):
        """What was called from it is over, also when it was left by longjmp."""
        stack = self.stacks[activation.thread]
        while stack[-1] is not activation:
            self.live.pop(stack.pop().id, None)
        return stack

    def step(self):
        subject, event = self.log.words[2 * self.at], self.log.words[2 * self.at + 1]
        self.at += 1
        kind, value = event >> 29, event & 0x1FFFFFFF
        if kind == THREAD:
            self.thread = subject
            return
        if kind == ENTER:
            activation = Activation(subject, value, self.thread)
            self.live[subject] = activation
            self.stacks.setdefault(self.thread, []).append(activation)
            self.last_thread = self.thread
            return
        activation = self.live.get(subject)
        if activation is None:
            return  # entered before the log was there
        self.last_thread = activation.thread
        stack = self.stacks[activation.thread]
        if stack[-1] is not activation:
            stack = self._expose(activation)
        if kind == NODE:
            activation.nodes.append(value)
            activation.calling = False
        elif kind == CALL:
            activation.calls.add(value)
            activation.calling = True
        else:
            stack.pop()
            del self.live[subject]

    def run_to(self, end):
        while self.at < end:
            self.step()

    def run_to_end(self):
        self.run_to(self.log.length)
        return self
