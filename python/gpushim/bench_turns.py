# SPDX-License-Identifier: Apache-2.0
"""The runs of one program: plain and under gpushim in turns, so that what drifts meanwhile (clocks, caches, other work) meets both
alike; after them one under gpushim that is not timed and writes the report, which costs time."""
import collections
import os
import shutil
import tempfile

from gpushim import bench_comparing, bench_files, bench_reports, bench_statistics, launch, process_reports, program_run
from gpushim.files import library_path

PLAIN, SHIM = "plain", "gpushim"
WARM_UP, TIMED, REPORT = "warm-up", "timed", "report"  # what a run is for
OWN = "GPUSHIM_"  # variables that begin so are the library's

# How to run: runs, warmup: pairs of runs; timeout: seconds, None: none; outputs: patterns of files; clocks: {name: compiled pattern whose
# first group is a number of seconds}; variables: {GPUSHIM_NAME: value}; tolerance: a bench_comparing.Tolerance.
How = collections.namedtuple("How", "runs warmup timeout outputs clocks variables tolerance")


def turns(pairs):
    """plain, gpushim, gpushim, plain, plain ..."""
    return [side for pair in range(pairs) for side in ((PLAIN, SHIM), (SHIM, PLAIN))[pair % 2]]


def plain_environment():
    """As if there were no gpushim, also where this process runs under it."""
    environment = {name: value for name, value in launch.own_environment().items() if not name.startswith(OWN)}
    there = launch.SEPARATORS.split(environment.pop("LD_PRELOAD", ""))
    others = [path for path in there if path and os.path.basename(path) != os.path.basename(library_path())]
    return dict(environment, LD_PRELOAD=":".join(others)) if others else environment


def environment_of(side, variables):
    """`variables`: {GPUSHIM_NAME: value} of the runs under gpushim. A report that the user's environment asks for is not made: it
    would be part of the time."""
    if side == PLAIN:
        return plain_environment()
    environment = launch.environment_with(variables)
    if "GPUSHIM_REPORT" not in variables:
        environment.pop("GPUSHIM_REPORT", None)
    return environment


class Measurement:
    """What is known of a program so far.

    seconds      {side: [seconds of each timed run]}
    clocks       {name: {side: [seconds that the program printed in each timed run]}}
    failure      why the plain program cannot be measured; None: it can
    unsteady     how plain runs differ from the first one: what to compare with is then not known
    differences  how runs under gpushim differ from the first plain one
    report       of bench_reports.summary, for the last run; None: there was none
    is_over      whether further runs would tell nothing: one has failed
    is_complete  whether all runs were made
    """

    def __init__(self, program, how):
        self.name, self.words, self.how = program.name, program.words, how
        self.seconds, self.clocks = {PLAIN: [], SHIM: []}, {name: {PLAIN: [], SHIM: []} for name in how.clocks}
        self.failure, self.unsteady, self.differences, self.report = None, [], [], None
        self.reference, self.is_over, self.is_complete = None, False, False

    def rows(self):
        """{name: {"plain", "gpushim": summary, "speedup"}} (bench_statistics) of the whole process, and of each clock."""
        rows = {self.name: self.seconds}
        rows.update(("%s: %s" % (self.name, name), both) for name, both in self.clocks.items())
        return {name: {PLAIN: bench_statistics.summary(both[PLAIN]), SHIM: bench_statistics.summary(both[SHIM]),
                       "speedup": bench_statistics.speedup(both[PLAIN], both[SHIM])} for name, both in rows.items()}

    def clocks_of(self, outcome):
        """{name: seconds} as the program has printed them, None where it has not."""
        text = outcome.stdout.decode(errors="replace")
        found = {name: pattern.search(text) for name, pattern in self.how.clocks.items()}
        return {name: float(match.group(1)) if match else None for name, match in found.items()}

    def fail(self, outcome):
        """The plain run has failed."""
        told = outcome.stderr.decode(errors="replace").strip().splitlines()[-1:]
        self.failure, self.is_over = ": ".join([bench_comparing.status_in_words(outcome.status), *told]), True

    def judge(self, side, outcome):
        """Compares the run with the first plain one."""
        if side == PLAIN and outcome.status != 0:
            return self.fail(outcome)
        if self.reference is None:
            self.reference = outcome
        found = bench_comparing.output_differences(outcome, self.reference, self.how.tolerance)
        kept = self.unsteady if side == PLAIN else self.differences
        kept += found if not kept else []  # of one run
        self.is_over = outcome.status != self.reference.status

    def time(self, side, outcome):
        """Takes the run's seconds down."""
        clocks = self.clocks_of(outcome)
        missing = [name for name, seconds in clocks.items() if seconds is None]
        if missing:
            self.failure, self.is_over = "nothing on its standard output is the clock %s" % missing[0], True
            return
        self.seconds[side].append(outcome.seconds)
        for name, seconds in clocks.items():
            self.clocks[name][side].append(seconds)


def run_once(measurement, side, folder, variables):
    """The Outcome; OSError: the program cannot be started."""
    how = measurement.how
    before = bench_files.state_of(how.outputs)
    outcome = program_run.run(launch.arguments_of(measurement.words), environment_of(side, variables), folder, how.timeout)
    outcome.files = bench_files.keep_written(how.outputs, before, folder)
    return outcome


def schedule(how):
    """[(side, what the run is for)]."""
    return ([(side, WARM_UP) for side in turns(how.warmup)] + [(side, TIMED) for side in turns(how.runs)] + [(SHIM, REPORT)])


def take_turn(measurement, side, purpose, folder):
    """One run and what it tells."""
    variables = dict(measurement.how.variables)
    if purpose == REPORT:
        variables["GPUSHIM_REPORT"] = process_reports.setting(folder)
    try:
        outcome = run_once(measurement, side, folder, variables)
    except OSError as error:
        measurement.failure, measurement.is_over = "it cannot be started: %s" % error, True
        return None
    measurement.judge(side, outcome)
    if purpose == TIMED and not measurement.is_over:
        measurement.time(side, outcome)
    if purpose == REPORT:
        measurement.report = bench_reports.summary(process_reports.read(folder))
    return outcome


def measure(measurement, tell):
    """Makes the runs. tell(measurement, number, of how many, side, purpose, Outcome or None) is called after each. What was measured
    before an exception stays."""
    plan = schedule(measurement.how)
    with tempfile.TemporaryDirectory(prefix="gpushim-bench-") as scratch:
        for number, (side, purpose) in enumerate(plan, 1):
            folder = os.path.join(scratch, str(number))
            os.mkdir(folder)
            outcome = take_turn(measurement, side, purpose, folder)
            tell(measurement, number, len(plan), side, purpose, outcome)
            if measurement.is_over:
                return
            if outcome is not measurement.reference:
                shutil.rmtree(folder)
    measurement.is_complete = True
