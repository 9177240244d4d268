# SPDX-License-Identifier: Apache-2.0
"""What a campaign found, as tables: for each bug the top predictor of its cluster and where that is."""

import campaign_judge

HEADER = ["bug", "rate", "failing", "cluster", "of", "head", "imp.", "top predictor", "first in", "path", "top predictor is"]


def name(result, bug):
    return result["name"] + (f" {bug['bug']}" if len(result["bugs"]) > 1 else "")


def paths(bug):
    """Of so many crashes: paths through the faulty function, and such by the stack alone."""
    found = bug["paths"]
    if not found:
        return "-"
    return f"{sum(p['passes'] for p in found)} of {len(found)}, {sum(p.get('passes_by_stack', False) for p in found)}"


def row(result, bug):
    top = bug.get("top")
    return [name(result, bug), str(result["rate"]), f"{bug['failing']}/{result['runs']}", str(bug["cluster"] or "-"),
            f"{len(result['clusters'])}", f"{bug['of_bug']}/{top['failing']}+{top['passing']}" if top else "-",
            f"{top['importance']:.3f}" if top else "-", bug["place"], str(bug.get("first_in") or "-"), paths(bug),
            f"{top['function']}:{top['line']} {top['predicate']}" if top else ""]


def text(results):
    """head: failing runs of this bug, of all failing ones, + passing ones in which the top predictor was true."""
    rows = [HEADER] + [row(result, bug) for result in results for bug in result["bugs"]]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEADER))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(r, widths)).rstrip() for r in rows)


def markdown(results, rates):
    """A line a bug, all rates beside each other."""
    lines = ["| bug |" + "".join(f" top predictor at 1/{rate} | F + S | where | first in | path |" for rate in rates),
             "|---|" + "---|---|---|---|---|" * len(rates)]
    for result in results:
        if result["rate"] != rates[0]:
            continue
        for bug in result["bugs"]:
            cells = [name(result, bug)]
            for rate in rates:
                other = next(r for r in results if r["rate"] == rate and r["name"] == result["name"])
                cells += cells_of(next(b for b in other["bugs"] if b["bug"] == bug["bug"]))
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cells_of(bug):
    top = bug.get("top")
    if top is None:
        return ["", "", "none", "", paths(bug)]
    predicate = top["predicate"].replace("|", "\\|")
    return [f"`{top['function']}`:{top['line']} {predicate}", f"{top['failing']} + {top['passing']}",
            f"**{bug['place']}**" if bug["place"] in campaign_judge.PLACES[:2] else bug["place"],
            str(bug["first_in"] or ""), paths(bug)]


def summary(results, rate):
    bugs = [bug for result in results if result["rate"] == rate for bug in result["bugs"]]
    near = [bug for bug in bugs if bug["place"] in campaign_judge.PLACES[:2]]
    crashing = [bug for bug in bugs if bug["paths"]]
    return {"rate": rate, "bugs": len(bugs), "in": sum(bug["place"] == "in" for bug in near), "near": len(near),
            "crashing": len(crashing), "through": sum(all(p["passes"] for p in bug["paths"]) for bug in crashing),
            "through_by_stack": sum(all(p.get("passes_by_stack") for p in bug["paths"]) for bug in crashing)}


def say(totals):
    said = (f"rate 1/{totals['rate']}: top predictor in the faulty function for {totals['in']}, there or one call away for "
            f"{totals['near']} of {totals['bugs']} bugs")
    if totals["crashing"]:
        said += (f"; the path passes through it for {totals['through']} of {totals['crashing']} that crash, by the stack "
                 f"alone for {totals['through_by_stack']}")
    return said
