# SPDX-License-Identifier: Apache-2.0
"""What is tried after each change, in less than a minute (`make quick`): format, rules, and the C and Python tests that take
less than two seconds."""
import os
import sys

from runner import ctest, python_tests, style
from runner.check import RULES
from runner.process import ROOT

# Of the C tests of units those that take longer: what compiles kernels, and what waits.
SLOW_UNITS = ("nvrtc_compile", "nvrtc_scan", "nvrtc_group", "nvrtc_lapack", "idle", "interrupt", "fft_run", "host_calibration",
              "plan_random", "group", "libc_handler")
PYTHON_TESTS = ("preload/test_preload_plain", "preload/test_programs", "preload/test_table1", "preload/test_numpy_matmul",
                "preload/test_numpy_elementary", "preload/test_numpy_aliasing", "preload/test_raw_fork",
                "preload/test_raw_bools", "preload/test_io_matrix", "preload/test_huge_sizes",
                "conformance/real_math_vs_long_double", "conformance/scan_emulation")


def quick_units():
    slow = ["unit.%s" % name for name in SLOW_UNITS]
    return [name for name in ctest.names_of("dev", "-L", "unit") if name not in slow]


def run_quick(totals):
    style.check_format(totals)
    if not ctest.configure(totals, "dev"):
        return
    units, venv = quick_units(), os.path.join(ROOT, ".venv/bin/python")
    if ctest.build_targets(totals, "dev", [*RULES, *ctest.targets_of(units)]):
        python_tests.run_rules(totals, "build-dev")
        ctest.run_ctest(totals, "dev", *ctest.exactly(units))
        python_tests.run_python(totals, "python", venv if os.path.exists(venv) else sys.executable, "build-dev/libgpushim.so",
                                list(map(python_tests.script_path, PYTHON_TESTS)))
