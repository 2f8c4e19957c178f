# SPDX-License-Identifier: Apache-2.0
"""The stages of `make test`. Those with more than one shard run the shard that is the commit's turn (shards.py), and whole
in `make test-all`; what they cost is in docs/dev/testing.md."""
import collections
import functools
import os
import re

from runner import ctest, package_tests, python_tests, style, suites
from runner.process import ROOT, WORKERS, execute
from runner.shards import shard_of

VENV, VENV_NUMPY1 = (os.path.join(ROOT, name, "bin/python") for name in (".venv", ".venv-numpy1"))
SYSTEM_PYTHON = "/usr/bin/python3"
DEV, RELEASE, EMULATION = "build-dev/libgpushim.so", "build/libgpushim.so", "build-dev/tests/emulation"


def check_sources(totals, _):
    style.check_format(totals)
    if ctest.build(totals, "dev"):
        ctest.build(totals, "dev", "all_verify_interface_header_sets")
        python_tests.run_rules(totals, "build-dev")


def dev_names(are_emulated):
    return [name for name in ctest.names_of("dev") if name.startswith("emulated.") == are_emulated]


def test_gcc(totals, _):
    ctest.run_ctest(totals, "dev", *ctest.exactly(dev_names(False)))


def test_emulated_programs(totals, shard):
    names = shard.of(dev_names(True))
    if names:
        ctest.run_ctest(totals, "dev", *ctest.exactly(names))
    else:
        totals.add("emulated CUDA (no C++ compiler)", 0, 0, 1)


def emulated_files():
    return [python_tests.script_path(name) for name in python_tests.EMULATED]


def test_emulated_python(totals, shard):
    python_tests.run_emulated(totals, "emulated CUDA", VENV, RELEASE, EMULATION, shard.of(emulated_files()))


def python_files():
    return python_tests.files(python_tests.ALL_BUT_CONFORMANCE)


def conformance_files():
    return python_tests.files(("conformance",))


def test_python(files, interpreter, library, env, totals, shard):
    python_tests.run_python(totals, "python", interpreter, library, shard.of(files()), env)


def test_faults(totals, _):
    """A sample of the faults of `make test-faults`; each counts as a test."""
    if python_tests.emulation_environment(EMULATION) is None:
        totals.add("faults (no C++ compiler)", 0, 0, 1)
        return
    status, output, spent = execute([VENV, os.path.join(ROOT, "tests/faults/run_faults.py"), "--sample", "200", "--seconds",
                                     "60", "--kinds", "oom,five,error,sticky,late", "--jobs", str(WORKERS + 1),
                                     "--library", os.path.join(ROOT, RELEASE), "--emulation", os.path.join(ROOT, EMULATION)])
    line = re.search(r"^(\d+) faults, (\d+) failed", output, re.M)
    ran, failed = map(int, line.groups()) if line else (0, 1)
    totals.add("faults at calls of CUDA", max(ran - failed, 0), max(failed, status != 0), 0, spent, output)


# `run` is given Totals and the shard to run of that many; a stage may use what those before it built.
Stage = collections.namedtuple("Stage", "name shards run")


def test_clang(totals, _):
    """Everything must build with clang too."""
    if ctest.build(totals, "clang"):
        ctest.run_ctest(totals, "clang")


def sanitizer_stage(preset, shards):
    return Stage("C tests, %s" % preset, shards, lambda totals, shard: ctest.build_and_run(totals, preset, shard))


def python_stage(name, shards, files, *how):
    return Stage(name, shards, functools.partial(test_python, files, *how))


def suite_stage(suite):
    return Stage(suite.title, suite.shards, lambda totals, shard: suites.run_suite(totals, suite, shard))


# Loops and texts (conformance) are judged by the newest and the oldest NumPy, calls each alone by NumPy 1.26.
STAGES = (
    Stage("format, build, rules", 1, check_sources),
    Stage("C tests, gcc", 1, test_gcc),
    python_stage("Python tests", 1, python_files, VENV, DEV, None),
    Stage("package", 1, lambda totals, _: package_tests.run_package(totals, VENV)),
    python_stage("conformance", 3, conformance_files, VENV, DEV, None),
    Stage("clang-tidy", 2, lambda totals, shard: style.check_tidy(totals, shard.of(style.tidy_files()))),
    Stage("C tests, clang", 1, test_clang),
    sanitizer_stage("asan", 1),
    sanitizer_stage("tsan", 2),
    python_stage("Python tests, numpy 1", 3, python_files, VENV_NUMPY1, RELEASE, {"GPUSHIM_FUSION": "0"}),
    python_stage("Python tests, system's", 4, python_tests.files, SYSTEM_PYTHON, RELEASE, None),
    Stage("emulated CUDA, C programs", 2, test_emulated_programs),
    Stage("emulated CUDA, Python tests", 2, test_emulated_python),
    Stage("faults", 1, test_faults),
    *map(suite_stage, suites.SUITES),
)


def run_stage(totals, turn, stage):
    shard = shard_of(turn, stage.shards)
    with totals.stage(stage.name if stage.shards == 1 else "%s, %s" % (stage.name, shard)):
        stage.run(totals, shard)


def run_stages(totals, turn, name=None):
    """The stages whose names begin with `name`, all without one. `turn`: the number that chooses the shards; None: all."""
    for stage in STAGES:
        if stage.name.startswith(name or ""):
            run_stage(totals, turn, stage)
