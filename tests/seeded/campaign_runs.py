# SPDX-License-Identifier: Apache-2.0
"""Runs of a seeded program with sampling, and to which bug each failing one is due.

Everything is kept in a folder, and what is there is not done again:

    NAME/plain, fixed, truth, only-K     the variants; plain is built to sample
    NAME/expected/SEED                   what the fixed variant prints, where output is judged
    NAME/truth.jsonl                     bugs by seed, of inputs on which some run failed
    NAME/RATE/runs/                      reports; the seed of the random numbers is that of the input
    NAME/RATE/journal.jsonl              a line a run, by what was seen from outside
"""

import collections
import concurrent.futures
import json
import os
import shlex
import shutil
import signal
import subprocess
import threading

import seeded
import suspects_reports


def read_lines(path):
    """Records of a file that may end in half a line."""
    records = []
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                if line.endswith("\n"):
                    records.append(json.loads(line))
    return records


def mend(path):
    """Without the half line that a killed campaign may have left."""
    records = read_lines(path)
    with open(path + ".new", "w") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    os.replace(path + ".new", path)
    return records


class Subject:
    """A program, its variants, and the folder with all that was found out about it."""

    def __init__(self, name, tools, folder):
        self.program = seeded.Program(name)
        self.name = name
        self.tools = tools
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.expected = os.path.join(self.folder, "expected")
        self.lock = threading.Lock()

    def tool(self, name):
        return os.path.join(self.tools, "bin", name)

    def environment(self):
        return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C",
                "XDG_CACHE_HOME": os.path.join(self.folder, "cache")}

    def path(self, variant):
        return os.path.join(self.folder, variant)

    def build(self):
        level = self.program.truth["optimise"]
        variants = ["fixed", "truth", *(f"only-{bug['id']}" for bug in self.program.bugs)]
        for variant in variants:
            if not os.path.exists(self.path(variant)):
                self.program.build(variant, [level], self.path(variant))
        if not os.path.exists(self.path("plain")):
            self.build_sampling(level)

    def build_sampling(self, level):
        program = self.program
        sources = [os.path.join(program.folder, f) for f in program.files if f.endswith(".c")]
        command = [self.tool("inquest-cc"), "-std=gnu17", "-g", level, "-finquest=paths,suspects",
                   "-o", self.path("plain"), *sources, *program.truth.get("libraries", [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            raise seeded.Trouble(f"{shlex.join(command)}: status {done.returncode}\n{done.stderr}")

    def reference(self, seed, args, data):
        """The file with what the fixed variant prints."""
        path = os.path.join(self.expected, str(seed))
        if not os.path.exists(path):
            os.makedirs(self.expected, exist_ok=True)
            status, output = seeded.run(self.path("fixed"), args, data)
            if status != 0:
                raise seeded.Trouble(f"{self.name}, seed {seed}: the fixed variant ends with {status}")
            with open(path + ".new", "wb") as file:
                file.write(output)
            os.replace(path + ".new", path)
        return path

    def due_to(self, seed):
        """The bugs that a failing run of this input is due to (docs/seeded-bugs.md)."""
        args, data = self.program.generate(seed)
        file = os.path.join(self.folder, f"notes-{seed}")
        reference = (0, seeded.run(self.path("fixed"), args, data)[1])
        seeded.run(self.path("truth"), args, data, file)
        noted = seeded.notes(file)
        if os.path.exists(file):
            os.unlink(file)
        if len(noted) < 2:
            return sorted(noted)
        alone = {bug for bug in noted if self.program.fails(
            seeded.run(self.path(f"only-{bug}"), args, data), reference)}
        return sorted(alone or noted)

    def truth(self, seeds, jobs):
        """Bugs by seed, for these seeds."""
        path = os.path.join(self.folder, "truth.jsonl")
        known = {record["seed"]: record["bugs"] for record in read_lines(path)}
        missing = [seed for seed in seeds if seed not in known]
        if missing:
            mend(path)
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(path, "a") as file:
                for seed, bugs in zip(missing, pool.map(self.due_to, missing)):
                    known[seed] = bugs
                    file.write(json.dumps({"seed": seed, "bugs": bugs}) + "\n")
        return {seed: known[seed] for seed in seeds}


class Runs:
    """The runs of a subject at one rate."""

    def __init__(self, subject, rate):
        self.subject, self.rate = subject, rate
        self.folder = os.path.join(subject.folder, str(rate))
        self.reports = os.path.join(self.folder, "runs")
        self.journal_path = os.path.join(self.folder, "journal.jsonl")
        os.makedirs(self.reports, exist_ok=True)

    def journal(self):
        return {record["seed"]: record for record in read_lines(self.journal_path)}

    def make(self, seeds, jobs, ended):
        """Makes what is missing, until ended() says that it is time. Returns whether all is there."""
        done = {record["seed"] for record in mend(self.journal_path)}
        self.forget_strays(done)
        missing = [seed for seed in seeds if seed not in done]
        with open(self.journal_path, "a") as file, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            def one(seed):
                if ended():
                    return False
                record = self.run(seed)
                with self.subject.lock:
                    file.write(json.dumps(record) + "\n")
                return True
            return all(list(pool.map(one, missing)))

    def forget_strays(self, done):
        """Reports of runs that were under way when a campaign was killed."""
        for name in os.listdir(self.reports):
            path = os.path.join(self.reports, name)
            if not name.endswith(".report"):
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            elif suspects_reports.Report(path).seed not in done:
                os.unlink(path)

    def run(self, seed):
        subject = self.subject
        args, data = subject.program.generate(seed)
        command = [subject.tool("inquest"), "run", "--quiet", "--suspects", self.reports, "--rate", str(self.rate),
                   "--seed", str(seed), "--no-summary", "--timeout", str(seeded.LIMIT)]
        expected = None
        if subject.program.by_output:
            path = subject.reference(seed, args, data)
            with open(path, "rb") as file:
                expected = file.read()
            command += ["--oracle", f'[ "$INQUEST_EXIT_STATUS" = 0 ] && cmp -s "$INQUEST_STDOUT" {shlex.quote(path)}']
        done = subprocess.run([*command, "--", subject.path("plain"), *args], input=data, capture_output=True,
                              env=subject.environment())
        if done.returncode not in (0, 1):
            raise seeded.Trouble(f"{subject.name}, seed {seed}, rate {self.rate}: {shlex.join(command)}: "
                                 f"status {done.returncode}: {done.stderr.decode(errors='replace')}")
        wrong = expected is not None and done.stdout != expected
        return {"seed": seed, "failed": done.returncode == 0, "wrong_output": wrong}

    def core(self, seed, path):
        """A core of this input, without sampling. False: it does not crash this time."""
        subject = self.subject
        args, data = subject.program.generate(seed)
        if os.path.exists(path):
            os.unlink(path)
        command = [subject.tool("inquest"), "run", "--quiet", "--no-summary", "--timeout", str(seeded.LIMIT),
                   "--core", path, "--", subject.path("plain"), *args]
        done = subprocess.run(command, input=data, capture_output=True, env=subject.environment())
        if done.returncode not in (0, 1):
            raise seeded.Trouble(f"{shlex.join(command)}: {done.stderr.decode(errors='replace')}")
        return os.path.exists(path)

    def read(self, seeds):
        """Reports by seed, and what is wrong with them by what was seen from outside."""
        journal, reports, complaints = self.journal(), {}, []
        for report in suspects_reports.reports(self.reports):
            if report.seed in reports:
                complaints.append(f"seed {report.seed} has two reports")
            reports[report.seed] = report
        wanted = suspects_reports.build_id(self.subject.path("plain"))
        for seed in sorted(set(seeds) & set(journal)):
            report = reports.get(seed)
            if report is None:
                complaints.append(f"seed {seed} has no report")
                continue
            record = journal[seed]
            failed = report.signal != 0 or report.exit_status != 0 or record["wrong_output"]
            if report.outcome != (2 if failed else 1) or failed != record["failed"]:
                complaints.append(f"seed {seed}: outcome {report.outcome}, should be failed: {failed}")
            if report.rate != self.rate or report.build_id != wanted:
                complaints.append(f"seed {seed}: rate {report.rate}, build {report.build_id}")
        chosen = {seed: reports[seed] for seed in seeds if seed in reports}
        return chosen, complaints

    def signals(self, reports):
        """How runs failed, by seed."""
        ways = {}
        for seed, report in reports.items():
            if report.outcome == 2:
                ways[seed] = (signal.Signals(report.signal).name if report.signal else
                              f"exit {report.exit_status}" if report.exit_status else "output")
        return ways


def counted(ways):
    return ", ".join(f"{way} {count}" for way, count in sorted(collections.Counter(ways).items()))
