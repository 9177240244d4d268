"""The measurements as markdown, for docs/benchmarks.md."""

import estimate
import goals
import stack

# Paper 001, table II: None, all functions without and with call coverage, Realistic (not
# optimised), and Realistic with -O3.
PAPER = {
    "print_tokens": (1.000, 0.999, 1.002, 1.001, 0.998),
    "print_tokens2": (1.002, 1.001, 1.000, 0.999, 0.999),
    "schedule": (1.000, 1.000, 1.001, 0.999, 0.999),
    "schedule2": (1.001, 1.000, 1.000, 1.000, 1.000),
    "tcas": (1.000, 1.000, 1.001, 1.001, 1.000),
    "ccrypt": (1.003, 1.008, 1.016, 1.005, 0.999),
    "flex": (1.003, 1.006, 1.006, 1.008, 1.025),
    "grep": (1.019, 1.049, 1.053, 1.032, 1.020),
    "gzip": (1.024, 1.155, 1.157, 1.044, 1.011),
    "sed": (1.009, 1.030, 1.037, 1.015, 1.000),
    "space": (1.000, 1.004, 1.003, 1.002, 1.001),
    "gcc": (1.027, 1.062, 1.080, 1.053, 1.015),
}

# What of ours stands beside its columns.
BESIDE_PAPER = [("-O0", "off"), ("-O0", "full"), ("-O0", "realistic"), ("-O3", "realistic")]


class Results:
    """By opt, program and variant: times (seconds by round), instructions, sizes (bytes), build_seconds, and frames
    (stack.Frames against plain). failures: (opt, program, variant, reason)."""

    def __init__(self, programs, variants, opts):
        self.programs = programs
        self.variants = variants
        self.opts = opts
        self.times = {opt: {} for opt in opts}
        self.instructions = {opt: {} for opt in opts}
        self.sizes = {opt: {} for opt in opts}
        self.build_seconds = {opt: {} for opt in opts}
        self.frames = {opt: {} for opt in opts}
        self.failures = []

    def pair(self, opt, program, variant):
        """(times, plain times), or None where either is missing."""
        measured = self.times[opt].get(program, {})
        if not measured.get(variant) or not measured.get("plain"):
            return None
        return measured[variant], measured["plain"]

    def pairs(self, opt, variant):
        """By program, of those that have both."""
        found = {program.name: self.pair(opt, program.name, variant) for program in self.programs}
        return {name: pair for name, pair in found.items() if pair}

    def ratios(self, figure, opt, variant):
        """By program; figure is one of the dictionaries above with one number a variant."""
        found = {}
        for program in self.programs:
            measured = figure[opt].get(program.name, {})
            if measured.get("plain") and measured.get(variant):
                found[program.name] = measured[variant] / measured["plain"]
        return found

    def time_ratios(self, opt, variant, summary=estimate.median):
        return {name: summary(times) / summary(plain) for name, (times, plain) in self.pairs(opt, variant).items()}

    def all_frames(self, opt, variant):
        """The frames of all programs together, or None."""
        return stack.together({program: frames[variant] for program, frames in self.frames[opt].items() if variant in frames})


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def with_interval(ratio):
    return "%.3f [%.3f, %.3f]" % (ratio.value, ratio.low, ratio.high)


def worst_row(columns, form):
    """columns: ratios by program, one dictionary a variant."""
    return ["worst program", ""] + [(form + " %s") % estimate.greatest(ratios)[::-1] if ratios else "-" for ratios in columns]


def of_how_many(results, count):
    return "" if count == len(results.programs) else " (of %d)" % count


def time_table(results, opt, summary, show):
    compared = [variant for variant in results.variants if variant.name != "plain"]
    rows = []
    for program in results.programs:
        pairs = [results.pair(opt, program.name, variant.name) for variant in compared]
        rows.append([program.name, plain_seconds(results, opt, program)] +
                    [show(estimate.ratio(*pair, summary)) if pair else "-" for pair in pairs])
    means = []
    for variant in compared:
        pairs = list(results.pairs(opt, variant.name).values())
        means.append(show(estimate.mean_ratio(pairs, summary)) + of_how_many(results, len(pairs)) if pairs else "-")
    rows.append(["geometric mean", ""] + means)
    rows.append(worst_row([results.time_ratios(opt, variant.name, summary) for variant in compared], "%.3f"))
    return table(["program", "plain, s"] + [variant.title for variant in compared], rows)


def plain_seconds(results, opt, program):
    times = results.times[opt].get(program.name, {}).get("plain")
    return "%.2f" % estimate.median(times) if times else "-"


def ratio_table(results, figure, opt, unit, show, form, compared):
    """Of a figure that has one number a variant."""
    columns = [results.ratios(figure, opt, variant.name) for variant in compared]
    rows = []
    for program in results.programs:
        plain = figure[opt].get(program.name, {}).get("plain")
        rows.append([program.name, show(plain) if plain else "-"] +
                    [form % ratios[program.name] if program.name in ratios else "-" for ratios in columns])
    rows.append(["geometric mean", ""] + [form % estimate.geometric_mean(ratios.values()) + of_how_many(results, len(ratios))
                                          if ratios else "-" for ratios in columns])
    rows.append(worst_row(columns, form))
    return table(["program", "plain, " + unit] + [variant.title for variant in compared], rows)


def instruction_table(results, opt):
    compared = [variant for variant in results.variants if variant.name != "plain"]
    return ratio_table(results, results.instructions, opt, "millions", lambda count: "%.1f" % (count / 1e6), "%.3f", compared)


def built_variants(results):
    return [variant for variant in results.variants if variant.name != "plain" and not variant.tuned_from]


def size_table(results, opt):
    return ratio_table(results, results.sizes, opt, "bytes", lambda size: "%d" % size, "%.2f", built_variants(results))


def build_table(results, opt):
    return ratio_table(results, results.build_seconds, opt, "s", lambda seconds: "%.2f" % seconds, "%.2f", built_variants(results))


def frames_row(program, variant, frames):
    return [program, variant, "%d" % len(frames.ordered), "%.1f" % frames.mean(), "%d" % frames.percentile(99),
            "%d %s" % frames.worst()[::-1], "%d, %d" % (len(frames.over()), len(frames.over()) - len(frames.excused))]


def stack_table(results, opt):
    rows = []
    for variant in results.variants:
        for program in results.programs:
            frames = results.frames[opt].get(program.name, {}).get(variant.name)
            if frames:
                rows.append(frames_row(program.name, variant.title, frames))
        frames = results.all_frames(opt, variant.name)
        if frames:
            rows.append(frames_row("all programs", variant.title, frames))
    return table(["program", "variant", "functions", "mean", "99th percentile", "most",
                  "over %d: all, with the same callees inlined" % stack.ALLOWED], rows)


def paper_table(results):
    """Ours beside the paper's: at -O0, and at -O3 for its column Optimized."""
    names = list(PAPER) + [program.name for program in results.programs if program.name not in PAPER]
    rows = []
    for name in names:
        row = [name] + (["%.3f" % figure for figure in PAPER[name]] if name in PAPER else ["-"] * 5)
        for opt, variant in BESIDE_PAPER:
            pair = results.pair(opt, name, variant) if opt in results.opts else None
            row.append("%.3f" % estimate.ratio(*pair).value if pair else "-")
        rows.append(row)
    return table(["program", "paper: none", "-calls", "+calls", "realistic", "optimised",
                  "ours: tuned off -O0", "full -O0", "realistic -O0", "realistic -O3"], rows)


def opt_parts(results, opt, rounds):
    """(heading, table) of all that was measured at one level of optimisation."""
    parts = []
    if results.instructions[opt]:
        parts.append(("Instructions at %s: ratio of counts" % opt, instruction_table(results, opt)))
    if results.times[opt]:
        parts.append(("Run time at %s: ratio of medians [95%% interval], %d rounds" % (opt, rounds),
                      time_table(results, opt, estimate.median, with_interval)))
        parts.append(("Run time at %s: ratio of minima" % opt, time_table(results, opt, min, lambda ratio: "%.3f" % ratio.value)))
    if results.sizes[opt]:
        parts.append(("Loaded size (text and data) at %s" % opt, size_table(results, opt)))
    if results.build_seconds[opt]:
        parts.append(("Build time at %s: CPU seconds of compiling and linking" % opt, build_table(results, opt)))
    if any(results.frames[opt].values()):
        parts.append(("Stack use at %s: bytes more a frame, functions of both builds" % opt, stack_table(results, opt)))
    return parts


def markdown(results, rounds, machine):
    parts = []
    if goals.OPT in results.opts:
        parts.append(("Goals at " + goals.OPT, table(["goal", "limit", "here", ""], goals.rows(results))))
    for opt in results.opts:
        parts += opt_parts(results, opt, rounds)
    if any(results.pair(opt, program.name, variant) for opt, variant in BESIDE_PAPER if opt in results.opts
           for program in results.programs):
        parts.append(("Run time beside table II of paper 001", paper_table(results)))
    if results.failures:
        parts.append(("Not measured", table(["opt", "program", "variant", "reason"], [list(failure) for failure in results.failures])))
    return "%s; against plain clang-19.\n\n" % machine + "\n".join("#### %s\n\n%s" % part for part in parts)
