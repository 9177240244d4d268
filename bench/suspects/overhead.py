"""What sampling costs: the programs of bench/overhead, built with -finquest=none,suspects and run without sampling,
at 1/1000 and at 1/100, against plain clang-19."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "bench", "overhead"))
import estimate
import measure
import report
import variants
from programs import PROGRAMS
from variants import BuildFailed, Builder, Variant

FLAGS = "-finquest=none,suspects"
GOALS = {"1/100": 1.05, "1/1000": 1.02}


def sampled(name, options):
    variant = Variant(name, name, FLAGS, ours=True, environment={"INQUEST_OPTIONS": options} if options else None)
    variant.build = "suspects"
    return variant


PLAIN = Variant("plain", "plain")
VARIANTS = [PLAIN, sampled("off", ""), sampled("1/1000", "suspects={scratch}:rate=1/1000:seed=1"),
            sampled("1/100", "suspects={scratch}:rate=1/100:seed=1")]


class SharedBuilder(Builder):
    """One build for all rates."""

    def directory(self, program, variant, opt):
        return os.path.join(self.work, "build", program.name + opt, getattr(variant, "build", variant.name))


def measure_all(builder, runner, programs, rounds, opt):
    results = report.Results(programs, VARIANTS, [opt])
    for program in programs:
        executables = {}
        results.sizes[opt][program.name] = {}
        for variant in VARIANTS:
            measure.say_on_terminal("building %s, %s" % (program.name, variant.name))
            try:
                executables[variant] = builder.build(program, variant, opt)
                results.sizes[opt][program.name][variant.name] = variants.loaded_size(executables[variant])
            except BuildFailed as error:
                results.failures.append((opt, program.name, variant.name, str(error)))
        results.times[opt][program.name], failed = runner.rounds(program, executables, rounds, measure.say_on_terminal)
        results.failures += [(opt, program.name, name, reason) for name, reason in failed.items()]
    measure.say_on_terminal("")
    return results


def verdict(results, opt):
    """The means against the goals."""
    lines = []
    for name, goal in GOALS.items():
        pairs = [results.pair(opt, program.name, name) for program in results.programs]
        pairs = [pair for pair in pairs if pair]
        if pairs:
            ratio = estimate.mean_ratio(pairs)
            lines.append("%s: %s of plain, goal %.2f: %s" % (name, report.with_interval(ratio), goal,
                                                            "met" if ratio.value <= goal else "missed"))
    return "\n".join(lines) + "\n"


def markdown(results, opt, rounds):
    parts = ["### Sampling at %s: ratio of medians of user CPU time to plain clang-19 [95%% interval], %d rounds\n" % (opt, rounds),
             report.time_table(results, opt, estimate.median, report.with_interval),
             "### The same, ratio of minima\n", report.time_table(results, opt, min, lambda ratio: "%.3f" % ratio.value),
             "### Loaded size\n", report.size_table(results, opt), verdict(results, opt)]
    if results.failures:
        parts += ["### Not measured\n", report.table(["opt", "program", "variant", "reason"], [list(f) for f in results.failures])]
    return "\n".join(parts)


def run(build, work, names, rounds, opt="-O2"):
    programs = [program for program in PROGRAMS if not names or program.name in names]
    builder = SharedBuilder(SOURCE, work, ["clang-19"], [os.path.join(build, "bin", "inquest-cc")], os.path.join(build, "bin", "inquest"))
    results = measure_all(builder, measure.Runner(work), programs, rounds, opt)
    print(markdown(results, opt, rounds))
    return 1 if results.failures else 0
