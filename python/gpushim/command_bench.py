# SPDX-License-Identifier: Apache-2.0
"""`gpushim bench`: measures unchanged programs plain and under gpushim, compares their outputs, and judges."""
import argparse
import json
import os
import re
import signal
import sys

from gpushim import bench_checks, bench_comparing, bench_output, bench_plot, bench_programs, bench_turns, files, launch, variables
from gpushim.messages import complain
from gpushim.parsing import number_from

USAGE = "gpushim bench [options] (script.py ... [options] | script.py arguments | -m module | program) [-- another program ...]"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """One of SIGNALS came. A KeyboardInterrupt of its own kind: nothing but this file catches it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def interrupt(number, _frame):
    for other in SIGNALS:  # a second one does not disturb the end of the programs
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


def percent(text):
    try:
        value = number_from(0)(text.rstrip("%"))
        if value <= 100:
            return value
    except argparse.ArgumentTypeError:
        pass
    raise argparse.ArgumentTypeError("a percentage up to 100%%, as 50%%, is expected, not %s" % text)


def pattern(text):
    try:
        return re.compile(text, re.M)
    except re.error as error:
        raise argparse.ArgumentTypeError("%s: %s" % (text, error)) from None


def clock(text):
    """(name, pattern) of NAME=PATTERN."""
    name, equals, expression = text.partition("=")
    if not name or not equals or pattern(expression).groups != 1:
        raise argparse.ArgumentTypeError("NAME=PATTERN with one group is expected, not %r" % text)
    return name, pattern(expression)


def add_measuring(parser):
    add = parser.add_argument
    add("--runs", type=number_from(1, int), default=5, metavar="N", help="timed pairs of runs (5)")
    add("--warmup", type=number_from(0, int), default=1, metavar="N", help="pairs of runs before them, which are not timed (1)")
    add("--timeout", type=number_from(0.1), default=600.0, metavar="SECONDS", help="ends a run that takes longer (600)")
    add("--programs", metavar="FILE", help="measure these too: one a line, as in a shell")
    add("--clock", type=clock, action="append", default=[], metavar="NAME=PATTERN",
        help="also measure seconds that the program prints, by a regular expression with one group; may be repeated")


def add_comparing(parser):
    add = parser.add_argument
    add("--output", action="append", default=[], metavar="PATTERN", help="also compare files that the program writes; may be repeated")
    add("--rtol", type=number_from(0), default=1e-5, metavar="R", help="numbers are equal where they differ by ATOL + RTOL |plain| (1e-5)")
    add("--atol", type=number_from(0), default=1e-8, metavar="A", help="likewise (1e-8)")
    add("--ignore", type=pattern, action="append", default=[], metavar="PATTERN",
        help="text that is not compared, a regular expression; may be repeated")
    add("--compare-stderr", action="store_true", help="compare standard error too")


def add_judging(parser):
    add = parser.add_argument
    add("--min-speedup", type=number_from(0), metavar="X", help="fail where the speed-up is less")
    add("--require-gpu", type=percent, metavar="NN%", help="fail where less of NumPy's time is the device's")
    add("--baseline", metavar="FILE", help="fail where a median under gpushim is worse than in this earlier --json")
    add("--noise", type=number_from(0), default=10.0, metavar="PERCENT", help="how much worse it may be beyond the spreads (10)")
    add("--json", metavar="FILE", help="write the results")
    add("--markdown", metavar="FILE", help="write the table; appended where FILE is $GITHUB_STEP_SUMMARY")
    add("--png", metavar="FILE", help="draw the results; needs matplotlib (the extra plots)")
    add("--quiet", action="store_true", help="no progress on standard error")


def add_to(commands):
    parser = commands.add_parser("bench", usage=USAGE, help="measure programs plain and under gpushim, and compare their outputs",
                                 allow_abbrev=False, description="Runs programs plain and under gpushim in turns. Exit status: 0 fine, "
                                 "1 error, 2 usage, 3 slower than wanted, 4 not on the GPU, 5 output differs, 6 a plain program failed.")
    for add in (add_measuring, add_comparing, add_judging):
        add(parser)
    variables.add_options(parser, report=False)


def how_to_run(options):
    clocks = dict(options.clock)
    ignored = [*options.ignore, *clocks.values()]
    tolerance = bench_comparing.Tolerance(options.rtol, options.atol, ignored, options.compare_stderr)
    return bench_turns.How(options.runs, options.warmup, options.timeout, options.output, clocks, options.variables, tolerance)


def baseline_of(path):
    """{name of a row: its summary under gpushim} of an earlier --json; None: no file is given. OSError, ValueError: it is none."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            programs = json.load(file)["programs"]
        return {name: row["gpushim"] for program in programs for name, row in program["rows"].items()}
    except (KeyError, TypeError, ValueError):
        raise ValueError("%s is no file of gpushim bench --json" % path) from None


def check_outputs(options):
    """OSError, ValueError: what is asked for could not be written at the end, which is far away."""
    files.check_outputs(options.json, options.markdown, options.png)
    if options.png and bench_plot.missing():
        raise ValueError(bench_plot.missing())


def tell(measurement, number, count, side, purpose, outcome):
    """A line of progress."""
    told = "cannot be started" if outcome is None else "%.3f s" % outcome.seconds
    print("gpushim bench: %s: %d/%d %s %s: %s" % (measurement.name, number, count, purpose, side, told), file=sys.stderr, flush=True)


def measure_all(measurements, programs, options):
    """Adds to `measurements`; the signal that ended it, or None."""
    how = how_to_run(options)
    for number in SIGNALS:
        signal.signal(number, interrupt)
    try:
        for program in programs:
            measurements.append(bench_turns.Measurement(program, how))
            bench_turns.measure(measurements[-1], (lambda *_: None) if options.quiet else tell)
    except Interrupted as interrupted:
        return interrupted.number
    return None


def write_files(options, lines, facts, measurements):
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=1)
            file.write("\n")
    if options.markdown:
        is_shared = options.markdown == os.environ.get("GITHUB_STEP_SUMMARY")
        with open(options.markdown, "a" if is_shared else "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if options.png:
        bench_plot.draw(options.png, measurements)


def execute(options):
    commands = options.program + (bench_programs.read(options.programs) if options.programs else [])
    for words in commands or [[]]:
        launch.check_words(words, options.parser)
    check_outputs(options)
    why = launch.why_no_gpu(bench_turns.environment_of(bench_turns.SHIM, options.variables))
    if why is not None:
        complain("no NVIDIA GPU was found: %s" % why)
    limits = bench_checks.Limits(options.min_speedup, options.require_gpu, baseline_of(options.baseline), options.noise)
    measurements = []
    ended_by = measure_all(measurements, bench_programs.named(commands), options)
    problems = [problem for measurement in measurements for problem in bench_checks.problems_of(measurement, limits)]
    problems += bench_checks.files_problems(measurements, options.output)
    status = 128 + ended_by if ended_by else bench_checks.status_of(problems)
    lines = bench_output.text(measurements, problems)
    if ended_by:
        lines.append("- INTERRUPTED by signal %d: not all runs were made." % ended_by)
    print(bench_output.printable(lines, sys.stdout.encoding), flush=True)
    write_files(options, lines, bench_output.facts(measurements, problems, how_to_run(options), status), measurements)
    return status
