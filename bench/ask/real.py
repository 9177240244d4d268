# SPDX-License-Identifier: Apache-2.0
"""sqlite3 and git, built with inquest-cc at -O2 and killed by a signal in the middle of real work. Builds and cores are kept."""

import glob
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SQL = """
create table t(a integer primary key, b text, c integer);
create index i on t(c, b);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 400000)
  insert into t(b, c) select hex(x * 7919 % 10007), x % 613 from n;
select c, count(*), max(b), group_concat(substr(b, 1, 2)) from t group by c having count(*) > 2 order by 2 desc, 1;
select count(*) from t x join t y on x.c = y.c and x.b < y.b where x.a % 97 = 3;
update t set b = upper(b) || c where c in (select c from t where b like '%3A%');
"""


class Missing(Exception):
    """The program or its core cannot be had here; the message says why."""


def build(name, tools, work):
    """The executable."""
    package = [os.path.join(SOURCE, "tests", "real", "package"), name, "--opt", "-O2", "--work", work,
               "--cc", os.path.join(tools, "bin", "inquest-cc"), "--cxx", os.path.join(tools, "bin", "inquest-c++")]
    exe = subprocess.run([*package, "program"], capture_output=True, text=True, check=True).stdout.strip()
    if not (os.path.exists(os.path.join(work, "built")) and os.path.exists(exe)):
        done = subprocess.run(["nice", *package, "build"], capture_output=True, text=True)
        if done.returncode:
            raise Missing(done.stderr.strip()[-300:] or "the build failed")
    return exe


def command(name, exe, folder):
    """What it is killed in: (arguments, input, environment)."""
    if name == "sqlite3":
        return [exe, "-batch", ":memory:"], SQL, {}
    variables = {"GIT_DIR": os.path.join(folder, "repository"), "GIT_WORK_TREE": os.path.dirname(exe),
                 "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([exe, "init", "-q", folder], env={**os.environ, **variables}, capture_output=True)
    return [exe, "-C", os.path.dirname(exe), "add", "-f", "Documentation", "t", "builtin"], "", variables


def allow_core():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def crash(name, exe, work, seed):
    """The core."""
    folder = os.path.join(work, "crash")
    kept = os.path.join(folder, "core.kept")
    if os.path.exists(kept) and os.path.getmtime(kept) > os.path.getmtime(exe):
        return kept
    os.makedirs(folder, exist_ok=True)
    arguments, text, variables = command(name, exe, folder)
    for attempt in range(5):
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   cwd=folder, env={**os.environ, **variables}, preexec_fn=allow_core, text=True)
        process.stdin.write(text)
        process.stdin.close()
        time.sleep(random.Random(seed + attempt).uniform(0.15, 0.6))
        process.send_signal(signal.SIGSEGV)
        process.wait()
        for lock in glob.glob(os.path.join(folder, "repository", "*.lock")):
            os.unlink(lock)
        # git chdirs to its work tree
        found = [c for place in (folder, os.path.dirname(exe)) for c in glob.glob(os.path.join(place, "core*"))
                 if os.path.isfile(c) and os.path.getmtime(c) > os.path.getmtime(exe) and c != kept]
        if process.returncode == -signal.SIGSEGV and found:
            os.rename(found[0], kept)
            return kept
    raise Missing("no core was left (inquest doctor says why)")


def subject(name, tools, folder, seed):
    """(executable, core)."""
    work = os.path.join(folder, name)
    exe = build(name, tools, work)
    return exe, crash(name, exe, work, seed)


def facts(inquest, exe, core):
    """Sizes of the program and of the evidence, as JSON. A process of its own: the caller measures and has to stay small."""
    dump = subprocess.Popen([inquest, "dump", exe], stdout=subprocess.PIPE, text=True)
    nodes = sum(line.startswith("  node ") for line in dump.stdout)
    dump.wait()
    report = subprocess.run([inquest, "report", exe, core], stdout=subprocess.PIPE, check=True)
    evidence = json.loads(report.stdout)
    counts = {"y": 0, "n": 0, "?": 0}
    for module in evidence["coverage"]:
        for kind, number in re.findall(r"([yn?])(\d*)", module["sites"]):
            counts[kind] += int(number or 1)
    return json.dumps({"nodes": nodes, "frames": len(evidence["threads"][0]["frames"]), "true": counts["y"], "false": counts["n"]})


if __name__ == "__main__":
    print(facts(*sys.argv[1:4]))
