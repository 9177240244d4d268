# SPDX-License-Identifier: Apache-2.0
"""Choices that follow from a seed alone: the same on every machine and with every version of Python."""

import random


class Draw:
    """`Draw("7:features")` gives the same sequence for ever. Of the standard generator only its bits are used, since how
    others of its methods draw has changed between versions."""

    def __init__(self, seed):
        self._bits = random.Random(str(seed)).getrandbits

    def below(self, count):
        return self._bits(48) % count

    def between(self, low, high):
        """Both ends included."""
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(1000) < 10 * percent

    def of(self, *choices):
        return choices[self.below(len(choices))]

    def weighted(self, choices):
        """From (weight, choice) pairs."""
        choices = list(choices)
        left = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            if left < weight:
                return choice
            left -= weight
        raise AssertionError

    def some(self, count, choices):
        """That many different ones, in a random order."""
        rest, out = list(choices), []
        while rest and len(out) < count:
            out.append(rest.pop(self.below(len(rest))))
        return out

    def magnitude(self, low, high):
        """Small numbers as often as large ones."""
        result = high
        while result > low and self.chance(50):
            result //= 2
        return max(low, result - self.below(result // 4 + 1))

    def word(self):
        """A 32-bit constant of C."""
        return f"{self.of(self._bits(32), self._bits(8), self._bits(16), 1 << self.below(32)):#x}u"
