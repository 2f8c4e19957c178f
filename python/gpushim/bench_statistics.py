# SPDX-License-Identifier: Apache-2.0
"""What a few measurements of the same thing say: medians, spread, and the interval of a quotient of medians."""
import random
import statistics

RESAMPLES = 2000
COVERED = 0.95  # of the interval


def summary(seconds):
    """The spread is the median absolute deviation; None: nothing was measured."""
    if not seconds:
        return None
    median = statistics.median(seconds)
    return {"seconds": list(seconds), "median": median, "spread": statistics.median(abs(each - median) for each in seconds),
            "min": min(seconds), "max": max(seconds)}


def speedup(plain, other):
    """The quotient of the medians, with its bootstrap interval: lists of seconds to {ratio, low, high}; None: nothing was measured.
    low and high are None where a list has one element, which tells nothing of chance. The same lists give the same interval."""
    if not plain or not other:
        return None
    if min(len(plain), len(other)) < 2:
        return {"ratio": statistics.median(plain) / statistics.median(other), "low": None, "high": None}
    chance = random.Random(1)
    ratios = sorted(statistics.median(chance.choices(plain, k=len(plain))) / statistics.median(chance.choices(other, k=len(other)))
                    for _ in range(RESAMPLES))
    beyond = int(RESAMPLES * (1 - COVERED) / 2)
    return {"ratio": statistics.median(plain) / statistics.median(other), "low": ratios[beyond], "high": ratios[-1 - beyond]}


def speedup_text(speedup):
    """Of what speedup() returns."""
    interval = "" if speedup["low"] is None else " (%.2f to %.2f)" % (speedup["low"], speedup["high"])
    return "%.2fx%s" % (speedup["ratio"], interval)
