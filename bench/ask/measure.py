# SPDX-License-Identifier: Apache-2.0
"""One command: processor seconds, wall seconds, memory. The caller stays small, for its size would count as the child's."""

import os
import re
import subprocess
import threading
import time

NODES = re.compile(r"^ *\d+ +\d+ +\d+ +([\d.]+%) +all nodes$", re.M)
LINE = re.compile(r'^ *\{"file":"([^"]*)","line":(\d+),"answer":"(\w+)"\}')


class Measured:
    """`limit`: seconds after which it is killed, whatever its budget; for those that do not keep to it."""

    def __init__(self, command, text="", limit=900):
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        killer = threading.Timer(limit, process.kill)
        killer.start()
        process.stdin.write(text)
        process.stdin.close()
        self.out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = self.status = os.waitstatus_to_exitcode(status)
        killer.cancel()
        self.wall, self.limit = time.monotonic() - begin, limit
        self.seconds, self.memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def trouble(self):
        return {3: "undecided", 2: "failed"}.get(self.status, f"killed at {self.limit} s" if self.status < 0 else None)


def coverage(inquest, solver, use, budget, files):
    """(Measured, percent definite or what went wrong)."""
    done = Measured([inquest, "coverage", "--solver", solver, "--use", use, *budget, *files])
    found = NODES.search(done.out)
    return done, done.trouble() or (found[1] if found else "no answer")


def lines_of(inquest, solver, answer, files):
    """Lines with this answer, as queries; those of a file's last name."""
    process = subprocess.Popen([inquest, "coverage", "--json", "--solver", solver, "--time", "600", *files], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = [f"{m[1].rsplit('/', 1)[-1]}:{m[2]}" for m in map(LINE.match, process.stdout) if m and m[3] == answer]
    process.wait()
    return found


def ask(inquest, solver, queries, budget, files):
    """(Measured of a process with the first query, CPU seconds of each further one at the prompt or None). The queries
    differ: the prompt remembers what it has answered."""
    command = [inquest, "ask", "--solver", solver, *budget, *files]
    once = Measured([*command, queries[0]], limit=60)
    if once.trouble() or once.seconds > 2 or len(queries) < 2:  # the prompt would take as long, and more of them
        return once, None
    first = Measured(command, queries[0] + "\n", limit=60)
    more = Measured(command, "\n".join(queries) + "\n", limit=120)
    if first.trouble() or more.trouble():
        return once, None
    return once, max(0, more.seconds - first.seconds) / (len(queries) - 1)
