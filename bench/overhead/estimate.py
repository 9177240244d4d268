"""Ratios of run times with intervals.

Times come in rounds: every variant ran once in each. The bootstrap resamples whole rounds, so that
what disturbed the machine in a round disturbs both sides of a ratio."""

import math
import random

RESAMPLES = 2000


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def greatest(ratios):
    """(name, ratio) of the greatest, of ratios by name."""
    return max(ratios.items(), key=lambda item: item[1])


class Ratio:
    """value with a 95% interval [low, high]."""

    def __init__(self, value, low, high):
        self.value = value
        self.low = low
        self.high = high


def ratio(times, base, summary=median):
    """times and base: seconds by round."""
    return mean_ratio([(times, base)], summary)


def mean_ratio(pairs, summary=median):
    """Geometric mean of the ratios of (times, base) pairs, each resampled by itself."""
    value = geometric_mean([summary(times) / summary(base) for times, base in pairs])
    rng = random.Random(1)
    samples = []
    for _ in range(RESAMPLES):
        ratios = []
        for times, base in pairs:
            rounds = rng.choices(range(len(times)), k=len(times))
            ratios.append(summary([times[i] for i in rounds]) / summary([base[i] for i in rounds]))
        samples.append(geometric_mean(ratios))
    samples.sort()
    return Ratio(value, samples[int(0.025 * RESAMPLES)], samples[int(0.975 * RESAMPLES) - 1])
