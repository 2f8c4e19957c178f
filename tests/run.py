# SPDX-License-Identifier: Apache-2.0
"""Runs the project's tests and adds up their counts; `make test` and its sisters call it.

    run.py all [--whole | --turn N]    the stages of runner/stages.py: of the long ones the shard that is the commit's turn, all
                     shards, or the shards that the number chooses
    run.py stage NAME [--whole | --turn N]    those of them whose names begin so
    run.py quick     what takes less than a minute in all
    run.py check NAME    the tests of that name, with what they print
    run.py gpu [K/N]    the C and Python suites on the cuda device, from build/, with this Python: what is about the device
                     (docs/dev/testing.md), test by test on all cores; all of them, or the K-th of N shards
    run.py matrix    the Python tests under every CPython found, with old and new NumPy
    run.py format [--fix] | tidy | rules | ctest PRESET | python INTERPRETER LIBRARY
    run.py stamp | built    records, or asks, that build/ was built from these very sources

Each step prints one line with the seconds of processors and of the clock that it took, a failing one its output as well. The
last lines are the longest steps, what failed, and the sum: "N passed, N failed, N skipped"; the exit status is 1 where
anything failed, 2 where there is nothing of that name. Needs only the standard library.
"""
import os
import signal
import sys

from runner import built, check, ctest, gpu_tests, matrix, python_tests, quick, stages, style
from runner.shards import shard_named, turn_of_commit
from runner.totals import Totals


def turn_of(options):
    """The number that chooses the shards; None: all of them."""
    if "--whole" in options:
        return None
    return int(options[options.index("--turn") + 1]) if "--turn" in options else turn_of_commit()


# Each is given Totals and the options behind its name.
COMMANDS = {
    "all": lambda totals, options: stages.run_stages(totals, turn_of(options)),
    "stage": lambda totals, options: stages.run_stages(totals, turn_of(options), options[0]),
    "quick": lambda totals, _: quick.run_quick(totals),
    "check": lambda totals, options: check.run_check(totals, options[0]),
    "gpu": lambda totals, options: gpu_tests.run_gpu(totals, shard_named(*options)),
    "matrix": lambda totals, _: matrix.run_matrix(totals),
    "format": lambda totals, options: style.check_format(totals, "--fix" in options),
    "tidy": lambda totals, _: style.check_tidy(totals, style.tidy_files()),
    "rules": lambda totals, _: python_tests.run_rules(totals, "build-dev"),
    "ctest": lambda totals, options: ctest.build(totals, options[0]) and ctest.run_ctest(totals, options[0]),
    "python": lambda totals, options: python_tests.run_python(totals, "python", *map(os.path.abspath, options[:2]),
                                                              python_tests.files()),
}


def run_tests(command, options):
    """The exit status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in a background job: programs are tried with it
    totals = Totals()
    is_known = COMMANDS[command](totals, options)
    return 2 if command == "check" and not is_known else totals.finish()


def main(argv):
    command, options = (argv[1] if len(argv) > 1 else ""), argv[2:]
    if command == "stamp":
        return built.stamp()
    if command == "built":
        return 0 if built.is_built() else 1
    if command not in COMMANDS:
        print(__doc__)
        return 2
    return run_tests(command, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
