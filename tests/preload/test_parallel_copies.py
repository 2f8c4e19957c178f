# SPDX-License-Identifier: Apache-2.0
"""Copies between arrays of one dtype that several cores make: results, layouts, where they are left alone, threads, forks."""
import unittest

import numpy as np

import shim_runner
from parallel_case import BESIDE, CORES, ParallelCase

ASSIGNING = ["assign", "copyto"]
MAKING = ["copy", "flatten", "ravel", "reshape", "astype", "array", "ascontiguousarray", "asfortranarray"]

START = """
import zlib
import numpy as np
random = np.random.default_rng(0)
def make(dtype, *shape):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if dtype == "?":
        return random.integers(0, 2, count).astype("?").reshape(shape)
    return random.integers(0, 256, count, dtype="u1").view(dtype).reshape(shape)  # NaNs of any bits, too
def show(x):
    print(type(x).__name__, x.dtype, x.shape, x.strides, x.flags.c_contiguous, x.flags.f_contiguous, x.flags.owndata,
          x.flags.writeable, x.base is None, zlib.crc32(np.ascontiguousarray(x).tobytes()))
"""

ASSIGNMENTS = START + """
import sys
for dtype in sys.argv[1]:
    n = int((9e6 / 4 / np.dtype(dtype).itemsize) ** 0.5) // 2 * 2
    a, b = make(dtype, n, n, 4), make(dtype, n, n, 4)
    plane = make(dtype, n, n)
    a[:, :, 1] = plane; show(a)                                # to strided
    plane[...] = b[:, :, 2]; show(plane)                       # from strided
    a[1:] = b[:-1]; show(a)
    a[:, 1:] = b[:, :-1]; show(a)
    a[::-1] = b; show(a)
    a[::2, ::-3] = b[1::2, ::3]; show(a)
    a[:] = b.transpose(1, 0, 2); show(a)
    a.transpose(2, 1, 0)[...] = b.transpose(2, 0, 1); show(a)
    a[:] = plane[:, :, None]; show(a)                          # zero strides in the source
    a[...] = b[0]; show(a)
    a[:] = b[5, 5]; show(a)
    a[..., np.newaxis] = b[..., None]; show(a)
    np.copyto(a, b[::-1, ::-1]); show(a)
    flat, other = a.reshape(-1), b.reshape(-1)
    flat[1:] = other[:-1]; show(flat)
    flat[::2] = other[1::2]; show(flat)
    flat[7:-7] = other[14:]; show(flat)
    masked = np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) % 7 == 0); masked[:] = b[::-1]; show(masked.data); show(masked.mask)
"""

FRESH = START + """
import sys
for dtype in sys.argv[1]:
    n = int((9e6 / 4 / np.dtype(dtype).itemsize) ** 0.5) // 2 * 2
    a = make(dtype, n, n + 1, 4)
    plane = make(dtype, 2 * n, 2 * n - 1)
    for v in (a[:, :, 1], a[1:, ::-1], a.transpose(1, 0, 2), a.transpose(2, 1, 0)[::2], plane.T, plane[::-1, 3:], a[:, 0:1]):
        for order in "CFAK":
            show(v.copy(order)); show(v.flatten("C" if order == "K" else order))
            show(np.array(v, order=order))
        show(v.copy()); show(v.reshape(-1)); show(v.ravel()); show(v.ravel("F")); show(v.astype(dtype)); show(np.roll(v, 1, axis=0))
        show(np.roll(v, -3, axis=1)); show(np.ascontiguousarray(v)); show(np.asfortranarray(v)); show(np.copy(v))
        show(v.reshape(v.size // 4, 4)) if v.size % 4 == 0 else None
    show(plane.T.reshape(-1)); show(np.broadcast_to(plane[0], plane.shape).copy())
"""

# Left to NumPy: with its results, warnings and exceptions.
ALONE = START + """
import mmap, tempfile, warnings
np.seterr(all="ignore")  # of casts
a, b = make("d", 1200, 1500), make("d", 1200, 1500)
np.nan_to_num(a, copy=False), np.nan_to_num(b, copy=False)
def attempt(function):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            function()
        except Exception as error:
            print(repr(error))
    print([str(w.message) for w in told])
def assign(x, key, y): x[key] = y
full = slice(None)
small = a.astype("f2")
assign(small, full, b.T.reshape(b.shape)[::1].astype("i8")); show(small)      # a cast whose errors no instruction tells
attempt(lambda: assign(small, full, b.astype("D").T.reshape(b.shape)))          # a warning
swapped = a.astype(">f8"); swapped[:] = b[::-1]; show(swapped)
strings = np.zeros((1200, 1500), "S8"); strings[:] = strings[::-1].copy()[::-1]; show(strings)
things = np.zeros((300, 300), object); things[:] = b[:300, :300].astype(object).T; print(things.sum())
records = np.zeros((300, 300), "i4,f8"); records[:] = records.T.copy(); show(records)
attempt(lambda: assign(a, full, b.T)); attempt(lambda: assign(a, (full, slice(1, None)), b)); attempt(lambda: assign(a, 5, b))
readonly = a[:, ::2]; readonly.flags.writeable = False
attempt(lambda: assign(readonly, full, b[:, ::2]))
c = make("d", 1200, 1500); c[:, 1:] = c[:, :-1]; show(c)                        # overlaps
c[1:] = c[:-1]; show(c)
c[::-1] = c; show(c)
c.T[:1200, :1200] = c[:1200, :1200]; show(c)
c[...] = c; show(c)
line = c.reshape(-1); line[1::2] = line[:-1:2]; show(line)
class Sub(np.ndarray):
    def __setitem__(self, key, value): print("set"); super().__setitem__(key, value)
sub = a.view(Sub); sub[:, ::2] = b[:, 1::2]; show(sub); show(sub[:, ::2].copy())
a[:, ::2] = b[:, 1::2].view(Sub); show(a)
a[np.arange(1200)] = b[::-1]; show(a); a[a > 0.5] = 0; show(a); a[:] = 3.5; show(a); a[:] = np.array(2.5); show(a)
a[:, :0] = b[:, :0]; np.array(2.0)[...] = np.array(3.0)
with tempfile.TemporaryFile() as file:
    file.truncate(1200 * 1500 * 8)
    memory = np.memmap(file, dtype="d", shape=(1200, 1500))
    memory[:, ::2] = b[:, ::2]; a[:, ::2] = memory[:, ::2]; a[:, 1::2] = np.asarray(memory)[:, ::2]; show(a)
    a[:, ::2] = np.frombuffer(mmap.mmap(file.fileno(), 0)).reshape(1200, 1500)[:, 1::2]; show(a)
"""

THREADS = """
import threading
import numpy as np
a = np.random.default_rng(0).random((900, 1000, 3))
want = a[:, :, 1].copy("F").T.tolist()
wrong = []
def work():
    mine = np.zeros((1000, 900))
    for _ in range(20):
        mine[:] = a[:, :, 1].T
        if mine.tolist()[::97] != want[::97] or np.transpose(a, (2, 1, 0)).reshape(-1)[0] != a[0, 0, 0]:
            wrong.append(1)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(wrong))
"""

FORK = """
import multiprocessing, os, warnings
import numpy as np
warnings.simplefilter("ignore", DeprecationWarning)  # CPython from 3.12 on: the process has threads
a = np.random.default_rng(0).random((1000, 1000))
want = a.T.copy()
def work(k):
    b = np.zeros((1000, 1000)); b[:] = a.T
    return np.array_equal(b, want)
print(work(0))
pid = os.fork()
if pid == 0:
    os._exit(0 if work(0) else 1)
print(os.waitpid(pid, 0)[1])
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(pool.map(work, range(4))))
"""

SIMPLE = """
import numpy as np
a = np.random.default_rng(0).random((1500, 1500))
b = np.zeros((1500, 1500)); b[:] = a.T
print(b.sum(), a.T.reshape(-1)[:9])
"""

# Rows that lie a little behind others within a page. memcpy is slow at them, so one thread copies them otherwise.
BEHIND = """
import numpy as np
a = np.random.default_rng(0).random((400, 500))
b = np.zeros((400, 500))
b[:, 1:] = a[:, :-1]
print(b.sum())
"""


class TestCopies(ParallelCase):
    def calls(self, result, names, which="parallel_calls"):
        return sum(row[which] for row in result.report["operations"] if row["name"] in names)

    def parallel(self, result):
        return self.calls(result, ASSIGNING + MAKING)

    def test_assignments(self):
        self.compare(ASSIGNMENTS, args=["?HfdD"], least=60)

    def test_fresh(self):
        result = self.compare(FRESH, args=["?efD"], least=200)
        for name in MAKING:
            self.assertGreater(self.calls(result, [name]), 3, name)

    def test_beside_a_device(self):
        self.compare(ASSIGNMENTS, BESIDE, ["Hd"], least=24)
        self.compare(FRESH, BESIDE, ["fD"], least=100)

    def test_alone(self):
        plain = shim_runner.run_plain(ALONE)
        self.assertEqual(plain.returncode, 0, plain)
        for env in (CORES, BESIDE):
            result = shim_runner.run(ALONE, env=env)
            self.assertEqual(result.stdout, plain.stdout)
            self.assertEqual(result.stderr, plain.stderr)
            self.assertEqual(self.calls(result, ASSIGNING), 0)

    def test_behind(self):
        for env in (CORES, BESIDE):
            result = shim_runner.run(BEHIND, env=env)
            self.assertEqual(result.stdout, shim_runner.run_plain(BEHIND).stdout)
            self.assertEqual(self.calls(result, ["assign"], "host_calls"), 1)
            self.assertEqual(self.calls(result, ASSIGNING), 0)

    def test_threads(self):
        self.compare(THREADS)

    def test_fork(self):
        self.compare(FORK)


class TestOff(shim_runner.TestCase):
    def check(self, env):
        result = shim_runner.run(SIMPLE, env=dict(CORES, **env))
        self.assertEqual(result.stdout, shim_runner.run_plain(SIMPLE).stdout)
        self.assertEqual(shim_runner.counter(result.report, "parallel_loops"), 0)

    def test_one_thread(self):
        self.check({"GPUSHIM_HOST_THREADS": "1"})

    def test_force(self):
        self.check({"GPUSHIM_MODE": "force"})


if __name__ == "__main__":
    unittest.main()
