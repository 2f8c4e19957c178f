# SPDX-License-Identifier: Apache-2.0
"""Loops of NumPy that several cores compute: results, errors, threads, forks, and where they are left alone."""
import os
import unittest

import numpy as np

import shim_runner
from parallel_case import BESIDE, CORES, ParallelCase

GROWS = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3)  # before, NumPy reduces 8192 elements at a time
LOOPS = os.path.join(shim_runner.HERE, "parallel_loops.py")
RANDOM_CALLS = os.path.join(shim_runner.HERE, "random_calls.py")

SERIES = """
import numpy as np
a, b, c = np.ones(40000), np.ones(40000), np.ones(40000)
for i in range(6000):
    np.add(a, b, out=c)
print(c.max())
"""

ERRORS = """
import warnings
import numpy as np

def data():
    a = np.random.default_rng(1).random((1000, 1000))
    a[5, 7], a[700, 3], a[800, 800] = 0, 1e300, -1
    return a

def quotient(v): return 1.0 / v
def root(v): return np.sqrt(v)
def logarithm(v): return np.log(v)
def square(v): return np.multiply(v, v, out=v)
def underflow(v): return np.multiply(v, 1e-308)

class Log:
    def write(self, text): print("log", text)

for view in (lambda a: a, lambda a: a[:, 1:]):
    for function in (quotient, root, logarithm, square, underflow):
        for mode in ("warn", "raise", "ignore", "print", "log", "call"):
            v = view(data())
            call = {"call": lambda *what: print("call", what), "log": Log()}.get(mode)
            with warnings.catch_warnings(record=True) as told, np.errstate(all=mode, call=call):
                warnings.simplefilter("always")
                try:
                    function(v)
                except FloatingPointError as error:
                    print(repr(error))
            print(function.__name__, mode, [(str(w.message), w.lineno, w.category.__name__) for w in told],
                  v[np.isfinite(v)].sum())
"""

CALLS = """
import numpy as np
a = np.random.default_rng(0).random((1000, 1500))
b = a[::-1].copy()
def show(x): print(x.dtype, x.shape, x.strides, x.flags.c_contiguous, x.tobytes()[::9973].hex()[:200])
out = np.empty_like(a)
x = np.add(a[:, 1:], b[:, :-1], out=out[:, 1:])
assert x.base is out
show(x)
x = a.copy(); x[:, 2:] += b[:, 2:]; show(x)                     # in place
x = a.copy(); x[:, 1:] += x[:, :-1]; show(x)                    # overlaps: NumPy copies
x = a.copy(); np.add(x[:, 1:], 1, out=x[:, :-1]); show(x)
show(np.add(a[:, 1:], b[:, 1:], where=a[:, 1:] > 0.5, out=np.zeros((1000, 1499))))
show(np.add(a[:, 1:], b[:, 1:], dtype="f4", casting="same_kind"))
show(np.add(a[:, 1:], b[:, 1:].astype("f4")))                   # a cast
show(np.add(a[:, 1:], b[:, 1:], order="F"))
show(np.multiply(a[:, 1:], np.float32(3)))
show(a[:, 1:] * 3 + 2.5)
show(np.add(np.broadcast_to(a[0, 1:], (1000, 1499)), b[:, 1:]))
q, r = np.divmod(a[:, 1:], b[:, 1:] + 1); show(q); show(r)
q = np.empty((1000, 1499)); m, e = np.frexp(a[:, 1:], q, None); assert m is q; show(m); show(e)
class Sub(np.ndarray): pass
print(type(np.add(a[:, 1:].view(Sub), 1)).__name__); show(np.add(a[:, 1:].view(Sub), 1))
i = np.arange(10**6) - 5; p = np.full(10**6, 3)
show(i ** p)
try:
    show(i ** -p)
except ValueError as error:
    print(error)
show(np.add.reduce(a, axis=0)); show(np.add.accumulate(a, axis=0)); show(np.multiply.outer(a[0], a[1]))
readonly = a.copy(); readonly.flags.writeable = False
try:
    np.add(readonly[:, 1:], 1, out=readonly[:, 1:])
except ValueError as error:
    print(error)
"""

ROUNDING = """
import ctypes
import numpy as np
a, b = np.random.default_rng(0).random((2, 10**6))
libm = ctypes.CDLL("libm.so.6")
for mode in (0, 0x400, 0x800, 0xc00):
    assert libm.fesetround(mode) == 0
    sums = np.add(a, b), np.add(a.reshape(1000, -1)[:, 1:], b.reshape(1000, -1)[:, 1:])
    libm.fesetround(0)
    print(mode, *(s.tobytes()[::9973].hex()[:400] for s in sums))
"""

REDUCTIONS = """
import numpy as np
random = np.random.default_rng(0)
def show(*what): print(*[np.asarray(w).tobytes().hex() for w in what])
for count in (500_000, 777_777, 1_048_577):
    for char in "fdlIhB":
        a = (random.standard_normal(count) * 1e3).astype("l").astype(char) if char in "lIhB" else random.standard_normal(count).astype(char)
        for v in (a, a[::-1], a[1::2], a[:count - count % 2].reshape(2, -1)[:, :count // 2 - 9]):
            show(v.sum(), v.max(), v.min(), v.sum(axis=0).ravel()[:5], v.max(axis=-1), v.mean(), np.add.reduce(v, axis=None, initial=3))
zeros = np.where(random.random(10**6) < 0.5, 0.0, -0.0)
show(zeros.sum(), zeros.max(), zeros.min(), np.negative(np.abs(zeros)).sum())
print(np.isnan(np.where(np.arange(10**6) == 77, np.nan, zeros).max()), np.isnan(np.where(np.arange(10**6) == 999_999, np.nan, zeros).sum()))
big = np.full(10**6, 1e308)
with np.errstate(over="raise"):
    try:
        big.sum()
    except FloatingPointError as error:
        print(error)
print(np.logical_or.reduce(zeros != 0), np.bitwise_xor.reduce(np.arange(10**6)), np.multiply.reduce(np.full(10**6, 1.0000001)).hex())
show(np.cumsum(big[:1000] / 1e308), np.subtract.reduce(np.arange(10**6) / 7))
"""

AXES = """
import itertools, warnings
import numpy as np
random = np.random.default_rng(0)
def show(x):
    nan = x.dtype.kind == "f" and np.isnan(x)
    print(x.dtype, x.shape, x.strides, np.where(nan, np.array(7, x.dtype), x).tobytes().hex()[:4000], np.sum(nan))
def views(a):
    return a, a.T, np.asfortranarray(a), a[::-1], a[..., ::-1], a[..., 1:-1], a[:, ::2]
for shape in ((1500, 1000), (32, 60_000), (60_000, 32), (70, 80, 300), (8, 3, 7, 9, 1000)):
    for char in "fdlB":
        a = (random.standard_normal(shape) * 100).astype(char)
        if char in "fd":
            a.reshape(-1)[random.integers(0, a.size, 30)] = np.nan
            a.reshape(-1)[random.integers(0, a.size, 3000)] = -0.0
        for v in views(a):
            for axes in ((0,), (v.ndim - 1,), tuple(range(1, v.ndim)), tuple(range(v.ndim - 1)))[:2 if char in "fB" else 4]:
                for ufunc in (np.add, np.maximum):
                    show(ufunc.reduce(v, axis=axes, keepdims=len(axes) == 1))
a = random.random((1500, 1000))
show(a.mean(axis=1)); show(a.std(axis=0)); show(a.min(0)); show(np.add.reduce(a))
out = np.ones((1000, 2))[:, 0]; assert np.add.reduce(a, axis=0, out=out) is out; show(out)
show(a.sum(axis=1, where=a > 0.5)); show(a.sum(axis=1, initial=3)); show(a.max(axis=1, initial=0.999)); show(a.sum(axis=1, dtype="f4"))
class Sub(np.ndarray): pass
print(type(a.view(Sub).sum(axis=1)).__name__); show(a.view(Sub).sum(axis=1))
a[3, 5:] = 1e308; a[4, 7], a[5, 7], a[5, 9] = np.inf, np.inf, -np.inf
for mode in ("warn", "raise", "ignore", "call"):
    for axis in (0, 1):
        with warnings.catch_warnings(record=True) as told, np.errstate(all=mode, call=lambda *what: print("call", what)):
            warnings.simplefilter("always")
            try:
                show(a.sum(axis=axis)[:8])
            except FloatingPointError as error:
                print(repr(error))
        print(mode, axis, [(str(w.message), w.lineno, w.category.__name__) for w in told])
for wrong in (2, (0, 0), "x", 1.5):
    try:
        a.sum(axis=wrong)
    except Exception as error:
        print(repr(error))
"""

WHERE = """
import numpy as np
np.seterr(all="ignore")
random = np.random.default_rng(0)
def show(x): print(x.dtype, x.shape, x.strides, x.flags.writeable, x.tobytes()[::997].hex()[:3000])
a, b = random.standard_normal((2, 20, 60, 200))
a[3, :50], b[4, :50], a[5, :7] = np.nan, -np.nan, -0.0
c = a > 0.1
for char in "dfBDS":
    x, y = (v.view("V8") if char == "V" else v.astype("S5" if char == "S" else char) for v in (a, b))
    show(np.where(c, x, y))
    show(np.where(c[1:, ::2, 5:], x[1:, ::2, 5:], y[:-1, 1::2, :-5]))
    show(np.where(c[::-1, :, ::-1], x, y[::-1]))
    show(np.where(c.T, x.T, y.T)); show(np.where(c.swapaxes(0, 1), x.swapaxes(0, 1), y.swapaxes(0, 1)))
    show(np.where(c[:1], x, y[:, :1])); show(np.where(c, np.asfortranarray(x), y))
show(np.where(c, 0, a)); show(np.where(c, a, 2.5)); show(np.where(c, np.float32(2), 7)); show(np.where(c.view("u1") * np.uint8(3), a, b))
show(np.where((c.view("u1") * np.uint8(2)).view(bool), a, b)); show(np.where(c, a.astype("f"), b)); show(np.where(True, a, b))
show(np.where(c.reshape(-1), a.reshape(-1), 1)); print([len(i) for i in np.where(c)])
class Sub(np.ndarray): pass
x = np.where(c, a.view(Sub), b); print(type(x).__name__); show(x)
for wrong in ((c, a), (c, a, b[:3]), (c, "x", None), ()):
    try:
        print(np.where(*wrong).dtype)
    except Exception as error:
        print(repr(error))
"""

AXES_IN_THREADS = """
import threading
import numpy as np
a = np.random.default_rng(0).random((1500, 1000))
want = a.sum(axis=0), a.sum(axis=1), a.max(axis=1), np.add(a[0], a[1])
wrong = []
def work():
    for _ in range(50):
        got = a.sum(axis=0), a.sum(axis=1), a.max(axis=1), np.add(a[0], a[1])
        wrong.extend(not np.array_equal(x, y) for x, y in zip(want, got))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(wrong), sum(wrong))
"""

THREADS = """
import threading
import numpy as np
a = np.random.default_rng(0).random((1000, 1000))
want = np.exp(a), a[:, 1:] - a[:, :-1]
wrong = []
def work():
    for _ in range(20):
        if not (np.array_equal(np.exp(a), want[0]) and np.array_equal(a[:, 1:] - a[:, :-1], want[1])):
            wrong.append(1)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(wrong))
"""

FORK = """
import multiprocessing, os, warnings
import numpy as np
warnings.filterwarnings('ignore', 'This process', DeprecationWarning)  # a fork beside threads, from 3.12 on
a = np.random.default_rng(0).random((1000, 1000))
want = np.exp(a)
def work(k):
    ok = all(np.array_equal(np.exp(a), want) for _ in range(3))
    return ok, len(os.listdir("/proc/self/task"))
pid = os.fork()
if pid == 0:
    before = len(os.listdir("/proc/self/task"))
    os._exit(0 if before == 1 and work(0)[0] else 1)
print(os.waitpid(pid, 0)[1])
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(ok for ok, tasks in pool.map(work, range(4))))
"""

SIMPLE = """
import os, sys
if "one" in sys.argv:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
a = np.random.default_rng(0).random(2 * 10**6)
print(np.exp(a).sum(), (a.reshape(1000, -1)[:, 1:] + 1).sum())
"""


PLANES = """
import hashlib
import numpy as np
a = np.random.default_rng(0).random((7, 9, 41, 300))
b = np.random.default_rng(1).random((8, 10, 42, 301))
def show(x): print(x.shape, hashlib.sha256(x.tobytes()).hexdigest()[:16])
show(a[:, :, 1:, 2:] + b[1:, 1:, 2:, 3:])
show(a[:, ::2, :, :-1] * b[1:, ::2, 1:, 2:])
show(a[:, :, ::-1, :-1] - b[1:, 1:, 1:, 2:])
show(a[3, :, :, 1:] + b[3, 1:, 1:, 2:])
show(a[..., 1:] * a[..., :1])
show(np.transpose(a, (1, 0, 2, 3))[..., 1:] > np.transpose(b, (1, 0, 2, 3))[1:, 1:, 1:, 2:])
"""

SHORT = """
import numpy as np
a, b = np.ones((234, 257), "f4"), np.ones((234, 258), "f4")
x, y = a[:, 1:], b[:, 2:]
for _ in range(600):
    z = x + y
print(z.sum())
"""

CROWDED = """
import os
import numpy as np
a = np.random.default_rng(0).random(300_000)
b = np.sqrt(a)
for _ in range(20):
    np.sqrt(a, b)
for thread in os.listdir("/proc/self/task"):
    os.sched_setaffinity(int(thread), {min(os.sched_getaffinity(0))})
for _ in range(3000):
    np.sqrt(a, b)
"""

# Rows of so many elements, which do not lie one after the other.
ROWS_OF = """
import sys
import numpy as np
width = int(sys.argv[2])
a = np.random.default_rng(0).random((4_000_000 // width, 2 * width))[:, :width]
for _ in range(4):
    x = np.maximum.reduce(a, axis=1) if sys.argv[1] == "reduce" else a + 1.0
print(x[-1])
"""

SPIN = """
import os, subprocess, sys, time
import numpy as np
a = np.ones((600, 600))
def spun():
    a @ a
    time.sleep(0.002)
    begin = time.process_time()
    time.sleep(0.015)
    return time.process_time() - begin
spun()
print(min(spun() for _ in range(5)))
print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
print(subprocess.run(["env"], capture_output=True, text=True).stdout.count("OPENBLAS_THREAD_TIMEOUT"))
"""


class TestLoops(ParallelCase):
    def parallel(self, result):
        return shim_runner.counter(result.report, "parallel_loops")

    def test_every_loop(self):
        self.compare(LOOPS, args=["contiguous"], least=200)

    def test_rows(self):
        self.compare(LOOPS, args=["rows", "steps", "column"], least=200)

    def test_orders(self):
        self.compare(LOOPS, args=["columns", "transposed", "backwards"], least=200)

    def test_lines(self):
        self.compare(LOOPS, args=["strided", "reversed", "row", "long"], least=300)

    def test_errors(self):
        self.compare(ERRORS, least=60)

    def test_calls(self):
        result = self.compare(CALLS, least=10)
        self.assertGreater(sum(row["parallel_calls"] for row in result.report["operations"]), 10)
        self.assertEqual(shim_runner.device_calls(result.report), 0)

    def test_planes(self):
        """Rows of three and four dimensions, which do not lie one after the other."""
        self.compare(PLANES, least=6)

    def test_short_loops(self):
        """Each is too short for waking a thread; together they are a series, in which each counts once."""
        self.compare(SHORT, least=5)

    def test_short_rows(self):
        """Calls of NumPy's loop compute several at once. Of reductions of few elements NumPy's own call is as fast."""
        for what, width, is_shared in (("add", 3, True), ("add", 31, True), ("add", 32, True), ("reduce", 255, False),
                                       ("reduce", 256, GROWS)):
            result = shim_runner.run(ROWS_OF, env=CORES, args=[what, str(width)])
            self.assertEqual(result.stdout, shim_runner.run_plain(ROWS_OF, [what, str(width)]).stdout)
            self.assertEqual(self.parallel(result) > 1, is_shared, (what, width))  # the draw is shared

    def test_buffers(self):
        """Operands that NumPy's iterator copies: broadcast rows and columns, rows of few elements, planes of steps."""
        self.compare(LOOPS, args=["points", "weights", "narrow"], least=600)
        self.compare(LOOPS, args=["phases", "grid"], least=350)

    def test_casts(self):
        """Operands of several dtypes, and integers where there is no loop for them."""
        self.compare(LOOPS, args=["casts", "wide"], least=300)
        self.compare(LOOPS, args=["tall", "long_casts"], least=250)

    def test_random_calls(self):
        self.compare(RANDOM_CALLS, args=["1", "300"], least=100)
        self.compare(RANDOM_CALLS, BESIDE, args=["2", "150"], least=50)

    def test_errors_in_buffers(self):
        self.compare(ERRORS.replace("lambda a: a, lambda a: a[:, 1:]", "lambda a: a.reshape(-1, 4)[:, 1:],"), least=20)

    def test_beside_a_device(self):
        self.compare(CALLS, BESIDE, least=10)
        self.compare(ERRORS, dict(BESIDE, GPUSHIM_FPERR="strict"), least=60)

    def test_reductions(self):
        self.compare(REDUCTIONS, least=100 if GROWS else 10)

    def test_axes(self):
        self.compare(AXES, least=200)
        self.compare(AXES_IN_THREADS, least=10)

    def test_where(self):
        self.compare(WHERE, least=20)

    def test_rounding(self):
        self.compare(ROUNDING, least=8)

    def test_threads(self):
        self.compare(THREADS)

    def test_fork(self):
        self.compare(FORK)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one core")
class TestSharingPays(shim_runner.TestCase):
    """Loops are shared where that saves time on this machine."""

    def test_both_ways_are_tried(self):
        """Of a long series of short loops some are left to one core, to see which is quicker."""
        result = shim_runner.run(SERIES, env=dict(CORES, GPUSHIM_HOST_THREADS="0"))
        self.assertEqual(result.stdout, "2.0\n")
        loops = shim_runner.counter(result.report, "parallel_loops")
        self.assertTrue(0 < loops < 5950, loops)

    def test_threads_that_have_one_core(self):
        """Sharing saves nothing there, and rests for most of the time."""
        result = shim_runner.run(CROWDED, env=dict(CORES, GPUSHIM_HOST_THREADS="0"))
        self.assertEqual(result.returncode, 0, result)
        self.assertLess(shim_runner.counter(result.report, "parallel_loops"), 1500)


def mapped_files():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return maps.read()


@unittest.skipUnless("openblas" in mapped_files(), "NumPy's BLAS is not OpenBLAS")
class TestThreadsOfOpenBLAS(shim_runner.TestCase):
    """After a product OpenBLAS's threads leave their cores to loops."""

    def spun(self, **env):
        """Seconds of processors, the variable in Python, and how often a child has it."""
        result = shim_runner.run(SPIN, env=dict(CORES, OPENBLAS_NUM_THREADS="2", **env))
        self.assertEqual(result.returncode, 0, result)
        seconds, variable, child = result.stdout.split()
        return float(seconds), variable, int(child)

    def test_sleeps(self):
        seconds, variable, child = self.spun()
        self.assertLess(seconds, 0.005)
        self.assertEqual((variable, child), ("None", 0))

    def test_environment_wins(self):
        _, variable, child = self.spun(OPENBLAS_THREAD_TIMEOUT="26")
        self.assertEqual((variable, child), ("26", 1))


class TestAlone(shim_runner.TestCase):
    """Where there is one core, or one is asked for."""

    def check(self, env, args=()):
        result = shim_runner.run(SIMPLE, env=dict(CORES, **env), args=args)
        self.assertEqual(result.stdout, shim_runner.run_plain(SIMPLE, args).stdout)
        self.assertEqual(shim_runner.counter(result.report, "parallel_loops"), 0)

    def test_option(self):
        self.check({"GPUSHIM_HOST_THREADS": "1"})

    def test_openmp(self):
        self.check({"GPUSHIM_HOST_THREADS": None, "OMP_NUM_THREADS": "1"})

    def test_affinity(self):
        self.check({"GPUSHIM_HOST_THREADS": None}, ["one"])

    def test_force(self):
        self.check({"GPUSHIM_MODE": "force"})

    def test_no_device(self):
        result = shim_runner.run(SIMPLE, env=dict(CORES, GPUSHIM_DEVICE="none"))
        self.assertEqual(result.stdout, shim_runner.run_plain(SIMPLE).stdout)


if __name__ == "__main__":
    unittest.main()
