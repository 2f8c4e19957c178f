# SPDX-License-Identifier: Apache-2.0
"""One test, found by its name: builds in build-dev what it needs, and runs it (`make check T=plan`).

A name is a file's (plan, test_plan, tests/unit/offload/graph/test_plan.c), a CTest test's or target's (unit.plan, unit_plan), a
Python file's with a class or a test of it (test_fft.TestFft), or a pattern (plan*). What has no such name is looked for
inside the names.
"""
import collections
import difflib
import fnmatch
import glob
import os
import subprocess
import sys
import time

from runner import ctest, python_tests
from runner.process import ROOT, STEP_TIMEOUT, Spent, wait

C_KINDS = ("unit", "conformance", "stress", "gpu")
LIBRARY = ("gpushim", "replay_decisions")
RULES = LIBRARY + ("options_doc", "numerics_doc")
EMULATION = ("emulated_cuda", "emulated_nvrtc", "emulated_cublas", "emulated_cusolver", "emulated_cufft", "emulated_header",
             "pack_kernels")
SHOWN_NAMES = 8

Test = collections.namedtuple("Test", "kind name path")  # the name without test_; the path below the root


def is_c(test):
    return test.path.endswith(".c")


def all_tests():
    paths = [path for kind in C_KINDS
             for path in glob.glob(os.path.join(ROOT, "tests", kind, "**", "test_*.c"), recursive=True)]
    paths += python_tests.files() + python_tests.files(("package",)) + glob.glob(os.path.join(ROOT, "tests/rules/test_*.py"))
    return [test_of(os.path.relpath(path, ROOT)) for path in sorted(paths)]


def test_of(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    return Test(path.split(os.sep)[1], stem[len("test_"):] if stem.startswith("test_") else stem, path)


def names_of(test):
    """All names that mean it alone; one that begins with another comes behind it."""
    stem, ending = os.path.splitext(os.path.basename(test.path))
    names = [test.name, stem, stem + ending, "%s/%s" % (test.kind, stem), test.path]
    return names + ["%s%s%s" % (test.kind, sign, test.name) for sign in "._" if is_c(test)]


def split_name(name, test):
    """What of the name is behind the test's own: a class, a test, a variant; None: the name is not this test's."""
    own = next((own for own in reversed(names_of(test)) if name == own or name.startswith(own + ".")), None)
    return None if own is None else name[len(own) + 1:]


def matches(name, tests):
    """[(test, what of it)], all of it: ""."""
    exact = [(test, split_name(name, test)) for test in tests if split_name(name, test) is not None]
    pattern = name if any(sign in name for sign in "*?[") else "*%s*" % name
    return exact or [(test, "") for test in tests if any(fnmatch.fnmatchcase(own, pattern) for own in names_of(test)[:2])]


def near_names(name, tests):
    return difflib.get_close_matches(name, sorted({test.name for test in tests}), SHOWN_NAMES, 0.4)


def is_emulated(test):
    return test.kind == "gpu" or "%s/test_%s" % (test.kind, test.name) in python_tests.EMULATED


def targets_of(test):
    emulation = EMULATION if is_emulated(test) else ()
    if is_c(test):
        return ("%s_%s" % (test.kind, test.name),) + emulation
    if test.kind == "rules":
        return RULES
    if test.kind == "package":  # builds a wheel itself
        return ()
    with open(os.path.join(ROOT, test.path), encoding="utf-8") as file:
        is_alone = test.kind == "conformance" and "shim_runner" not in file.read()  # compiles what it judges itself
    return () if is_alone else LIBRARY + emulation


def interpreter_of(test):
    venv = os.path.join(ROOT, ".venv/bin/python")
    return sys.executable if test.kind == "rules" or not os.path.exists(venv) else venv


def c_runs(test, part):
    """Those that CTest makes of the program: itself and its variants, or the variant that `part` names."""
    kind = "emulated" if test.kind == "gpu" else test.kind
    which = "^%s[.]%s%s$" % (kind, test.name, "[.]" + part if part else "([.].*)?")
    return [(name, *program) for name, program in ctest.programs_of("dev", "-R", which).items()]


def python_run(test, part, env):
    folder, file = os.path.split(os.path.join(ROOT, test.path))
    build = os.path.join(ROOT, "build-dev")
    env = dict(env, GPUSHIM_LIBRARY=os.path.join(build, "libgpushim.so"), GSH_TEST_BUILD=build)
    stem = os.path.splitext(file)[0]
    unit = ["-m", "unittest", "-v", ".".join(filter(None, (stem, part)))]
    return [interpreter_of(test), *(unit if stem.startswith("test_") else [file])], env, folder, False


def runs_of(test, part):
    """[(title, *ctest.Program)]: a Python test that is for emulated CUDA libraries runs on these too."""
    if is_c(test):
        return c_runs(test, part)
    emulation = python_tests.emulation_environment("build-dev/tests/emulation") if is_emulated(test) else None
    return [(test.path, *python_run(test, part, {}))] + [
        (test.path + ", emulated CUDA", *python_run(test, part, env)) for env in (emulation,) if env]


def run_shown(totals, title, argv, env, folder, will_fail):
    """What it prints is not kept."""
    print("--- %s" % title, flush=True)
    start = time.monotonic()
    with subprocess.Popen(argv, env=dict(os.environ, **env), cwd=folder, stdin=subprocess.DEVNULL) as process:
        status, processor = wait(process, STEP_TIMEOUT)
    spent = Spent(time.monotonic() - start, processor)
    totals.add_status(title, int(status == 0) if will_fail else status, spent, "")


def run_check(totals, name):
    """False: there is no such test, which is said."""
    tests = all_tests()
    found = matches(name, tests) if name else []
    if not found:
        print("no test is named %r; near: %s" % (name, ", ".join(near_names(name, tests)) or "none"))
        return False
    targets = sorted({target for test, _ in found for target in targets_of(test)})
    if not targets or ctest.build(totals, "dev", *targets):
        for test, part in found:
            runs = runs_of(test, part)
            if not runs:
                totals.add("%s (not for this machine)" % test.path, 0, 0, 1)
            for run in runs:
                run_shown(totals, *run)
    return True
