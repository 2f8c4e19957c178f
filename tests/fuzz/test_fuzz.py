# SPDX-License-Identifier: Apache-2.0
"""The fuzzer's stored cases, a short run of it with fixed seeds, and the fuzzer itself: that it
notices differences."""
import contextlib
import glob
import io
import os
import tempfile
import unittest

import numpy as np

import fuzz
import fuzz_compare
import fuzz_program

LIBRARY = os.path.abspath(os.environ.get("GPUSHIM_LIBRARY") or os.path.join(fuzz.ROOT, "build", "libgpushim.so"))
DEVICE = os.environ.get("GPUSHIM_DEVICE") or "host"
BATCHES = 8  # the same programs on every machine, however fast


class TestCases(unittest.TestCase):
    def test_stored_cases(self):
        judge = fuzz.Judge(LIBRARY, DEVICE)
        self.addCleanup(judge.close)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            failed = fuzz.run_cases(judge, sorted(glob.glob(os.path.join(fuzz.CASES, "*.json"))))
        self.assertEqual(failed, 0, output.getvalue())

    def test_short_run(self):
        try:
            import hypothesis  # noqa: F401
        except ImportError:
            self.skipTest("hypothesis is not installed")
        judge = fuzz.Judge(LIBRARY, DEVICE)
        self.addCleanup(judge.close)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), tempfile.TemporaryDirectory() as folder:
            failures = fuzz.run_for(judge, 600, 7, 3, folder, BATCHES)
        self.assertEqual(len(failures), 0, output.getvalue())
        self.assertGreater(judge.calls, 100)
        self.assertGreater(judge.device_calls(), judge.calls)


class TestJudgement(unittest.TestCase):
    """What the shim's side answers is made up here, so that no shim is needed."""

    def difference(self, statements, other):
        """The plain run's program compared with another program's run."""
        plain, changed = fuzz_program.run(statements), fuzz_program.run(other)
        return fuzz_compare.first_difference(statements, plain, (changed.steps, changed.observed, changed.data()), True)

    def test_agreement(self):
        program = ["v0 = make('d', (3, 4), 5, 'special', 'C')", "v1 = np.add(v0, v0)", "v1 //= 0", "v2 = v1[7]"]
        self.assertIsNone(self.difference(program, program))

    def test_differences(self):
        for one, other in (("make('d', (5,), 1)", "make('d', (5,), 2)"), ("make('d', (5,), 1)", "make('f', (5,), 1)"),
                           ("make('d', (2, 3), 1)", "make('d', (2, 3), 1, 'small', 'F')"),
                           ("np.zeros(3)", "-np.zeros(3)"),
                           ("np.ones(3)[0]", "np.ones(3)[:1]"), ("np.ones(3) / 0", "np.full(3, np.inf)"),
                           ("np.ones(3)[7]", "np.ones(3)[6]"), ("np.nan * np.ones(2)", "np.ones(2)")):
            self.assertIsNotNone(self.difference(["v0 = " + one], ["v0 = " + other]), (one, other))

    def test_bounds(self):
        one = np.array([1.0, np.inf, -0.0, 1e-320])
        near = np.array([1.0 + 2.0 ** -51, np.inf, 0.0, 1e-320])
        self.assertIsNotNone(fuzz_compare.compare(near, one, {"ulps": 1, "zeros": True}))
        self.assertIsNotNone(fuzz_compare.compare(near, one, {"ulps": 2}))
        self.assertIsNone(fuzz_compare.compare(near, one, {"ulps": 2, "zeros": True}))
        self.assertIsNotNone(fuzz_compare.compare(one * np.nan, one, {"ulps": 9, "zeros": True}))
        self.assertIsNotNone(fuzz_compare.compare(np.array([1.0, 5.0]), np.array([1.0, 4.0]),
                                                  {"ulps": 2, "of": np.array([100.0, 100.0])}))
        self.assertIsNone(fuzz_compare.compare(np.array([1e-16]), np.array([0.0]), {"ulps": 2, "of": np.array([1.0])}))

    def test_order(self):
        """Steps of NumPy's own count where the device joins in an order of its own."""
        one, near = np.array([1.0]), np.array([1.0 + 2.0 ** -50])
        bounds = {"ulps": 1, "of": one, "steps": 3}
        self.assertIsNotNone(fuzz_compare.compare(near, one, bounds, True))
        self.assertIsNone(fuzz_compare.compare(near, one, bounds, False))
        self.assertIsNotNone(fuzz_compare.compare(near, one, dict(bounds, steps=2), False))


if __name__ == "__main__":
    unittest.main()
