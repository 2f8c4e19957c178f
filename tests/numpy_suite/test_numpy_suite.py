# SPDX-License-Identifier: Apache-2.0
"""The runner of NumPy's test suite itself, on test files of our own: that it sees each outcome, goes on
behind a test that kills its process, and that accepted.txt can be read."""
import contextlib
import json
import os
import tempfile
import unittest
from unittest import mock

import numpy_suite
import suite_counts
import suite_runs

TESTS = """
import os, time, warnings
import pytest

def test_good(): pass
def test_bad(): assert 1 + 1 == 3, "sums"
@pytest.mark.skip(reason="no")
def test_left_out(): pass
@pytest.mark.xfail
def test_known(): assert False
@pytest.fixture
def broken(): raise ValueError("fixture")
def test_error(broken): pass
def test_dies(): os.abort()
@pytest.mark.parametrize("n", range(4))
def test_many(n): pass
def test_hangs(): time.sleep(60)
def test_last(): pass
"""


class TestRuns(unittest.TestCase):
    def setUp(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("pytest is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(os.path.join(self.folder.name, "scratch"))
        patch = mock.patch.object(suite_runs, "numpy_folder", lambda: self.folder.name)
        patch.start()
        self.addCleanup(patch.stop)

    def run_tests(self, text, share=1, shares=1, limit=10):
        with open(os.path.join(self.folder.name, "test_it.py"), "w", encoding="utf-8") as stream:
            stream.write(text)
        job = suite_runs.Job("test_it.py", share, shares)
        scratch = os.path.join(self.folder.name, "scratch")
        found = suite_runs.run_job(job, None, {}, scratch, limit)
        return {name.split("::")[-1]: entry for name, entry in found.items()}

    def test_outcomes(self):
        found = self.run_tests(TESTS)
        self.assertEqual({name: entry[0] for name, entry in found.items()}, {
            "test_good": "passed", "test_bad": "failed", "test_left_out": "skipped", "test_known": "xfailed",
            "test_error": "error", "test_dies": "crashed", "test_many[0]": "passed", "test_many[1]": "passed",
            "test_many[2]": "passed", "test_many[3]": "passed", "test_hangs": "hung", "test_last": "passed"})
        self.assertIn("sums", found["test_bad"][1])
        self.assertIn("exit status -6", found["test_dies"][1])

    def test_shares_are_the_whole(self):
        text = "import pytest\n@pytest.mark.parametrize('n', range(7))\ndef test_n(n): pass\n"
        names = []
        for share in (1, 2, 3):
            names += self.run_tests(text, share, 3)
            os.remove(os.path.join(self.folder.name, "scratch", "outcomes"))
        self.assertEqual(sorted(names), ["test_n[%d]" % n for n in range(7)])

    def test_a_file_that_cannot_be_imported(self):
        self.assertEqual([entry[0] for entry in self.run_tests("import no_such_module\n").values()], ["error"])


class TestComparison(unittest.TestCase):
    def test_differences(self):
        plain = {"a": ["passed", "", 0], "b": ["failed", "x", 0], "c": ["passed", "", 0]}
        shimmed = {"a": ["passed", "", 0], "b": ["passed", "", 0], "d": ["crashed", "y", 0]}
        self.assertEqual([entry[:2] for entry in numpy_suite.differences(plain, shimmed)], [
            ("b", "failed -> passed"), ("c", "passed -> absent"), ("d", "absent -> crashed")])

    def test_accepted_entries(self):
        entry = numpy_suite.Accepted("test: a/b.py::test_x[*]\noutcome: passed -> failed\nnumpy: >=2.0 <2.3\n"
                                     "reason: because\n", "here")
        self.assertTrue(entry.accepts("a/b.py::test_x[1-f]", "passed -> failed"))
        self.assertFalse(entry.accepts("a/b.py::test_x[1-f]", "passed -> crashed"))
        self.assertFalse(entry.accepts("a/b.py::test_y[1-f]", "passed -> failed"))
        self.assertTrue(entry.applies("2.2.6", "host"))
        self.assertFalse(entry.applies("2.3.0", "host"))
        with self.assertRaises(SystemExit):
            numpy_suite.Accepted("test: a\noutcome: passed -> failed\n", "here")

    def test_the_list_is_readable(self):
        for version in ("1.26.4", "2.5.2"):
            self.assertLess(len(numpy_suite.read_accepted(version, "host")), 10)


class TestAgainst(unittest.TestCase):
    """--against: what the base run is, and what the two runs have to show."""

    def suite(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = numpy_suite.parse_arguments(["--library", "the library", *options])
        with mock.patch.object(numpy_suite, "plain_cache", lambda: os.path.join(folder.name, "plain")):
            return numpy_suite.Suite(arguments, {"GPUSHIM_FPERR": "deferred"}, folder.name)

    def runs(self, suite):
        """(library, GPUSHIM_FUSION, GPUSHIM_FPERR) of the base run and of the other one."""
        made = []
        with mock.patch.object(suite_runs, "run_job", lambda job, shim, settings, folder, limit: made.append(
                (shim, settings.get("GPUSHIM_FUSION"), settings["GPUSHIM_FPERR"]))):
            suite.compare(suite_runs.Job("test_it.py", 1, 1))
        return made

    def test_base_run(self):
        self.assertEqual([run[0] for run in self.runs(self.suite())], [None, "the library"])
        self.assertEqual(self.runs(self.suite("--against", "GPUSHIM_FUSION=0")), [
            ("the library", "0", "deferred"), ("the library", None, "deferred")])

    def is_proven(self, grouped, base_grouped):
        suite = self.suite("--against", "GPUSHIM_FUSION=0")
        for run, count in ("shim", grouped), ("base", base_grouped):
            row = {"name": "add", "device_calls": 100, "reasons": {}}
            with open(os.path.join(suite.reports[run], "1.json"), "w", encoding="utf-8") as stream:
                json.dump({"counters": {"groups": count // 2, "grouped": count}, "operations": [row]}, stream)
        with contextlib.redirect_stdout(None):
            return numpy_suite.is_proven(suite)

    def test_groups_must_have_run(self):
        self.assertTrue(self.is_proven(50, 0))
        self.assertFalse(self.is_proven(5, 0))
        self.assertFalse(self.is_proven(50, 1))


class TestParts(unittest.TestCase):
    def test_names(self):
        self.assertEqual(suite_runs.normal("_core/tests/test_umath.py"), suite_runs.normal("core/test_umath"))
        files = suite_runs.test_files(["core/test_umath", "linalg"])
        self.assertEqual(len([path for path in files if path.endswith("test_umath.py")]), 1)
        self.assertGreater(len(files), 2)
        with self.assertRaises(SystemExit):
            suite_runs.test_files(["no_such_part"])

    def test_numeric_ufuncs(self):
        names = suite_counts.numeric_ufuncs()
        self.assertLessEqual({"add", "sin", "gcd", "ldexp"}, set(names))
        self.assertFalse({"matmul", "isnat"} & set(names))


if __name__ == "__main__":
    unittest.main()
