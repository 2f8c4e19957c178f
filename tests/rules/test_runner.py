# SPDX-License-Identifier: Apache-2.0
"""What tests/run.py runs: that the shards of each stage together are the stage, and which test a name means."""
import collections
import contextlib
import io
import os
import re
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from runner import check, ctest, python_tests, quick, stages, style, suites, unsteady  # noqa: E402
from runner.process import NOTHING  # noqa: E402
from runner.shards import WHOLE, Shard, shard_of  # noqa: E402
from runner.totals import Totals  # noqa: E402

CTEST_NAMES = ["unit.%d" % k for k in range(17)] + ["unit.3.variant", "emulated.a", "emulated.b", "emulated.c"]
JOBS = list(range(50))  # of a package's suite, which package_suite.py shares out


class Recorder:
    """Stands in for what runs tests, and keeps their names."""

    def __init__(self):
        self.ran = []

    def ctest(self, _totals, _preset, _option, names):
        self.ran += re.fullmatch(r"\^\((.*)\)\$", names).group(1).replace("\\", "").split("|")

    def python(self, _totals, _title, _interpreter, _library, *rest):
        self.ran += next(paths for paths in rest if isinstance(paths, list))

    def tidy(self, _totals, files):
        self.ran += files

    def execute(self, argv, *_):
        self.ran += Shard(*map(int, argv[argv.index("--shard") + 1].split("/"))).of(JOBS)
        return 0, "", NOTHING

    def patches(self):
        return ((ctest, "configure", lambda *_: True), (ctest, "step", lambda *_: True),
                (ctest, "programs_of", lambda *_: dict.fromkeys(CTEST_NAMES)), (ctest, "run_ctest", self.ctest),
                (python_tests, "run_python", self.python), (python_tests, "run_emulated", self.python),
                (style, "check_tidy", self.tidy), (suites, "execute", self.execute))


def tests_run(stage, turn):
    """The names of what a stage runs where that number chooses the shard."""
    recorder = Recorder()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        for where, name, fake in recorder.patches():
            stack.enter_context(mock.patch.object(where, name, fake))
        stages.run_stage(Totals(), turn, stage)
    return recorder.ran


class TestShards(unittest.TestCase):
    def test_shards_of_each_stage_are_the_stage(self):
        sharded = [stage for stage in stages.STAGES if stage.shards > 1]
        self.assertGreater(len(sharded), 8)
        for stage in sharded:
            with self.subTest(stage.name):
                parts = [tests_run(stage, turn) for turn in range(stage.shards)]
                self.assertNotIn([], parts)
                whole = tests_run(stage, None)
                self.assertEqual(len(whole), len(set(whole)))
                self.assertEqual(collections.Counter(sum(parts, [])), collections.Counter(whole))

    def test_files_of_python_tests_are_all_run(self):
        """Whole stages and sharded ones together have each file."""
        self.assertEqual(sorted(stages.python_files() + stages.conformance_files()), sorted(python_tests.files()))

    def test_c_tests_of_gcc_are_all_run(self):
        chosen = [stage for stage in stages.STAGES if stage.name in ("C tests, gcc", "emulated CUDA, C programs")]
        self.assertEqual(sorted(sum((tests_run(stage, None) for stage in chosen), [])), sorted(CTEST_NAMES))

    def test_each_number_is_some_commits_turn(self):
        self.assertEqual({shard_of(turn, 4) for turn in range(100, 108)}, {Shard(k, 4) for k in (1, 2, 3, 4)})
        self.assertEqual(shard_of(None, 4), WHOLE)
        self.assertEqual(str(shard_of(6, 4)), "3/4")


class TestTables(unittest.TestCase):
    def test_names_are_of_tests(self):
        for name in python_tests.EMULATED + quick.PYTHON_TESTS:
            self.assertTrue(os.path.exists(python_tests.script_path(name)), name)
        names = {test.name for test in check.all_tests() if test.kind == "unit"}
        self.assertLessEqual(set(quick.SLOW_UNITS), names)
        files = {os.path.basename(path) for path in python_tests.files()}
        self.assertLessEqual({name + ".py" for name in python_tests.LONG}, files)
        self.assertLessEqual(set(unsteady.FILES), files)
        programs = {"%s.%s" % (test.kind, test.name) for test in check.all_tests()}
        for name in unsteady.PROGRAMS:
            self.assertIn(".".join(name.replace("emulated.", "unit.").split(".")[:2]), programs)


class TestUnsteady(unittest.TestCase):
    """Tests that may depend on what else runs are tried once more; all others are not."""

    def run_group(self, name, *outcomes):
        left = list(outcomes)
        totals = Totals()
        with contextlib.redirect_stdout(io.StringIO()):
            python_tests.run_groups(totals, [("title: " + name, [lambda: ((left[0], 1 - left.pop(0), 0), "", NOTHING)], None)])
        return totals.passed, totals.failed, len(left)

    def test_files(self):
        name = next(iter(unsteady.FILES))
        self.assertEqual(self.run_group(name, 0, 1), (1, 0, 0))
        self.assertEqual(self.run_group(name, 0, 0, 1), (0, 1, 1))
        self.assertEqual(self.run_group(name, 1, 1), (1, 0, 1))
        self.assertEqual(self.run_group("test_fft.py", 0, 1), (0, 1, 1))

    def run_ctest(self, *runs):
        """Each run: the names that fail in it, of four tests, or of those that failed before."""
        left, count = list(runs), [4]

        def execute(argv):
            names = left.pop(0)
            with open(argv[argv.index("--output-junit") + 1], "w", encoding="utf-8") as stream:
                stream.write('<testsuite tests="%d" failures="%d" skipped="0" disabled="0">%s</testsuite>' % (
                    count[0], len(names), "".join('<testcase name="%s" status="fail"/>' % name for name in names)))
            count[0] = len(names)
            return (8 if names else 0), "", NOTHING
        totals = Totals()
        with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(ctest, "execute", execute):
            ctest.run_ctest(totals, "dev")
        return totals.passed, totals.failed, len(left)

    def test_programs(self):
        one, other = list(unsteady.PROGRAMS)[:2]
        self.assertEqual(self.run_ctest([one, other], []), (4, 0, 0))
        self.assertEqual(self.run_ctest([one], [one], []), (3, 1, 1))
        self.assertEqual(self.run_ctest([], []), (4, 0, 1))
        self.assertEqual(self.run_ctest([one, "unit.plan"], []), (2, 2, 1))


class TestNames(unittest.TestCase):
    TESTS = [check.test_of(path) for path in (
        "tests/unit/a/test_plan.c", "tests/unit/a/test_plan_predicate.c", "tests/gpu/test_cuda_fft.c", "tests/preload/test_fft.py",
        "tests/conformance/scan_vs_numpy.py", "tests/rules/test_rules.py")]

    def found(self, name):
        return [(test.name, part) for test, part in check.matches(name, self.TESTS)]

    def test_exact_names_go_first(self):
        for name in "plan", "test_plan", "test_plan.c", "unit_plan", "unit.plan", "tests/unit/a/test_plan.c":
            self.assertEqual(self.found(name), [("plan", "")], name)
        self.assertEqual(self.found("fft"), [("fft", "")])

    def test_patterns_and_pieces(self):
        self.assertEqual(self.found("plan*"), [("plan", ""), ("plan_predicate", "")])
        self.assertEqual(self.found("da_f"), [("cuda_fft", "")])

    def test_parts_of_a_file(self):
        self.assertEqual(self.found("test_fft.TestFft.test_norms"), [("fft", "TestFft.test_norms")])
        self.assertEqual(self.found("unit.plan.variant"), [("plan", "variant")])

    def test_no_test(self):
        self.assertEqual(self.found("nothing"), [])
        self.assertEqual(check.near_names("plam", self.TESTS)[0], "plan")

    def test_what_is_built(self):
        plan, fft = self.TESTS[0], self.TESTS[3]
        self.assertEqual(check.targets_of(plan), ("unit_plan",))
        self.assertEqual(check.targets_of(fft), check.LIBRARY + check.EMULATION)
        self.assertEqual(check.targets_of(self.TESTS[4]), ())


if __name__ == "__main__":
    unittest.main()
