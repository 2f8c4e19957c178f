# SPDX-License-Identifier: Apache-2.0
"""What is about the device, on a GPU: from build/, with this Python, test by test on all cores (`make test-gpu`).

The run can be divided: each test is in one shard. A program whose cases are shared out is in one shard with all its cases.
"""
import concurrent.futures
import functools
import glob
import os
import re
import sys
import tempfile

from runner import python_tests
from runner.process import ROOT, WORKERS, execute
from runner.python_tests import file_group, run_groups, run_part, run_unittest

# C programs of the kind gpu whose cases are shared out (tests/gpu/shard.h); the others run alone.
SHARED_PROGRAMS = ("test_cuda_backend", "test_cuda_scan", "test_cuda_fft", "test_cuda_interpreter", "test_cuda_draw",
                   "test_cuda_sort", "test_cuda_search", "test_cuda_filter", "test_cuda_spmv", "test_cuda_select")
# Start first, the longest one at once: the tests with most kernels to compile, and what takes a minute without a device.
LONG_TESTS = ("test_numpy_join", "test_fuzz", "test_numpy_ufunc_dtypes", "test_cuda_scan", "test_numpy_reduce_forms",
              "test_nvrtc_compile", "test_numpy_accumulate", "test_numpy_methods", "test_nvrtc_scan", "test_coverage")
# Seconds that a part may take; another program of tests/unit than these, and a script of a Python test.
PART_TIMEOUT, UNIT_TIMEOUT, SCRIPT_TIMEOUT = 300, 120, 240
# Of tests/conformance: the one script that runs on the device. The others judge the CPU's loops, and the text of the
# kernels as C++ on the CPU.
DEVICE_SCRIPTS = ("k_order",)
# Prints the tests of modules as `python -m unittest` takes them; those of a class that prepares itself together.
LIST_TESTS = """
import sys, unittest
def names(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        elif type(test).__module__ == "unittest.loader":
            yield test.id().rpartition(".")[2]
        elif type(test).setUpClass.__func__ is unittest.TestCase.setUpClass.__func__:
            yield test.id()
        else:
            yield test.id().rpartition(".")[0]
found = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
print("\\n".join(dict.fromkeys(names([found]))))
"""


def run_share(program, share, env):
    """One share of a program's cases; each case is a test."""
    counts, output, spent = run_part([program, "--shard", "%d/%d" % share], env, PART_TIMEOUT)
    line = re.search(r"^cases: ran (\d+) of \d+, (\d+) failed$", output, re.M)
    if line is None:
        return counts if counts[2] else (0, 1, 0), output, spent
    ran, failed = map(int, line.groups())
    return (ran - failed, max(failed, counts[1]), 0), output, spent


def missing_cases(outputs):
    """What is wrong with the shares' counts, or nothing: together they must have run every case."""
    lines = [re.findall(r"^cases: ran (\d+) of (\d+)", output, re.M) for output in outputs]
    ran, wholes = sum(int(line[0][0]) for line in lines if line), {line[0][1] for line in lines if line}
    return "" if wholes in (set(), {str(ran)}) else "ran %d cases of %s" % (ran, " or ".join(sorted(wholes)))


def shared_group(program, env):
    parts = [functools.partial(run_share, program, (k + 1, WORKERS), env) for k in range(WORKERS)]
    return "gpu " + os.path.basename(program), parts, missing_cases


def unit_group(program, env):
    name = os.path.basename(program)
    timeout = PART_TIMEOUT if name in LONG_TESTS else UNIT_TIMEOUT
    return "unit " + name, [functools.partial(run_part, [program], env, timeout)], None


def unittest_group(path, env):
    """A file of Python tests, each a process of its own."""
    folder, name = os.path.split(path[:-len(".py")])
    status, listed, _ = execute([sys.executable, "-c", LIST_TESTS, name], env, cwd=folder)
    tests = listed.split() if status == 0 and listed.strip() else [name]
    run = lambda test: run_unittest(sys.executable, folder, test, env, PART_TIMEOUT)  # noqa: E731
    return "cuda " + name, [functools.partial(run, test) for test in tests], None


def run_alone(totals, kind, env, shard):
    """The C programs of a kind that want the machine for themselves; what they measure is printed."""
    programs = [program for program in sorted(glob.glob(os.path.join(ROOT, "build", "tests", kind, "test_*")))
                if os.path.basename(program) not in SHARED_PROGRAMS]
    for program in shard.of(programs):
        counts, output, spent = run_part([program], env, PART_TIMEOUT)
        totals.add("%s %s" % (kind, os.path.basename(program)), *counts, spent, output)
        print(output.rstrip(), flush=True)


def groups_of_shard(groups, shard):
    """The groups with the parts of this shard. A group whose parts are checked together stays together."""
    divisible = [(group, part) for group in groups if group[2] is None for part in group[1]]
    mine = {part for _, part in shard.of(divisible)}
    whole = shard.of(group for group in groups if group[2] is not None)
    divided = [(title, [part for part in parts if part in mine], None) for title, parts, check in groups if check is None]
    return whole + [group for group in divided if group[1]]


def side_by_side(env):
    """The groups of all tests that can run beside others, the longest first."""
    programs = os.path.join(ROOT, "build", "tests")
    groups = [shared_group(os.path.join(programs, "gpu", name), env) for name in SHARED_PROGRAMS]
    groups += [unit_group(path, env) for path in sorted(glob.glob(os.path.join(programs, "unit/test_*")))]
    paths = [path for kind in python_tests.KINDS if kind != "stress"
             for path in sorted(glob.glob(os.path.join(ROOT, "tests", kind, "test_*.py")))]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        groups += pool.map(functools.partial(unittest_group, env=env), paths)
    groups += [file_group("cuda", sys.executable, os.path.join(ROOT, "tests/conformance", name + ".py"), env, PART_TIMEOUT)
               for name in DEVICE_SCRIPTS]
    order = {name: place for place, name in enumerate(LONG_TESTS)}
    return sorted(groups, key=lambda group: order.get(group[0].split()[-1], len(order)))


def run_gpu(totals, shard):
    """Measurements, then all that can run side by side, then the races. One folder keeps the kernels of all."""
    with tempfile.TemporaryDirectory(prefix="gpushim-kernels-") as cache:
        env = {"GPUSHIM_DEVICE": "cuda", "GPUSHIM_CACHE_DIR": cache, "SHIM_RUNNER_TIMEOUT": str(SCRIPT_TIMEOUT),
               "GPUSHIM_LIBRARY": os.path.join(ROOT, "build", "libgpushim.so")}
        run_alone(totals, "gpu", env, shard)
        run_groups(totals, groups_of_shard(side_by_side(env), shard))
        run_alone(totals, "stress", env, shard)
        paths = sorted(glob.glob(os.path.join(ROOT, "tests/stress/test_*.py")))
        run_groups(totals, [file_group("cuda", sys.executable, path, env, PART_TIMEOUT) for path in shard.of(paths)], workers=1)
