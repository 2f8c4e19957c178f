# SPDX-License-Identifier: Apache-2.0
"""What must not be: each a kind of problem with an exit status of its own. The highest of several is the command's."""
import collections

from gpushim import bench_files
from gpushim.bench_statistics import speedup_text
from gpushim.messages import counted

SLOWER, NOT_ON_GPU, DIFFERS, FAILED = "slower", "not-on-gpu", "differs", "failed"
STATUS = {SLOWER: 3, NOT_ON_GPU: 4, DIFFERS: 5, FAILED: 6}

Problem = collections.namedtuple("Problem", "kind name text")
# Limits; None: no limit. min_speedup: of the medians; require_gpu: percent; baseline: {name of a row: seconds' summary under gpushim};
# noise: percent that a median may grow beyond the spreads.
Limits = collections.namedtuple("Limits", "min_speedup require_gpu baseline noise")


def output_problems(measurement):
    if measurement.failure is not None:
        return [Problem(FAILED, measurement.name, measurement.failure)]
    if measurement.unsteady:
        return [Problem(DIFFERS, measurement.name, "plain runs differ among themselves (--ignore leaves text out): %s" % text)
                for text in measurement.unsteady]
    return [Problem(DIFFERS, measurement.name, text) for text in measurement.differences]


def speed_problems(measurement, limits):
    row = measurement.rows()[measurement.name]
    if limits.min_speedup is None or row["speedup"] is None or row["speedup"]["ratio"] >= limits.min_speedup:
        return []
    return [Problem(SLOWER, measurement.name, "speed-up %s, wanted %g" % (speedup_text(row["speedup"]), limits.min_speedup))]


def has_grown(now, before, noise):
    """Whether the median is worse by more than `noise` percent, both medians' spreads given in the program's favour."""
    return now["median"] - now["spread"] > (before["median"] + before["spread"]) * (1 + noise / 100)


def baseline_problems(measurement, limits):
    problems = []
    for name, row in measurement.rows().items():
        now, before = row["gpushim"], (limits.baseline or {}).get(name)
        if limits.baseline is not None and before is None:
            problems.append(Problem(SLOWER, name, "it is not in the baseline"))
        if now and before and has_grown(now, before, limits.noise):
            problems.append(Problem(SLOWER, name, "%.4g s under gpushim, %.4g s in the baseline: %+.0f %%, allowed %g %% beyond the spreads"
                                    % (now["median"], before["median"], (now["median"] / before["median"] - 1) * 100, limits.noise)))
    return problems


def device_problems(measurement, limits):
    if limits.require_gpu is None or measurement.failure is not None or not measurement.is_complete:
        return []
    report = measurement.report
    if report is None or report["share"] is None:
        return [Problem(NOT_ON_GPU, measurement.name, "no call of NumPy was seen, wanted %g %% on the device" % limits.require_gpu)]
    if report["share"] * 100 >= limits.require_gpu:
        return []
    why = ", ".join("%s (%s)" % (reason["code"], counted(reason["calls"], "call", "calls")) for reason in report["reasons"][:3])
    return [Problem(NOT_ON_GPU, measurement.name, "%.0f %% of NumPy's work on the device, wanted %g %%%s"
                    % (report["share"] * 100, limits.require_gpu, why and "; on the CPU for: " + why))]


def problems_of(measurement, limits):
    return (output_problems(measurement) + speed_problems(measurement, limits) + baseline_problems(measurement, limits) +
            device_problems(measurement, limits))


def files_problems(measurements, patterns):
    """Patterns of files that no plain run has written: nothing was compared by them."""
    measured = [measurement.reference.files for measurement in measurements if measurement.is_complete]
    written = [path for files in measured for path in files]
    return [Problem(FAILED, "--output", "no program wrote a file %s" % pattern)
            for pattern in bench_files.not_written(patterns, written) if measured]


def status_of(problems):
    """The exit status."""
    return max([STATUS[problem.kind] for problem in problems], default=0)
