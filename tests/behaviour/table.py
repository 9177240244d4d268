# SPDX-License-Identifier: Apache-2.0
"""What a campaign found, as text."""

import collections

from judging import EXCUSED, SAME


def lines(records):
    builds = [
        {**build, "kind": record["kind"], "groups": record.get("groups", [])}
        for record in records
        for build in record["builds"]
    ]
    yield from summary(records, builds)
    for title, key in (("level", "level"), ("optimisation", "opt"), ("kind of program", "kind")):
        yield from by(title, builds, lambda build, key=key: [build[key]])
    yield from by("feature of generated programs", builds, lambda build: build["groups"])
    yield from by("further flag", builds, lambda build: build["extras"])
    yield from crossed(builds)


def summary(records, builds):
    programs = collections.Counter(record["kind"] for record in records if record["builds"])
    wrong = collections.Counter(build["outcome"] for build in builds if build["outcome"] != SAME)
    yield f"{len(builds)} builds of {sum(programs.values())} programs ({', '.join(f'{n} {kind}' for kind, n in sorted(programs.items()))}); " f"{sum(build['limited'] for build in builds)} also run with little stack"
    unusable = collections.Counter(why.split(":")[0] for record in records for why in record["unusable"])
    if unusable:
        yield "not usable: " + ", ".join(f"{n} ({why})" for why, n in unusable.most_common())
    yield f"differences: {', '.join(f'{n} {what}' for what, n in wrong.most_common()) or 'none'}"


def by(title, builds, keys):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for build in builds:
        for key in keys(build):
            rows[key][0] += 1
            rows[key][1] += build["outcome"] not in (*EXCUSED, "stack")
            rows[key][2] += build["outcome"] == "stack"
    yield ""
    yield f"{'builds':>8} {'differ':>7} {'stack':>6}  {title}"
    for key, (count, differ, stack) in sorted(rows.items(), key=lambda row: -row[1][0]):
        yield f"{count:8} {differ:7} {stack:6}  {key}"


def crossed(builds):
    """Levels by optimisation: builds, and differences of all kinds where there are any."""
    levels = sorted({build["level"] for build in builds})
    opts = sorted({build["opt"] for build in builds})
    cells = collections.defaultdict(lambda: [0, 0])
    for build in builds:
        cell = cells[build["level"], build["opt"]]
        cell[0] += 1
        cell[1] += build["outcome"] not in EXCUSED
    yield ""
    yield "level".ljust(12) + "".join(f"{opt:>15}" for opt in opts)
    for level in levels:
        yield level.ljust(12) + "".join(
            f"{cells[level, opt][0]}{'/' + str(cells[level, opt][1]) if cells[level, opt][1] else '':}".rjust(15)
            for opt in opts
        )
