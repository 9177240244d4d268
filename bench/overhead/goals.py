"""What the figures are to be, and whether they are. Goals are for -O2; a figure that was not taken is said to be missing.

Run time is judged twice: by instructions, which repeat, and by CPU time, beside which stands plain against plain."""

import estimate
import stack

OPT = "-O2"
NOT_MEASURED = "not measured in this run"
RUN = [("calls", 1.02, 1.05), ("paths", 1.05, 1.10), ("off", 1.01, 1.02)]
SIZE = [("single", 1.5), ("paths", 2.2)]
BUILD = [("paths", 1.4)]
STACK = ["calls", "paths", "full"]


def rows(results):
    """[goal, limit, figure, verdict] of each; what was not measured in one row."""
    judged = all_rows(results)
    left = [row[0] for row in judged if row[-1] == NOT_MEASURED]
    return [row for row in judged if row[-1] != NOT_MEASURED] + ([[NOT_MEASURED + ": " + "; ".join(left), "", "-", ""]] if left else [])


def all_rows(results):
    made = []
    for name, variant_ratios in (("instructions", instruction_ratios), ("CPU time", time_ratios)):
        if name == "CPU time" and results.times[OPT]:
            made.append(["CPU time, plain against plain", "", show(variant_ratios(results, "again")), "control"])
        for variant, mean, most in RUN:
            ratios = variant_ratios(results, variant)
            made.append(mean_row("%s, %s: mean" % (name, title(results, variant)), mean, ratios, "%.3f"))
            made.append(worst_row("%s, %s: every program" % (name, title(results, variant)), most, ratios))
        for variant, _, _ in RUN:
            made.append(below_row(results, name, variant, "gcov", variant_ratios))
        made.append(below_row(results, name, "full", "source", variant_ratios))
    for variant, limit in SIZE:
        made.append(mean_row("loaded size, %s: mean" % title(results, variant), limit, results.ratios(results.sizes, OPT, variant), "%.2f"))
    for variant, limit in BUILD:
        made.append(mean_row("build time, %s: mean" % title(results, variant), limit,
                             results.ratios(results.build_seconds, OPT, variant), "%.2f"))
    return made + [stack_row(results, variant) for variant in STACK]


def instruction_ratios(results, variant):
    return results.ratios(results.instructions, OPT, variant)


def time_ratios(results, variant):
    return results.time_ratios(OPT, variant)


def title(results, name):
    return next((variant.title for variant in results.variants if variant.name == name), name)


def show(ratios, form="%.3f"):
    if not ratios:
        return "-"
    return (form + ", most " + form + " %s") % ((estimate.geometric_mean(ratios.values()),) + estimate.greatest(ratios)[::-1])


def verdict(met):
    return "met" if met else "missed"


def missing(goal, limit):
    return [goal, limit, "-", NOT_MEASURED]


def mean_row(goal, limit, ratios, form):
    if not ratios:
        return missing(goal, form % limit)
    mean = estimate.geometric_mean(ratios.values())
    return [goal, form % limit, show(ratios, form), verdict(mean <= limit)]


def worst_row(goal, limit, ratios):
    if not ratios:
        return missing(goal, "%.3f" % limit)
    over = sorted((name for name in ratios if ratios[name] > limit), key=lambda name: -ratios[name])
    listed = ", ".join("%s %.3f" % (name, ratios[name]) for name in over)
    return [goal, "%.3f" % limit, "over it: " + listed if over else "most %.3f" % max(ratios.values()), verdict(not over)]


def below_row(results, name, variant, other, variant_ratios):
    """Less than another instrumentation on every program that has both."""
    goal = "%s, %s: below %s on every program" % (name, title(results, variant), title(results, other))
    ours, theirs = variant_ratios(results, variant), variant_ratios(results, other)
    both = [program for program in ours if program in theirs]
    if not both:
        return missing(goal, "")
    above = ["%s %.3f to %.3f" % (program, ours[program], theirs[program]) for program in both if ours[program] >= theirs[program]]
    return [goal, "", "not below: " + ", ".join(above) if above else "%d of %d" % (len(both), len(both)), verdict(not above)]


def stack_row(results, variant):
    """Functions that inline what they do in the plain build are judged."""
    goal = "stack, %s: bytes more a frame" % title(results, variant)
    frames = results.all_frames(OPT, variant)
    if not frames:
        return missing(goal, "%d" % stack.ALLOWED)
    over = [name for name in frames.over() if name not in frames.excused]
    judged = {name: bytes for name, bytes in frames.differences.items() if name not in frames.excused}
    figure = "most %d %s" % estimate.greatest(judged)[::-1] + (", %d functions over it" % len(over) if over else "")
    if frames.excused:
        others = {name: frames.differences[name] for name in frames.excused}
        figure += "; with other callees inlined %d over it, most %d %s" % ((len(others),) + estimate.greatest(others)[::-1])
    return [goal, "%d" % stack.ALLOWED, figure, verdict(not over)]
