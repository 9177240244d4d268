# SPDX-License-Identifier: Apache-2.0
"""Does the ranking find the seeded bugs?

The ranking and the paths are Inquest's; which runs a predicate was true in is read from the reports, and which bug a
run is due to is known from truth.json, both without any code of Inquest.
"""

import csv
import io
import json
import os
import shlex
import subprocess

import seeded
import suspects_reports

PLACES = ("in", "one call away", "elsewhere", "none")


class Ranking:
    """What `inquest suspects` makes of the reports."""

    def __init__(self, subject, runs, reports):
        self.subject, self.runs, self.reports = subject, runs, reports
        self.store = os.path.join(runs.folder, "store.db")
        if os.path.exists(self.store):
            os.unlink(self.store)
        files = [os.path.join(runs.reports, f"{report.run_id}.report") for report in reports.values()]
        for start in range(0, len(files), 500):
            added = json.loads(self.call(["add", self.store, subject.path("plain"), *files[start:start + 500], "--json"]))
            if added["refused"]:
                raise seeded.Trouble(f"{subject.name}: refused: {added['refused'][0]}")
        self.document = json.loads(self.call(["rank", self.store, "--json"]))
        table = list(csv.DictReader(io.StringIO(self.call(["rank", self.store, "--csv"]))))
        self.rows = {(int(row["cluster"]), int(row["rank"])): row for row in table}
        self.sites = suspects_reports.tables(subject.path("plain"))

    def call(self, arguments):
        command = [self.subject.tool("inquest"), "suspects", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=self.subject.environment())
        if done.returncode not in (0, 1):
            raise seeded.Trouble(f"{shlex.join(command)}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def true_in(self, cluster, rank):
        """Seeds of the runs in which a predictor was true."""
        row = self.rows[cluster, rank]
        module, site, number = int(row["module"], 16), int(row["site"]), int(row["predicate_number"])
        place = self.sites[module][site]
        count = suspects_reports.COUNTERS[place.kind]
        ways = suspects_reports.SIX[number] if count == 3 else {number}
        wanted = {place.first + way for way in ways}
        return {seed for seed, report in self.reports.items() if wanted & report.modules.get(module, {}).keys()}

    def complaints(self):
        """Heads whose counts are not those of the reports."""
        failing = {seed for seed, report in self.reports.items() if report.outcome == 2}
        found = []
        if (self.document["failing"], self.document["passing"]) != (len(failing), len(self.reports) - len(failing)):
            found.append(f"ranked {self.document['failing']} failing, {self.document['passing']} passing runs of "
                         f"{len(failing)} and {len(self.reports) - len(failing)}")
        for cluster in self.document["clusters"]:
            head, true = cluster["predictors"][0], self.true_in(cluster["cluster"], 1)
            counts = len(true & failing), len(true - failing)
            if counts != (head["failing"], head["passing"]):
                found.append(f"cluster {cluster['cluster']}: {head['failing']} failing, {head['passing']} passing, "
                             f"the reports say {counts}")
        return found

    def heads(self, due):
        """By cluster: failing runs in which its head was true, and of how many of these each bug is a cause."""
        result = {}
        for cluster in self.document["clusters"]:
            failing = self.true_in(cluster["cluster"], 1) & due.keys()
            bugs = {bug["id"]: sum(1 for seed in failing if bug["id"] in due[seed]) for bug in self.subject.program.bugs}
            result[cluster["cluster"]] = len(failing), bugs
        return result


def place(bug, predictor):
    if predictor is None:
        return "none"
    if predictor["function"] in bug["functions"]:
        return "in"
    return "one call away" if predictor["function"] in bug["callers"] + bug["callees"] else "elsewhere"


def right_cluster(bug, ranking, heads):
    """The first whose head's failing runs are mostly of this bug."""
    for cluster in ranking.document["clusters"]:
        failing, bugs = heads[cluster["cluster"]]
        if 2 * bugs[bug["id"]] > failing:
            return cluster
    return None


def judge_bug(bug, ranking, heads, due):
    cluster = right_cluster(bug, ranking, heads)
    mine = {seed for seed, bugs in due.items() if bug["id"] in bugs}
    predictors = cluster["predictors"] if cluster else []
    top = predictors[0] if predictors else None
    result = {"bug": bug["id"], "functions": bug["functions"], "failing": len(mine), "cluster": None, "place": place(bug, top)}
    if top is None:
        return result
    number = cluster["cluster"]
    result.update({
        "cluster": number, "top": {key: top[key] for key in (
            "function", "line", "kind", "predicate", "importance", "increase", "failing", "passing")},
        "covered": len(mine & ranking.true_in(number, 1)), "of_bug": heads[number][1][bug["id"]],
        "predictors": len(predictors),
        "first_in": next((i + 1 for i, p in enumerate(predictors) if place(bug, p) == "in"), None),
        "first_near": next((i + 1 for i, p in enumerate(predictors) if place(bug, p) in PLACES[:2]), None)})
    return result


def path_through(subject, runs, ranking, bug, cluster, crashes, wanted):
    """Paths to so many crashes of a bug, with the top two predictors of its cluster, if it has one."""
    predictors = []
    if cluster is not None:
        export = os.path.join(runs.folder, f"bug-{bug['id']}.json")
        ranking.call(["rank", ranking.store, "--quiet", "--cluster", str(cluster), "--export", export])
        predictors = ["--suspects", export, "--first", "2"]
    core = os.path.join(runs.folder, "core")
    found = []
    for seed in crashes:
        if len(found) == wanted:
            break
        if runs.core(seed, core):
            found.append({"seed": seed, **one_path(subject, bug, core, predictors)})
            os.unlink(core)
    return found


def one_path(subject, bug, core, predictors):
    """The path by all that the core says, and whether that by its stack alone passes, too."""
    document, trouble = path(subject, core, predictors)
    if trouble:
        return {"passes": False, "trouble": trouble}
    steps = [step["function"] for step in document["steps"]]
    stack = [step["function"] for step in document["steps"] if step.get("pending")] + steps[-1:]
    result = {key: document[key] for key in (
        "score", "length", "touched", "predictors", "feasible", "shortest", "missed", "complete")}
    result.update({"passes": visits(document, bug), "on_stack": any(f in stack for f in bug["functions"]), "stack": stack})
    bare, trouble = path(subject, core, [*predictors, "--use", "stack"])
    result["passes_by_stack"] = not trouble and visits(bare, bug)
    return result


def path(subject, core, options):
    """The document, or what went wrong."""
    command = [subject.tool("inquest"), "path", subject.path("plain"), core, *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=subject.environment())
    if done.returncode not in (0, 3):
        return None, f"{shlex.join(command)}: status {done.returncode}: {done.stderr.strip()[:400]}"
    return json.loads(done.stdout), None


def visits(document, bug):
    return any(step["function"] in bug["functions"] for step in document["steps"])
