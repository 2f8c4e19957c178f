# SPDX-License-Identifier: Apache-2.0
"""Runs a Python script in its own process, plain and under the shim, and compares what came out.

    import shim_runner
    class TestThing(shim_runner.TestCase):
        def test_add(self):
            self.assert_same('''
    import numpy as np
    from shim_script import dump
    a = np.arange(1000.0)
    dump("sum", a + a)
    ''')

The scripts hand arrays back through shim_script.dump (dtype, shape, strides, bytes). Environment:
GPUSHIM_LIBRARY  the library (default build/libgpushim.so); GPUSHIM_DEVICE  host (default), cuda;
GPUSHIM_FUSION  for the tests that do not set it themselves;
GPUSHIM_CACHE_DIR  the folder for compiled kernels (default: one for all tests of the user).
Profiles of scripts are off (GPUSHIM_PROFILE=0). All other GPUSHIM_ variables are removed, and given per run. Needs only unittest; pytest runs it too.
"""
import functools
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIBRARY = os.path.abspath(os.environ.get("GPUSHIM_LIBRARY") or
                          os.path.join(ROOT, "build", "libgpushim.so"))
DEVICE = os.environ.get("GPUSHIM_DEVICE") or "host"
FUSION = os.environ.get("GPUSHIM_FUSION")
AWAITS_COMPILERS = True  # of a cache that a test gives: it may be about to remove that
TIMEOUT = float(os.environ.get("SHIM_RUNNER_TIMEOUT") or 120)
CACHE = (os.environ.get("GPUSHIM_CACHE_DIR") or
         os.path.join(tempfile.gettempdir(), "gpushim-test-cache-%d" % os.getuid()))


class Result:
    """What one process left: stdout and stderr (text), returncode, report (the parsed JSON of the
    first process or None), reports (of every process, by pid), values ({name: record})."""

    def __init__(self, completed, reports, values):
        self.returncode = completed.returncode
        self.stdout = completed.stdout.decode("utf-8", "backslashreplace")
        self.stderr = completed.stderr.decode("utf-8", "backslashreplace")
        self.reports = reports
        self.report = reports.get(completed.pid) or reports.get("%p")
        self.values = values

    def __repr__(self):
        return "rc %s\n--- stdout\n%s\n--- stderr\n%s" % (self.returncode, self.stdout[-4000:],
                                                          self.stderr[-4000:])


def environment(shim, env=None, report_folder=None):
    """The environment of a run. `env` overrides; a value of None removes the name."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith("GPUSHIM_") and name != "LD_PRELOAD"}
    result["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))
    result["PYTHONHASHSEED"] = "0"
    result["PYTHONDONTWRITEBYTECODE"] = "1"
    if shim:
        if not os.path.exists(LIBRARY):
            raise FileNotFoundError("no library %s: build it or set GPUSHIM_LIBRARY" % LIBRARY)
        result.update(LD_PRELOAD=LIBRARY, GPUSHIM_DEVICE=DEVICE, GPUSHIM_MODE="force",
                      GPUSHIM_CACHE_DIR=CACHE, GPUSHIM_PROFILE="0")
        if FUSION:
            result["GPUSHIM_FUSION"] = FUSION
        if report_folder:
            result["GPUSHIM_REPORT"] = "json:%s/%%p.json" % report_folder
    for name, value in (env or {}).items():
        if value is None:
            result.pop(name, None)
        elif shim or not name.startswith("GPUSHIM_"):
            result[name] = value
    return result


def compilers_of(cache):
    """The processes that compile kernels for the disk cache `cache` (gpushim_compiler), which may outlive those that asked for them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as stream:
                words = stream.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"gpushim_compiler") and os.fsencode(cache) in words:
            found.append(int(pid))
    return found


def await_compilers(cache, patience=60):
    """Until none is left: the caller may be about to remove the cache."""
    end = time.monotonic() + patience
    while compilers_of(cache) and time.monotonic() < end:
        time.sleep(0.02)


def run(script, shim=True, env=None, args=(), python_args=(), timeout=None, report=True, cwd=None,
        stdin=b""):
    """Runs a script, given as text or as the path of a .py file, with this interpreter."""
    with tempfile.TemporaryDirectory(prefix="shim-runner-") as folder:
        path = script
        if "\n" in script or not script.endswith(".py"):
            path = os.path.join(folder, "script.py")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(textwrap.dedent(script))
        command = [sys.executable, *python_args, path, *args]
        return run_command(command, shim, env, timeout, report, cwd, stdin, folder)


def run_command(command, shim=True, env=None, timeout=None, report=True, cwd=None, stdin=b"",
                folder=None):
    """As run, for any command line."""
    with tempfile.TemporaryDirectory(prefix="shim-report-") as reports_at:
        dump_file = os.path.join(reports_at, "dump.pickle")
        full = environment(shim, env, reports_at if report else None)
        full["SHIM_SCRIPT_DUMP"] = dump_file
        process = subprocess.Popen(command, env=full, cwd=cwd or folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, err = process.communicate(stdin, timeout=timeout or TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its own session: children of the script too
            out, err = process.communicate()
            err += b"\nshim_runner: timed out\n"
        cache = (env or {}).get("GPUSHIM_CACHE_DIR")
        if cache and AWAITS_COMPILERS:
            await_compilers(cache)
        completed = subprocess.CompletedProcess(command, process.returncode, out, err)
        completed.pid = process.pid
        return Result(completed, _read_reports(reports_at), _read_values(dump_file))


def _read_reports(folder):
    reports = {}
    for name in os.listdir(folder):
        stem, extension = os.path.splitext(name)
        if extension == ".json":
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                reports[int(stem) if stem.isdigit() else stem] = json.load(stream)
    return reports


def _read_values(path):
    values = {}
    if os.path.exists(path):
        with open(path, "rb") as stream:
            while True:
                try:
                    name, record = pickle.load(stream)
                except EOFError:
                    break
                if name in values:
                    raise ValueError("the script dumped %r twice" % name)
                values[name] = record
    return values


@functools.lru_cache(maxsize=64)
def _run_plain_cached(script, args, python_args, stdin):
    return run(script, shim=False, args=args, python_args=python_args, stdin=stdin)


def run_plain(script, args=(), python_args=(), stdin=b""):
    """The plain run; repeated ones of one test process are answered from memory."""
    return _run_plain_cached(script, tuple(args), tuple(python_args), stdin)


def device_calls(report, name=None):
    """Calls that ran on the device according to a report; of one operation where named."""
    rows = report["operations"]
    return sum(row["device_calls"] for row in rows if name is None or row["name"] == name)


def is_emulated():
    """Whether the device is CUDA's on the emulated libraries of tests/emulation."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return DEVICE == "cuda" and any(os.path.exists(os.path.join(folder, "ptx.txt")) for folder in folders)


def counter(report, key):
    """A counter of config/stats.def by its key."""
    return report["counters"][key]


def array_of(record):
    """The array or scalar of a dumped record, C-contiguous."""
    if record[0] == "array":
        return np.frombuffer(record[6], np.dtype(record[2])).reshape(record[3])
    if record[0] == "scalar":
        return np.frombuffer(record[3], np.dtype(record[2])).reshape(())
    raise TypeError("not a number or array: %r" % (record,))


def _ordered_bits(array):
    """Floats as integers in the same order, so that a difference of 1 is one ulp."""
    width = array.dtype.itemsize
    bits = array.view("i%d" % width).astype(np.int64)
    return np.where(bits < 0, np.int64(-2**(8 * width - 1)) - bits, bits)


def ulp_distance(got, want):
    """Largest distance in units in the last place; NaN equals NaN only. Of complex numbers the
    parts count, each for itself."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return float("inf")
    if got.dtype.kind == "c":
        got, want = (np.stack([array.real, array.imag]) for array in (got, want))
    nan = np.isnan(got)
    if (nan != np.isnan(want)).any():
        return float("inf")
    # Long doubles hold 64-bit integers exactly, and their difference does not wrap.
    far = np.abs(_ordered_bits(got[~nan]).astype("g") - _ordered_bits(want[~nan]).astype("g"))
    return float(far.max()) if far.size else 0.0


def _short(record):
    if record[0] == "array":
        with np.printoptions(threshold=16):
            text = record[6] if isinstance(record[6], str) else str(array_of(record))
        return "%s %s %s strides %s %s\n%s" % (record[1], record[2], record[3],
                                                          record[4], record[5], text)
    if record[0] == "scalar":
        return "%s %r" % (record[1], array_of(record)[()])
    return repr(record)


def _same_but_for_nans(got, want):
    """Bit for bit, but that any NaN equals any: which of two NaNs' sign and payload a sum keeps
    differs between NumPy's own versions, and between the middle and the end of one array."""
    mine, theirs = array_of(got).reshape(-1), array_of(want).reshape(-1)
    if mine.dtype.kind == "c":
        mine, theirs = (np.stack([array.real, array.imag]) for array in (mine, theirs))
    nan = np.isnan(mine)
    return (np.array_equal(nan, np.isnan(theirs)) and
            mine[~nan].tobytes() == theirs[~nan].tobytes())


def _is_close(got, want, rtol, atol):
    """np.allclose; complex numbers also where both parts are, which judges those with an infinite part."""
    def close(x, y):
        return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    with np.errstate(all="ignore"):
        return bool((close(got, want) | (close(got.real, want.real) & close(got.imag, want.imag))).all())


def difference(name, got, want, ulp=None, rtol=None, atol=None):
    """None where the two records agree, else a text. Only float values may differ, by ulp, or by rtol
    and atol together; which NaN a NaN is does not matter."""
    if got == want:
        return None
    is_sequence = want[0] not in ("array", "scalar", "exception", "object")  # a tuple, named or not, or a list
    if is_sequence and got[0] == want[0] and len(got) == len(want):
        texts = [difference("%s [%d]" % (name, i), *pair, ulp, rtol, atol)
                 for i, pair in enumerate(zip(got[1:], want[1:]))]
        return "\n".join(filter(None, texts)) or None
    text = "%s differs\n  plain: %s\n  shim:  %s" % (name, _short(want), _short(got))
    if (want[0] not in ("array", "scalar") or want[2][1:] not in ("f2", "f4", "f8", "c8", "c16") or
            got[0] != want[0] or got[1:-1] != want[1:-1]):
        return text + _first_difference(got, want)
    if _same_but_for_nans(got, want):
        return None
    if ulp is None and rtol is None and atol is None:
        return text + _first_difference(got, want)
    mine, theirs = array_of(got), array_of(want)
    if ulp is not None:
        far = ulp_distance(mine, theirs)
        return None if far <= ulp else "%s\n  %g ulp apart, allowed %g" % (text, far, ulp)
    rtol, atol = rtol or 0, atol or 0
    return None if _is_close(mine, theirs, rtol, atol) else (
        text + "\n  relative tolerance %g, absolute %g" % (rtol, atol) + _first_difference(got, want))


def _first_difference(got, want):
    if got[0] != "array" or want[0] != "array" or got[2:4] != want[2:4] or isinstance(got[6], str):
        return ""
    mine, theirs = array_of(got), array_of(want)
    width = mine.dtype.itemsize
    differ = (np.frombuffer(got[6], np.uint8) != np.frombuffer(want[6], np.uint8))
    differ = differ.reshape(-1, width).any(axis=1)
    if not differ.any():
        return ""
    at = int(np.flatnonzero(differ)[0])
    return "\n  %d of %d elements differ, first flat index %d: plain %r, shim %r" % (
        int(differ.sum()), differ.size, at, theirs.reshape(-1)[at], mine.reshape(-1)[at])


def off_host(tolerances):
    """Tolerances, or none on the host device, which computes these in NumPy's own order or by its formulas."""
    return {} if DEVICE == "host" else tolerances


def _tolerance(name, table):
    """The first value of {regular expression: value} whose key is found in the name; a bare number
    stands for every name."""
    if table is None or isinstance(table, (int, float)):
        return table
    for pattern, value in table.items():
        if re.search(pattern, name):
            return value
    return None


class TestCase(unittest.TestCase):
    """unittest.TestCase with assertions on pairs of runs."""

    def assert_equal_values(self, shimmed, plain, ulp=None, rtol=None, atol=None):
        found = ["%s only in the %s run: %s" % (name, run_name, _short(record))
                 for run_name, mine, other in (("plain", plain, shimmed), ("shim", shimmed, plain))
                 for name, record in mine.values.items() if name not in other.values]
        found += [difference(name, shimmed.values[name], want, _tolerance(name, ulp),
                             _tolerance(name, rtol), _tolerance(name, atol))
                  for name, want in plain.values.items() if name in shimmed.values]
        found = [text for text in found if text]
        if found:
            self.fail("%d of %d values differ\n%s" % (len(found), len(plain.values),
                                                     "\n".join(found[:25])))

    def assert_same(self, script, env=None, args=(), python_args=(), stdin=b"", returncode=0,
                    ulp=None, rtol=None, atol=None, device=True, same_stderr=False, timeout=None):
        """Plain and shim: same stdout, exit status and dumped values; the exit status is
        `returncode` (None: any); the device really ran something where `device` (an operation's
        name: that operation). Tolerances: a number, or {regular expression of names: number}.
        Returns the shim's result."""
        plain = run_plain(script, args, python_args, stdin)
        if returncode is not None:
            self.assertEqual(plain.returncode, returncode, "plain run: %r" % plain)
        shimmed = run(script, True, env, args, python_args, timeout, stdin=stdin)
        self.assertEqual(shimmed.returncode, plain.returncode, "exit status: %r" % shimmed)
        self.assertEqual(shimmed.stdout, plain.stdout, "stdout; %r" % shimmed)
        if same_stderr:
            self.assertEqual(shimmed.stderr, plain.stderr, "stderr")
        self.assert_equal_values(shimmed, plain, ulp, rtol, atol)
        if device:
            self.assert_on_device(shimmed, device if isinstance(device, str) else None)
        return shimmed

    def assert_on_device(self, result, name=None):
        """The report exists and counts device calls (of the named operation)."""
        self.assertIsNotNone(result.report, "no report was written: %r" % result)
        self.assertGreater(device_calls(result.report, name), 0,
                           "no device call of %s: %s" % (name or "any operation",
                                                         json.dumps(result.report, indent=1)))

    def shim_run(self, script, **options):
        """The shim run alone; fails on a non-zero exit status."""
        result = run(script, True, **options)
        self.assertEqual(result.returncode, 0, repr(result))
        return result


class in_shares:
    """Decorator of a test method that takes its share as an argument: makes `count` tests of it, to run side by side.
    A share is a tuple of script arguments for shim_script.share."""

    def __init__(self, count):
        self.count = count

    def __call__(self, function):
        self.function = function
        return self

    def __set_name__(self, owner, name):
        delattr(owner, name)
        for number in range(self.count):
            share = (str(number), str(self.count))
            setattr(owner, "%s_%d" % (name, number), functools.partialmethod(self.function, share))


def find_tool(name):
    """The path of a program, or a SkipTest that says which one is absent."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest("%s is not installed" % name)
    return path


main = unittest.main
