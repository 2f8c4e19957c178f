# SPDX-License-Identifier: Apache-2.0
"""The runner of the packages' test suites itself, on test files of our own: that it sees each outcome, goes on
behind a test that kills its process, and that the accepted_*.txt can be read."""
import contextlib
import importlib.util
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import package_suite
import suite_counts
import suite_runs

sys.path.insert(0, os.path.join(suite_runs.ROOT, "tests"))

from runner.suites import SUITES  # noqa: E402

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

RANDOM_TESTS = """
import os
import random
import numpy
from hypothesis import given, strategies

NUMBERS = numpy.random.random(), random.random()

def test_that_takes_some(): numpy.random.random(os.urandom(1)[0])
def test_of_the_file(): assert NUMBERS == 0
def test_its_own(): assert (numpy.random.random(), random.random()) == 0
examples = []
@given(strategies.integers(10**6, 10**12))
def test_of_hypothesis(number):
    examples.append(number)
    assert len(examples) < 20, examples
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
        patch = mock.patch.object(suite_runs, "package_folder", lambda package: self.folder.name)
        patch.start()
        self.addCleanup(patch.stop)

    def run_tests(self, text, share=1, shares=1, limit=10, package="numpy"):
        with open(os.path.join(self.folder.name, "test_it.py"), "w", encoding="utf-8") as stream:
            stream.write(text)
        job = suite_runs.Job(package, "test_it.py", share, shares)
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

    def test_warnings_that_a_package_forbids(self):
        text = "import warnings\ndef test_it(): warnings.warn('x', RuntimeWarning)\n"
        outcomes = []
        for package in "numpy", "scipy":
            outcomes += [entry[0] for entry in self.run_tests(text, package=package).values()]
            os.remove(os.path.join(self.folder.name, "scratch", "outcomes"))
        self.assertEqual(outcomes, ["passed", "failed"])

    def test_random_numbers_are_the_same_in_every_run(self):
        found = []
        for _ in range(2):
            found.append(self.run_tests(RANDOM_TESTS))
            os.remove(os.path.join(self.folder.name, "scratch", "outcomes"))
        texts = [[run[name][1] for name in ("test_of_the_file", "test_its_own", "test_of_hypothesis")] for run in found]
        self.assertEqual(*texts)
        for text in texts[0]:
            self.assertRegex(text, r"\d{6}")

    def test_counts_of_references_are_compared_twice(self):
        text = ("calls = []\n"
                "class TestOnce:\n    def test_for_reference_leak(self): calls.append(1); assert len(calls) > 1\n"
                "class TestAlways:\n    def test_for_reference_leak_always(self): assert False\n"
                "def test_other(): calls.append(1); assert len(calls) > 3\n")
        self.assertEqual({name: entry[0] for name, entry in self.run_tests(text).items()}, {
            "test_for_reference_leak": "passed", "test_for_reference_leak_always": "failed", "test_other": "failed"})

    def test_a_file_that_cannot_be_imported(self):
        self.assertEqual([entry[0] for entry in self.run_tests("import no_such_module\n").values()], ["error"])


class TestComparison(unittest.TestCase):
    def test_differences(self):
        plain = {"a": ["passed", "", 0], "b": ["failed", "x", 0], "c": ["passed", "", 0]}
        shimmed = {"a": ["passed", "", 0], "b": ["passed", "", 0], "d": ["crashed", "y", 0]}
        self.assertEqual([entry[:2] for entry in package_suite.differences(plain, shimmed)], [
            ("b", "failed -> passed"), ("c", "passed -> absent"), ("d", "absent -> crashed")])

    def test_accepted_entries(self):
        entry = package_suite.Accepted("test: a/b.py::test_x[*]\noutcome: passed -> failed\n"
                                       "version: >=2.0 <2.3\nmode: force\nreason: because\n", "here")
        self.assertTrue(entry.accepts("a/b.py::test_x[1-f]", "passed -> failed"))
        self.assertFalse(entry.accepts("a/b.py::test_x[1-f]", "passed -> crashed"))
        self.assertFalse(entry.accepts("a/b.py::test_y[1-f]", "passed -> failed"))
        self.assertTrue(entry.applies("2.2.6", "host", "force"))
        self.assertFalse(entry.applies("2.3.0", "host", "force"))
        self.assertFalse(entry.applies("2.2.6", "host", "auto"))
        for path, concerned in ("a/b.py", True), ("a/c.py", False):
            self.assertEqual(entry.concerns(suite_runs.Job("numpy", path, 1, 1)), concerned)
        with self.assertRaises(SystemExit):
            package_suite.Accepted("test: a\noutcome: passed -> failed\n", "here")

    def test_the_lists_are_readable(self):
        for package, version in ("numpy", "1.26.4"), *((package, "99.0") for package in suite_runs.PACKAGES):
            self.assertLess(len(package_suite.read_accepted(package, version, "host", "force")), 16)


class TestProof(unittest.TestCase):
    """What the base run is, and what the runs have to show."""

    def suite(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = package_suite.parse_arguments(["--library", "the library", *options])
        with mock.patch.object(package_suite, "plain_cache", lambda package: os.path.join(folder.name, "plain")):
            return package_suite.Suite(arguments, {"GPUSHIM_FPERR": "deferred"}, folder.name)

    def runs(self, suite):
        """(library, GPUSHIM_FUSION, GPUSHIM_FPERR) of the base run and of the other one."""
        made = []
        with mock.patch.object(suite_runs, "run_job", lambda job, shim, settings, folder, limit: made.append(
                (shim, settings.get("GPUSHIM_FUSION"), settings["GPUSHIM_FPERR"]))):
            suite.compare(suite_runs.Job("numpy", "test_it.py", 1, 1))
        return made

    def test_base_run(self):
        self.assertEqual([run[0] for run in self.runs(self.suite())], [None, "the library"])
        self.assertEqual(self.runs(self.suite("--against", "GPUSHIM_FUSION=0")), [
            ("the library", "0", "deferred"), ("the library", None, "deferred")])

    def is_proven(self, reports, *options, routine=(1, 0), jobs=()):
        """`reports`: of some runs' reports the calls on the device, those in groups and those too small for it;
        `routine`: the calls of a routine of LAPACK on the device and off it."""
        suite = self.suite(*options)
        suite.shimmed = dict.fromkeys(jobs)
        for run, (device, grouped, small) in reports.items():
            rows = [{"name": "add", "device_calls": device, "reasons": {"too-small": small}},
                    {"name": "dpotrf", "device_calls": routine[0], "reasons": {"keywords": routine[1]}}]
            with open(os.path.join(suite.reports[run], "1.json"), "w", encoding="utf-8") as stream:
                json.dump({"counters": {"groups": grouped // 2, "grouped": grouped}, "operations": rows}, stream)
        with contextlib.redirect_stdout(None):
            return package_suite.is_proven(suite)

    def test_groups_must_have_run(self):
        for grouped, base_grouped, proven in (50, 0, True), (5, 0, False), (50, 1, False):
            reports = {"shim": (100, grouped, 0), "base": (100, base_grouped, 0)}
            self.assertEqual(self.is_proven(reports, "--against", "GPUSHIM_FUSION=0"), proven)

    def test_the_device_must_have_run(self):
        self.assertTrue(self.is_proven({"shim": (91, 0, 9)}))
        self.assertFalse(self.is_proven({"shim": (90, 0, 10)}))
        self.assertTrue(self.is_proven({"shim": (71, 0, 29)}, "--shard", "1/2"))
        self.assertFalse(self.is_proven({"shim": (70, 0, 30)}, "--shard", "1/2"))
        self.assertTrue(self.is_proven({"shim": (1, 0, 99)}, "--mode", "auto"))
        self.assertFalse(self.is_proven({}, "--mode", "auto"))

    def test_lapack_must_have_run(self):
        """Where parts are run that call it."""
        for package, job, routine, proven in (
                ("scipy", "linalg/a", (91, 9), True), ("scipy", "linalg/a", (90, 10), False),
                ("scipy", "linalg/a", (0, 0), False), ("scipy", "fft/a", (0, 0), True),
                ("numpy", "linalg/a", (0, 0), True)):
            self.assertEqual(proven, self.is_proven({"shim": (1, 0, 0)}, "--package", package, routine=routine,
                                                    jobs=[job]))


class TestParts(unittest.TestCase):
    def test_names(self):
        self.assertEqual(suite_runs.normal("_core/tests/test_umath.py"), suite_runs.normal("core/test_umath"))
        self.assertEqual(suite_runs.normal("sparse/linalg/_isolve/tests/test_lsqr.py"),
                         suite_runs.normal("sparse.linalg/_isolve/test_lsqr.py"))
        self.assertEqual(suite_runs.normal("tests/frame/test_api.py"), suite_runs.normal("frame/test_api"))
        files = suite_runs.test_files("numpy", ["core/test_umath", "linalg"])
        self.assertEqual(len([path for path in files if path.endswith("test_umath.py")]), 1)
        self.assertGreater(len(files), 2)
        own = suite_runs.test_files("numpy", ["tests"])
        self.assertTrue(own and all(path.startswith("tests/") for path in own))
        with self.assertRaises(SystemExit):
            suite_runs.test_files("numpy", ["no_such_part"])
        with self.assertRaises(SystemExit):
            suite_runs.package_folder("no_such_package")

    def test_parts_of_a_package(self):
        """Named in the table, run where none is named."""
        with mock.patch.object(suite_runs, "PACKAGES", {"numpy": suite_runs.Package(("fft",), (), None)}):
            self.assertEqual({job.path.split("/")[0] for job in suite_runs.jobs_of("numpy", [])}, {"fft"})
            self.assertEqual({job.path.split("/")[0] for job in suite_runs.jobs_of("numpy", ["ma"])}, {"ma"})

    def test_shards_are_the_whole(self):
        """In what `make test` runs of each package that is here."""
        for suite in SUITES:
            if importlib.util.find_spec(suite.package):
                jobs = suite_runs.jobs_of(suite.package, suite.parts)
                shards = [suite_runs.shard_of(jobs, "%d/%d" % (k + 1, suite.shards)) for k in range(suite.shards)]
                self.assertNotIn([], shards)
                self.assertEqual(sorted(sum(shards, [])), sorted(set(jobs)), suite.title)

    def test_routines(self):
        self.assertLessEqual({"cblas_dgemm", "dgemm", "zpotrf"}, suite_counts.routines())

    def test_numeric_ufuncs(self):
        names = suite_counts.numeric_ufuncs()
        self.assertLessEqual({"add", "sin", "gcd", "ldexp"}, set(names))
        self.assertFalse({"matmul", "isnat"} & set(names))


if __name__ == "__main__":
    unittest.main()
