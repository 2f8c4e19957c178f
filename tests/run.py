# SPDX-License-Identifier: Apache-2.0
"""Runs the project's tests and adds up their counts; `make test` and its sisters call it.

    run.py all [--whole]   format, tidy, rules, C tests with gcc, clang and sanitizers, Python tests, and half of NumPy's own, or
                     the whole
    run.py gpu       the C and Python suites on the cuda device, from build/, with this Python: what is
                     about the device (docs/testing.md), test by test on all cores
    run.py matrix    the Python tests under every CPython found, with old and new NumPy
    run.py format [--fix] | tidy | rules | ctest PRESET | python INTERPRETER LIBRARY
    run.py stamp | built    records, or asks, that build/ was built from these very sources

Each step prints one line, a failing one its output as well. The last line is the sum: "N passed,
N failed, N skipped"; the exit status is 1 where anything failed. Needs only the standard library.
"""
import concurrent.futures
import functools
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("base", "config", "kernels", "policy", "offload", "interpose", "tests")
SYSTEM_PYTHON = "/usr/bin/python3"
SKIPPED = 77
WORKERS = len(os.sched_getaffinity(0))
STEP_TIMEOUT = 1800
# NumPy versions by Python: the oldest supported one that has a wheel, and the newest.
MATRIX = {"3.9": ("1.22.4", "2.0.2"), "3.10": ("1.22.4", "2.2.6"), "3.11": ("1.23.5", "2.4.6"),
          "3.12": ("1.26.4", "2.5.5"), "3.13": ("2.1.3", "2.5.5")}
# Folders of Python tests: files test_*.py are unittest's; others are scripts, of conformance one test each.
PYTHON_TESTS = ("preload", "conformance", "stress", "fuzz", "coverage", "package_suite")
# What of the packages' own tests `make test` runs, by package and environment; `make test-numpy`, `make test-scipy`
# and their like run more.
SUITE_PARTS = {("numpy", ".venv"): ("core", "linalg", "fft", "lib", "ma"), ("numpy", ".venv-numpy1"): ("core",),
               ("scipy", ".venv"): ("linalg/test_basic", "linalg/test_decomp_cholesky", "linalg/test_decomp_lu", "linalg/test_solvers",
                                    "fft/test_basic", "sparse.linalg/_isolve/test_lsmr", "sparse.linalg/_isolve/test_lsqr")}
# What of it runs twice under the shim, each call alone and in groups as long as the tests allow (docs/testing.md).
GROUPED_PARTS = ("core/test_ufunc", "core/test_numeric", "core/test_indexing", "lib/test_nanfunctions", "ma/test_core")
GROUPED_OPTIONS = ("--set", "GPUSHIM_FPERR=late", "--set", "GPUSHIM_FEED_MS=0", "--against", "GPUSHIM_FUSION=0")
# Python tests that also run on emulated CUDA libraries: what is about the device and its memory. (Its libraries' routines: the
# programs of tests/gpu.)
EMULATED_TESTS = ("preload/test_cuda_users", "preload/test_fft", "preload/test_fp_errors", "preload/test_deferral", "preload/test_memory_given_back",
                  "preload/test_others_code", "preload/test_processes", "preload/test_refusals", "preload/test_residency", "preload/test_signals",
                  "preload/test_slow_gpu", "preload/test_slow_cpu")


class Totals:
    """Counts over all steps, and the one line that each step prints."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, name, passed, failed, skipped, seconds, output=""):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        print("%-4s %-44s %5d passed %3d failed %3d skipped %6.1f s"
              % ("FAIL" if failed else "ok", name, passed, failed, skipped, seconds), flush=True)
        if failed:
            self.failures.append(name)
            print(output[-20000:].rstrip(), flush=True)

    def add_status(self, name, status, seconds, output):
        """One step that counts as one test."""
        skipped = status == SKIPPED
        self.add(name, status == 0, not skipped and status != 0, skipped, seconds, output)
        return status == 0

    def finish(self):
        if self.failures:
            print("failed: " + ", ".join(self.failures))
        if self.passed + self.failed == 0:
            print("nothing ran")
            self.failed += 1
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        return 1 if self.failed else 0


def end(process):
    """Kills it; what it printed. Its children may live on and hold the pipe."""
    process.kill()
    try:
        return process.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired as late:
        return late.output or b""


def execute(argv, env=None, cwd=ROOT, timeout=STEP_TIMEOUT):
    """(exit status, stdout and stderr together, seconds); never raises."""
    start = time.monotonic()
    try:
        with subprocess.Popen(argv, cwd=cwd, env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                output, status = process.communicate(timeout=timeout)[0], process.returncode
            except subprocess.TimeoutExpired:
                output, status = end(process) + b"\ntimed out after %d s" % timeout, 124
    except OSError as error:
        status, output = 127, str(error).encode()
    return status, output.decode("utf-8", "replace"), time.monotonic() - start


def step(totals, name, argv, env=None):
    status, output, seconds = execute(argv, env)
    return totals.add_status(name, status, seconds, output)


def sources(*endings):
    found = []
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.join(where, name) for name in names if name.endswith(endings)]
    return sorted(found)


# --- style ---------------------------------------------------------------------------------------

def llvm_tool(name):
    """Version 14 of an LLVM tool: other versions format and warn differently. None: not here."""
    for candidate in (name + "-14", name):
        path = shutil.which(candidate)
        if path and re.search(r"version 14\.", execute([path, "--version"])[1]):
            return path
    return None


def check_format(totals, fix=False):
    tool = llvm_tool("clang-format")
    if tool is None:
        totals.add("clang-format (no version 14 here)", 0, 0, 1, 0.0)
        return
    status, output, seconds = execute([tool] + (["-i"] if fix else ["--dry-run", "-Werror"]) + sources(".c", ".h", ".cpp"))
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error:", output, re.M)))
    totals.add_status("clang-format", status, seconds, "\n".join(wrong) + "\n`make format` mends them")


def check_tidy(totals, build="build-dev"):
    tool = llvm_tool("clang-tidy")
    if tool is None:
        totals.add("clang-tidy (no version 14 here)", 0, 0, 1, 0.0)
        return
    files = [path for path in sources(".c") if not path.startswith(os.path.join(ROOT, "tests"))]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(lambda path: execute([tool, "-p", build, "--quiet", path]), files))
    bad = ["\n".join(line for line in output.splitlines() if " error: " in line)
           for status, output, _ in results if status != 0]
    totals.add("clang-tidy", len(results) - len(bad), len(bad), 0, time.monotonic() - start, "\n".join(bad))


# --- C tests -------------------------------------------------------------------------------------

def build(totals, preset, *targets):
    configured = step(totals, "configure " + preset, ["cmake", "--preset", preset])
    if not configured:
        return False
    argv = ["cmake", "--build", "--preset", preset]
    return step(totals, " ".join(("build", preset) + targets), argv + (["--target"] + list(targets) if targets else []))


def run_ctest(totals, preset):
    """The CTest tests that the preset names, counted one by one."""
    with tempfile.TemporaryDirectory() as folder:
        junit = os.path.join(folder, "junit.xml")
        status, output, seconds = execute(["ctest", "--preset", preset, "-j%d" % WORKERS, "--no-tests=error",
                                           "--output-junit", junit])
        if not os.path.exists(junit):
            totals.add_status("ctest " + preset, status or 1, seconds, output)
            return
        suite = xml.etree.ElementTree.parse(junit).getroot()
    count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "skipped", "disabled")}
    skipped = count["skipped"] + count["disabled"]
    failed = max(count["failures"], 1 if status != 0 else 0)
    totals.add("ctest " + preset, count["tests"] - failed - skipped, failed, skipped, seconds, output)


# --- Python tests --------------------------------------------------------------------------------

def count_unittest(output, status):
    """(passed, failed, skipped) of what `python -m unittest` printed last."""
    ran = re.findall(r"^Ran (\d+) tests? in", output, re.M)
    if not ran:
        return 0, 1, 0
    result = output[output.rindex("Ran "):]
    numbers = {key: int(value) for key, value in re.findall(r"(failures|errors|skipped|unexpected successes)=(\d+)",
                                                             result)}
    skipped = numbers.pop("skipped", 0)
    failed = sum(numbers.values())
    if status != 0 and failed == 0 and int(ran[-1]) > 0:
        failed = 1
    return max(int(ran[-1]) - failed - skipped, 0), failed, skipped


def run_unittest(interpreter, folder, name, env, timeout=STEP_TIMEOUT):
    """A module, class or test of the folder, as ((passed, failed, skipped), output, seconds)."""
    status, output, seconds = execute([interpreter, "-m", "unittest", "-v", name], env, folder, timeout)
    return count_unittest(output, status), output, seconds


def run_part(argv, env, timeout):
    """A program that is one test, as ((passed, failed, skipped), output, seconds)."""
    status, output, seconds = execute(argv, env, timeout=timeout)
    if status not in (0, SKIPPED):
        output += "\nexit status %d\n" % status
    return (int(status == 0), int(status not in (0, SKIPPED)), int(status == SKIPPED)), output, seconds


def run_groups(totals, groups, workers=WORKERS):
    """Side by side, those named first started first. Groups are (title, parts, check): each part returns counts, output and
    seconds, the check is asked about all outputs. A line a group, with the seconds of its longest part."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        group_of = {pool.submit(part): group for group in groups for part in group[1]}
        done = {}
        for job in concurrent.futures.as_completed(group_of):
            title, parts, check = group_of[job]
            results = done.setdefault(title, [])
            results.append(job.result())
            if len(results) < len(parts):
                continue
            passed, failed, skipped = (sum(counts) for counts in zip(*(result[0] for result in results)))
            wrong = check([result[1] for result in results]) if check else ""
            told = [result[1] for result in results if result[0][1]] + [wrong]
            totals.add(title, passed, failed + bool(wrong), skipped, max(result[2] for result in results),
                       "\n".join(told))
            if skipped:
                told = "\n".join(result[1] for result in results if result[0][2])
                print("\n".join(re.findall(r"^.*\bskipped(?: '|: ).*$", told, re.M)), flush=True)


def file_group(title, interpreter, path, env, timeout=STEP_TIMEOUT):
    """A file of Python tests: unittest's, or a script that is one test."""
    folder, name = os.path.split(path)
    if name.startswith("test_"):
        part = functools.partial(run_unittest, interpreter, folder, name[:-len(".py")], env, timeout)
    else:
        part = functools.partial(run_part, [interpreter, path], env, timeout)
    return "%s %s" % (title, name), [part], None


def kind_of(path):
    return os.path.basename(os.path.dirname(path))


def run_python(totals, title, interpreter, library, env=None, kinds=PYTHON_TESTS):
    """The Python tests of one interpreter: unittest files, and scripts that count as one test each."""
    status, output, seconds = execute([interpreter, "-c", "import numpy; print(numpy.__version__)"])
    if status != 0:
        totals.add_status("%s has no NumPy" % interpreter, status, seconds, output)
        return
    title = "%s numpy %s:" % (title, output.strip())
    env = dict(env or {}, GPUSHIM_LIBRARY=os.path.join(ROOT, library))
    paths = [path for kind in kinds for path in sorted(glob.glob(os.path.join(ROOT, "tests", kind, "*.py")))]
    tests = [path for path in paths if os.path.basename(path).startswith("test_")]
    scripts = [path for path in paths if kind_of(path) == "conformance"]  # elsewhere they are helpers of the tests
    run_groups(totals, [file_group(title, interpreter, path, env) for path in scripts + tests])


def run_package_suite(totals, title, venv, package, parts):
    """A package's own tests, plain and under the shim; a file of them counts as one test."""
    script = os.path.join(ROOT, "tests", "package_suite", "package_suite.py")
    status, output, seconds = execute([os.path.join(ROOT, venv, "bin/python"), script, "--package", package, "--library",
                                       os.path.join(ROOT, "build/libgpushim.so"), *parts])
    passed, failed = (len(re.findall(r"^%s " % word, output, re.M)) for word in ("ok  ", "FAIL"))
    totals.add(title, passed, max(failed, status != 0), 0, seconds, output)
    told = re.findall(r"^(?:(?:numpy|scipy) \d|device:|groups:|\d+ tests:).*$", output, re.M)
    print("\n".join("     " + line for line in told), flush=True)


def run_rules(totals, folder):
    env = {"GSH_TEST_BUILD": os.path.join(ROOT, folder)}
    run_groups(totals, [file_group("rules", sys.executable, path, env)
                        for path in sorted(glob.glob(os.path.join(ROOT, "tests/rules/test_*.py")))])


def run_emulated(totals, title, interpreter, library, emulation):
    """What is about the device, on libraries that stand in for CUDA's (tests/emulation) in that folder."""
    folder = os.path.join(ROOT, emulation)
    if not os.path.exists(os.path.join(folder, "libcuda.so.1")):
        totals.add("%s (no C++ compiler)" % title, 0, 0, 1, 0.0)
        return
    env = {"GPUSHIM_DEVICE": "cuda", "GPUSHIM_LIBRARY": os.path.join(ROOT, library), "LD_LIBRARY_PATH": folder,
           "GPUSHIM_CACHE_DIR": os.path.join(folder, "cache"), "SHIM_RUNNER_TIMEOUT": str(STEP_TIMEOUT // 3)}
    run_groups(totals, [file_group(title, interpreter, os.path.join(ROOT, "tests", name + ".py"), env)
                        for name in EMULATED_TESTS])


def run_faults(totals, library, emulation):
    """A sample of the faults of `make test-faults`; each counts as a test."""
    folder = os.path.join(ROOT, emulation)
    if not os.path.exists(os.path.join(folder, "libcuda.so.1")):
        totals.add("faults (no C++ compiler)", 0, 0, 1, 0.0)
        return
    status, output, seconds = execute([os.path.join(ROOT, ".venv/bin/python"), os.path.join(ROOT, "tests/faults/run_faults.py"),
                                       "--sample", "200", "--seconds", "60", "--kinds",
                                       "oom,five,error,sticky,late", "--jobs", str(WORKERS + 1), "--library",
                                       os.path.join(ROOT, library), "--emulation", folder])
    line = re.search(r"^(\d+) faults, (\d+) failed", output, re.M)
    ran, failed = map(int, line.groups()) if line else (0, 1)
    totals.add("faults at calls of CUDA", max(ran - failed, 0), max(failed, status != 0), 0, seconds, output)


# --- on a GPU ------------------------------------------------------------------------------------

# C programs of the kind gpu whose cases are shared out (tests/gpu/shard.h); the others run alone.
SHARED_PROGRAMS = ("test_cuda_backend", "test_cuda_scan", "test_cuda_fft")
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
    counts, output, seconds = run_part([program, "--shard", "%d/%d" % share], env, PART_TIMEOUT)
    line = re.search(r"^cases: ran (\d+) of \d+, (\d+) failed$", output, re.M)
    if line is None:
        return counts if counts[2] else (0, 1, 0), output, seconds
    ran, failed = map(int, line.groups())
    return (ran - failed, max(failed, counts[1]), 0), output, seconds


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


def run_alone(totals, kind, env):
    """The C programs of a kind that want the machine for themselves; what they measure is printed."""
    for program in sorted(glob.glob(os.path.join(ROOT, "build", "tests", kind, "test_*"))):
        if os.path.basename(program) not in SHARED_PROGRAMS:
            counts, output, seconds = run_part([program], env, PART_TIMEOUT)
            totals.add("%s %s" % (kind, os.path.basename(program)), *counts, seconds, output)
            print(output.rstrip(), flush=True)


def run_gpu(totals):
    """Measurements, then all that can run side by side, then the races. One folder keeps the kernels of all."""
    with tempfile.TemporaryDirectory(prefix="gpushim-kernels-") as cache:
        env = {"GPUSHIM_DEVICE": "cuda", "GPUSHIM_CACHE_DIR": cache, "SHIM_RUNNER_TIMEOUT": str(SCRIPT_TIMEOUT),
               "GPUSHIM_LIBRARY": os.path.join(ROOT, "build", "libgpushim.so")}
        run_alone(totals, "gpu", env)
        programs = os.path.join(ROOT, "build", "tests")
        groups = [shared_group(os.path.join(programs, "gpu", name), env) for name in SHARED_PROGRAMS]
        groups += [unit_group(path, env) for path in sorted(glob.glob(os.path.join(programs, "unit/test_*")))]
        paths = [path for kind in PYTHON_TESTS if kind != "stress"
                 for path in sorted(glob.glob(os.path.join(ROOT, "tests", kind, "test_*.py")))]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            groups += pool.map(functools.partial(unittest_group, env=env), paths)
        groups += [file_group("cuda", sys.executable, os.path.join(ROOT, "tests/conformance", name + ".py"), env, PART_TIMEOUT)
                   for name in DEVICE_SCRIPTS]
        order = {name: place for place, name in enumerate(LONG_TESTS)}
        run_groups(totals, sorted(groups, key=lambda group: order.get(group[0].split()[-1], len(order))))
        run_alone(totals, "stress", env)
        run_groups(totals, [file_group("cuda", sys.executable, path, env, PART_TIMEOUT)
                            for path in sorted(glob.glob(os.path.join(ROOT, "tests/stress/test_*.py")))], workers=1)


# --- what was built from what --------------------------------------------------------------------

def fingerprint():
    """A hash of everything that goes into build/."""
    digest = hashlib.sha256()
    names = sources(".c", ".h", ".S", ".def", ".map", ".in", ".txt", ".cmake")
    for path in names + [os.path.join(ROOT, name) for name in ("CMakeLists.txt", "CMakePresets.json")]:
        digest.update(os.path.relpath(path, ROOT).encode() + b"\0")
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def stamp():
    with open(os.path.join(ROOT, "build", "sources.sha256"), "w") as file:
        file.write(fingerprint())


def is_built():
    try:
        with open(os.path.join(ROOT, "build", "sources.sha256")) as file:
            return file.read() == fingerprint() and os.path.exists(os.path.join(ROOT, "build", "libgpushim.so"))
    except OSError:
        return False


# --- the commands --------------------------------------------------------------------------------

def suite_shard(package, is_whole):
    """Which half of NumPy's tests, K/2: commits take turns, by their hashes. The whole where there is no commit to ask."""
    status, output, _ = execute(["git", "rev-parse", "--short=8", "HEAD"])
    if is_whole or package != "numpy" or status != 0:
        return ()
    return "--shard", "%d/2" % (int(output, 16) % 2 + 1)


def run_all(totals, is_whole):
    check_format(totals)
    if build(totals, "dev"):
        build(totals, "dev", "all_verify_interface_header_sets")
        check_tidy(totals)
        run_rules(totals, "build-dev")
        run_ctest(totals, "dev")
    for other in ("clang", "asan", "tsan"):
        if build(totals, other):
            run_ctest(totals, other)
    dev, release = "build-dev/libgpushim.so", "build/libgpushim.so"
    run_python(totals, "python", os.path.join(ROOT, ".venv/bin/python"), dev)
    # Loops and texts are judged by the newest and the oldest NumPy.
    run_python(totals, "python", os.path.join(ROOT, ".venv-numpy1/bin/python"), release, {"GPUSHIM_FUSION": "0"},
               [kind for kind in PYTHON_TESTS if kind != "conformance"])
    run_python(totals, "python", SYSTEM_PYTHON, release)
    run_emulated(totals, "emulated CUDA", os.path.join(ROOT, ".venv/bin/python"), release, "build-dev/tests/emulation")
    run_faults(totals, release, "build-dev/tests/emulation")
    for (package, venv), parts in SUITE_PARTS.items():
        shard = suite_shard(package, is_whole)
        run_package_suite(totals, " ".join(["%s's tests, %s" % (package, venv), *shard]), venv, package, [*parts, *shard])
    run_package_suite(totals, "numpy's tests, in groups", ".venv", "numpy", GROUPED_PARTS + GROUPED_OPTIONS)


def find_python(version):
    candidates = [shutil.which("python" + version)]
    candidates += glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python" % version))
    for path in candidates:
        if path and execute([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])[1].strip() == version:
            return path
    return None


def run_matrix(totals):
    for version, numpys in MATRIX.items():
        interpreter = find_python(version)
        if interpreter is None:
            totals.add("python %s (not found)" % version, 0, 0, 1, 0.0)
            continue
        for numpy in numpys:
            folder = ".venv-matrix-%s-%s" % (version, numpy)
            python = os.path.join(ROOT, folder, "bin", "python")
            if not os.path.exists(os.path.join(ROOT, folder, ".made")):
                pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
                if not (step(totals, "make " + folder, [interpreter, "-m", "venv", "--clear", folder]) and
                        step(totals, "numpy " + numpy, pip + ["numpy==" + numpy])):
                    continue
                open(os.path.join(ROOT, folder, ".made"), "w").close()
            run_python(totals, version, python, "build/libgpushim.so")


def main(argv):
    command = argv[1] if len(argv) > 1 else ""
    if command == "stamp":
        return stamp()
    if command == "built":
        return 0 if is_built() else 1
    totals = Totals()
    commands = {
        "all": lambda: run_all(totals, "--whole" in argv),
        "gpu": lambda: run_gpu(totals),
        "matrix": lambda: run_matrix(totals),
        "format": lambda: check_format(totals, "--fix" in argv),
        "tidy": lambda: check_tidy(totals),
        "rules": lambda: run_rules(totals, "build-dev"),
        "ctest": lambda: build(totals, argv[2]) and run_ctest(totals, argv[2]),
        "python": lambda: run_python(totals, "python", os.path.abspath(argv[2]), os.path.abspath(argv[3])),
    }
    if command not in commands:
        print(__doc__)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in a background job: programs are tried with it
    commands[command]()
    return totals.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
