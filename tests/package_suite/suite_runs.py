# SPDX-License-Identifier: Apache-2.0
"""Runs test files of an installed package in pytest processes, plain or under the shim.

A job is one share of one test file, one process at a time; a process that dies or hangs costs the
test it was in (outcome "crashed" or "hung"), and another process goes on behind that test. Both
kinds of run get the same environment but for the shim's own variables. Used by package_suite.py.
"""
import collections
import glob
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARE_BYTES = 60000  # of a test file's text: longer files are run in several shares
MOST_RESTARTS = 25
# What both runs get. Fixed, so that neither the load of the machine nor its size chooses what runs.
COMMON = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
          "NPY_AVAILABLE_MEM": "2 GB", "SCIPY_AVAILABLE_MEM": "2G", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
          "HYPOTHESIS_STORAGE_DIRECTORY": os.devnull, "SUITE_SEED": os.environ.get("SUITE_SEED", "0")}
# What a run under the shim gets besides, by what decides where a call runs.
MODES = {"force": {"GPUSHIM_MODE": "force", "GPUSHIM_MIN_ELEMENTS": "0", "GPUSHIM_MIN_REDUCE": "0",
                   "GPUSHIM_MIN_FLOPS": "0", "GPUSHIM_ARENA_MIN": "1"},
         "auto": {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_ARENA_MIN": "1"}}
# The parts that are run where none is named (none: all); options of pytest's; the folder whose tests call BLAS
# and LAPACK by symbols that are taken over (None: none does). A RuntimeWarning that SciPy's tests do not expect
# makes them fail, as where SciPy itself is tested.
FORBID_WARNINGS = ("-W", "error::RuntimeWarning")
Package = collections.namedtuple("Package", "parts pytest routines")
PACKAGES = {"numpy": Package((), (), None),
            "scipy": Package(("linalg", "fft", "sparse.linalg"), FORBID_WARNINGS, "linalg/"),
            "sklearn": Package(("decomposition", "linear_model", "preprocessing", "metrics", "cluster", "mixture", "utils"),
                               FORBID_WARNINGS, None),
            "pandas": Package(("arithmetic", "reductions", "groupby", "indexing", "frame", "series", "arrays"),
                              FORBID_WARNINGS, None)}

live = set()  # processes that run
stopping = threading.Event()

Job = collections.namedtuple("Job", "package path share shares")


def package_folder(package):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise SystemExit("%s has no %s" % (sys.executable, package))
    return os.path.dirname(spec.origin)


def test_files(package, parts):
    """Paths below the package's folder: those of the parts ("lib", "_core/tests/test_umath",
    "core/test_umath", "sparse.linalg"; "core" is also "_core"; "tests" are the package's own), of all where there
    are none."""
    root = package_folder(package)
    found = sorted(os.path.relpath(path, root) for path in
                   glob.glob(os.path.join(root, "**", "tests", "**", "test_*.py"), recursive=True))
    if not parts:
        return found
    chosen = []
    for part in parts:
        wanted = normal(part)
        matches = [path for path in found if wanted in (normal(path), normal(os.path.dirname(path))) or
                   normal(path).startswith(wanted + "/")]
        if not matches:
            raise SystemExit("%s has no tests in %r" % (package, part))
        chosen += [path for path in matches if path not in chosen]
    return chosen


def normal(path):
    """A name of a part or a file without what differs between NumPy 1 and 2 and may be left out."""
    pieces = re.sub(r"\.py$", "", path.strip("/")).replace(".", "/").split("/")
    pieces = [piece for piece in pieces if piece != "tests"]
    return "/".join(["core" if piece == "_core" and k == 0 else piece for k, piece in enumerate(pieces)])


def jobs_of(package, parts):
    """Long files first, so that the last one to end is a short one."""
    root, files = package_folder(package), test_files(package, parts or PACKAGES[package].parts)
    size = {path: os.path.getsize(os.path.join(root, path)) for path in files}
    jobs = []
    for path in sorted(files, key=lambda path: -size[path]):
        shares = 1 + size[path] // SHARE_BYTES
        jobs += [Job(package, path, share, shares) for share in range(1, shares + 1)]
    return jobs


def shard_of(jobs, shard):
    """Of the jobs the K-th of N shards, `shard` being "K/N"; each job is in one of them."""
    number, count = map(int, shard.split("/"))
    return jobs[number - 1::count]


def environment(shim, settings):
    """`shim`: None, or the path of the library; `settings`: its variables."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith(("GPUSHIM_", "PYTEST_")) and name != "LD_PRELOAD"}
    result.update(COMMON)
    # Tests start programs that are installed beside the interpreter: numpy-config, meson.
    result["PATH"] = os.path.dirname(sys.executable) + os.pathsep + result.get("PATH", "")
    result["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, result.get("PYTHONPATH")]))
    if shim:
        result.update(settings, LD_PRELOAD=shim)
    return result


def knows_option(shim, name):
    """Whether this library has the option: its own table of options is asked."""
    env = environment(shim, {"GPUSHIM_HELP": "1", "GPUSHIM_DEVICE": "none"})
    done = subprocess.run([sys.executable, "-c", "import numpy"], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    return name in done.stderr.decode("utf-8", "replace")


def command(job, folder):
    root = package_folder(job.package)
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "suite_plugin",
            "-p", "hypothesispytest", "--hypothesis-seed=" + COMMON["SUITE_SEED"],
            "-c", os.devnull, "--rootdir=" + root, "--basetemp=" + os.path.join(folder, "pytest"), "--tb=short",
            "--color=no", *PACKAGES[job.package].pytest, os.path.join(root, job.path)]


def run_process(job, env, folder, limit):
    """The exit status of one pytest process (None: it was killed after `limit` seconds) and what
    it printed last."""
    log = os.path.join(folder, "log")
    with open(log, "wb") as output:
        process = subprocess.Popen(command(job, folder), env=env, cwd=folder, stdout=output,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        live.add(process)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            kill(process)
            status = None
        live.discard(process)
    with open(log, "rb") as output:
        output.seek(max(0, os.path.getsize(log) - 3000))
        return status, output.read().decode("utf-8", "replace")


def kill(process):
    """With what its tests started: it has a session of its own."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stop():
    """Ends all that runs; what is still to do ends at once."""
    stopping.set()
    for process in list(live):
        kill(process)


def read_outcomes(path):
    """{test: [outcome, text, seconds]}; the last line of a test is its outcome, but a failure
    before or after it is not undone by it."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            for line in map(json.loads, stream):
                old = found.get(line["test"], ("started", "", 0))
                if old[0] in ("started", "passed"):
                    found[line["test"]] = [line["outcome"], line.get("text", ""),
                                           line.get("seconds", 0)]
    return found


def run_job(job, shim, settings, folder, limit):
    """{test: [outcome, text, seconds]} of one job; `folder` is empty and its own. Raises
    InterruptedError after stop()."""
    outcomes = os.path.join(folder, "outcomes")
    env = dict(environment(shim, settings), SUITE_OUTCOMES=outcomes,
               SUITE_SHARE="%d/%d" % (job.share, job.shares))
    for _ in range(MOST_RESTARTS):
        status, tail = run_process(job, env, folder, limit)
        if stopping.is_set():
            raise InterruptedError
        found = read_outcomes(outcomes)
        if status in (0, 1, 2, 5):  # pytest's own: all passed, some failed, not collected, nothing to run
            return found
        open_tests = [test for test, (outcome, _, _) in found.items() if outcome == "started"]
        how = "hung" if status is None else "crashed"
        for test in open_tests or ["%s::process %d/%d" % (job.path, job.share, job.shares)]:
            with open(outcomes, "a", encoding="utf-8") as stream:
                text = "exit status %s\n%s" % (status, tail[-1500:])
                stream.write(json.dumps({"test": test, "outcome": how, "text": text}) + "\n")
        if not open_tests:
            break
    return read_outcomes(outcomes)
