"""The measurements as markdown, for docs/benchmarks.md."""

import estimate

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
    """times[opt][program][variant]: seconds by round; sizes likewise, bytes; compile_seconds[opt][variant] of sqlite3;
    failures: (opt, program, variant, reason)."""

    def __init__(self, programs, variants, opts):
        self.programs = programs
        self.variants = variants
        self.opts = opts
        self.times = {opt: {} for opt in opts}
        self.sizes = {opt: {} for opt in opts}
        self.compile_seconds = {opt: {} for opt in opts}
        self.failures = []

    def pair(self, opt, program, variant):
        """(times, plain times), or None where either is missing."""
        measured = self.times[opt].get(program, {})
        if not measured.get(variant) or not measured.get("plain"):
            return None
        return measured[variant], measured["plain"]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def with_interval(ratio):
    return "%.3f [%.3f, %.3f]" % (ratio.value, ratio.low, ratio.high)


def time_table(results, opt, summary, show):
    compared = [variant for variant in results.variants if variant.name != "plain"]
    rows = []
    for program in results.programs:
        pairs = [results.pair(opt, program.name, variant.name) for variant in compared]
        rows.append([program.name, plain_seconds(results, opt, program)] +
                    [show(estimate.ratio(*pair, summary)) if pair else "-" for pair in pairs])
    means = []
    for variant in compared:
        pairs = [pair for pair in (results.pair(opt, program.name, variant.name) for program in results.programs) if pair]
        complete = len(pairs) == len(results.programs)
        means.append(show(estimate.mean_ratio(pairs, summary)) + ("" if complete else " (of %d)" % len(pairs)) if pairs else "-")
    rows.append(["geometric mean", ""] + means)
    return table(["program", "plain, s"] + [variant.title for variant in compared], rows)


def plain_seconds(results, opt, program):
    times = results.times[opt].get(program.name, {}).get("plain")
    return "%.2f" % estimate.median(times) if times else "-"


def size_table(results, opt):
    compared = [variant for variant in results.variants if variant.name != "plain" and not variant.tuned_from]
    rows, columns = [], {variant.name: [] for variant in compared}
    for program in results.programs:
        sizes = results.sizes[opt].get(program.name, {})
        row = [program.name, str(sizes.get("plain", "-"))]
        for variant in compared:
            if variant.name in sizes and "plain" in sizes:
                columns[variant.name].append(sizes[variant.name] / sizes["plain"])
                row.append("%.2f" % columns[variant.name][-1])
            else:
                row.append("-")
        rows.append(row)
    rows.append(["geometric mean", ""] + ["%.2f" % estimate.geometric_mean(columns[variant.name]) if columns[variant.name] else "-"
                                          for variant in compared])
    return table(["program", "plain, bytes"] + [variant.title for variant in compared], rows)


def compile_table(results):
    compared = [variant for variant in results.variants if not variant.tuned_from and variant.name != "plain"]
    rows = []
    for opt in results.opts:
        seconds = results.compile_seconds[opt]
        if "plain" not in seconds:
            continue
        rows.append([opt, "%.1f" % seconds["plain"]] +
                    ["%.2f" % (seconds[variant.name] / seconds["plain"]) if variant.name in seconds else "-" for variant in compared])
    return table(["sqlite3", "plain, s"] + [variant.title for variant in compared], rows) if rows else ""


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
                  "ours: flags off -O0", "full -O0", "realistic -O0", "realistic -O3"], rows)


def markdown(results, rounds, machine):
    parts = ["%s; %d rounds, interleaved; user CPU time against plain clang-19.\n" % (machine, rounds)]
    for opt in results.opts:
        parts.append("### Run time at %s: ratio of medians [95%% interval]\n" % opt)
        parts.append(time_table(results, opt, estimate.median, with_interval))
        parts.append("### Run time at %s: ratio of minima\n" % opt)
        parts.append(time_table(results, opt, min, lambda ratio: "%.3f" % ratio.value))
        parts.append("### Loaded size (text and data) at %s\n" % opt)
        parts.append(size_table(results, opt))
    compile_times = compile_table(results)
    if compile_times:
        parts.append("### Compiling sqlite3, CPU seconds, ratio\n")
        parts.append(compile_times)
    if any(results.pair(opt, program.name, variant) for opt, variant in BESIDE_PAPER if opt in results.opts
           for program in results.programs):
        parts.append("### Beside table II of paper 001\n")
        parts.append(paper_table(results))
    if results.failures:
        parts.append("### Not measured\n")
        parts.append(table(["opt", "program", "variant", "reason"], [list(failure) for failure in results.failures]))
    return "\n".join(parts)
