# SPDX-License-Identifier: Apache-2.0
"""Random programs: views of views, in-place work, casts, assignments, reductions and host accesses in any order over a few
arrays; every value must be NumPy's, bit for bit. The operations are those whose results NumPy defines exactly.
SHIM_STRESS_PROGRAMS is their number (default 120, where kernels are compiled 12), and SHIM_STRESS_SEED the first seed;
a failure names the program's seed and step.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload"))
import shim_runner  # noqa: E402

SCRIPT = '''
import io, os, pickle, random, sys, warnings, zlib
import numpy as np
from shim_script import dump
warnings.simplefilter("ignore")
np.seterr(all="ignore")
DTYPES = ("?", "i4", "i8", "f4", "f8")
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.equal, np.not_equal,
          np.less, np.less_equal, np.greater, np.greater_equal)
UNARY = (np.negative, np.absolute, np.sqrt)

def checksum(a):
    """Of the values in C order; which NaN a NaN is differs between NumPy's own versions."""
    a = np.array(a)
    if a.dtype.kind == "f": a[np.isnan(a)] = np.nan
    return zlib.crc32(a.tobytes())

class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pool = [self.create() for _ in range(4)]
        self.trail = []

    def create(self):
        r = self.random
        shape = r.choice(((7,), (600,), (40, 30), (3, 50, 8), (300, 300), (2000, 3), (1, 90000), (262144,), (5, 1, 4)))
        dtype = r.choice(DTYPES)
        kind = r.randrange(5)
        size = int(np.prod(shape))
        if kind == 0: return np.arange(size).astype(dtype).reshape(shape)
        if kind == 1: return np.full(shape, r.choice((0, 1, 2)), dtype)
        if kind == 2: return (np.arange(size, dtype="f8") * 0.37 - 5.0).astype(dtype).reshape(shape)
        if kind == 3: return np.asfortranarray((np.arange(size) % 11 - 4).astype(dtype).reshape(shape))
        return np.zeros(shape, dtype)

    def view(self, a):
        r = self.random
        for _ in range(r.randrange(3)):
            kind = r.randrange(6)
            if kind == 0: a = a.T
            elif kind == 1 and a.ndim: a = a[::r.choice((-1, 1, 2, 3))]
            elif kind == 2 and a.ndim and a.shape[0] > 2:
                n = a.shape[0]
                a = a[r.randrange(n // 2):n - r.randrange(n // 3 + 1)]
            elif kind == 3 and a.ndim > 1: a = a[..., r.randrange(a.shape[-1])]
            elif kind == 4 and a.ndim < 4: a = a[None]
            elif kind == 5 and a.ndim > 1: a = a.swapaxes(0, -1)
        return a

    def operand(self):
        r = self.random
        if r.random() < 0.25:
            return r.choice((0, 1, 3, -2, 0.5, -1.25, True, np.float32(1.5), np.int64(4),
                             np.float64(0.1), np.int32(-7)))
        return self.view(r.choice(self.pool))

    def like(self, shape):
        """An operand that broadcasts with a shape, most of the time."""
        for _ in range(6):
            b = self.operand()
            try:
                if np.prod(np.broadcast_shapes(np.shape(b), shape)) <= 300000: return b
            except ValueError: pass
        return self.random.choice((2, 0.5))

    def step(self):
        r = self.random
        a = self.view(r.choice(self.pool))
        kind = r.randrange(16)
        keep = None
        if kind <= 3: keep = r.choice(BINARY)(a, self.like(a.shape))
        elif kind == 4: keep = r.choice(UNARY)(a)
        elif kind == 5: r.choice(BINARY[:6])(a, self.like(a.shape), out=a, casting="unsafe")
        elif kind == 6: keep = a.astype(r.choice(DTYPES), order=r.choice("CFKA"))
        elif kind == 7: keep = a.copy(r.choice("CFKA"))
        elif kind == 8: a[...] = self.like(a.shape)
        elif kind == 9 and a.ndim and a.shape[0] > 2:
            lo = r.randrange(a.shape[0] - 1); a[lo:lo + 1 + r.randrange(5)] = self.like(a.shape[1:])
        elif kind == 10: a.fill(r.choice((0, 1, 2.5)))
        elif kind == 11:
            axis = r.choice([None] + list(range(-a.ndim, a.ndim)))
            b = a if a.dtype.kind in "bi" else a.astype("i8")
            result = r.choice((np.sum, np.max, np.min, np.any, np.all))(b, axis=axis, keepdims=r.random() < 0.3)
            if isinstance(result, np.ndarray) and result.ndim: keep = result
            else: self.trail.append(repr(result))
        elif kind == 12 and a.ndim: self.host(a)
        elif kind == 13: self.output(a)
        elif kind == 14: self.pool[r.randrange(4)] = self.create()
        elif kind == 15 and a.ndim == 2 and a.size < 2000 and a.dtype.kind == "f":
            keep = np.rint(a.clip(-8, 8).astype("f8")) @ np.ones((a.shape[1], 3))
        if keep is not None and keep.size <= 300000: self.pool[r.randrange(4)] = keep

    def host(self, a):
        """Element reads and writes as a Python loop makes them."""
        r = self.random
        if a.size == 0: return
        index = tuple(r.randrange(n) for n in a.shape)
        kind = r.randrange(4)
        if kind == 0: self.trail.append(repr(a[index].item()))
        elif kind == 1: a[index] = r.choice((0, 1, 5))
        elif kind == 2: a[index] += a.dtype.type(1)
        else: self.trail.append(checksum(a[:2]))

    def output(self, a):
        kind = self.random.randrange(4)
        if kind == 0: self.trail.append(checksum(np.frombuffer(a.tobytes(), a.dtype)))
        elif kind == 1: self.trail.append(checksum(pickle.loads(pickle.dumps(a, protocol=4))))
        elif kind == 2:
            stream = io.BytesIO(); np.save(stream, a); stream.seek(0)
            self.trail.append(checksum(np.load(stream)))
        else:
            fd = os.memfd_create("x"); piece = np.ascontiguousarray(a).reshape(-1)[:30000]
            os.write(fd, piece)
            self.trail.append(checksum(np.frombuffer(os.pread(fd, piece.nbytes, 0), a.dtype)))
            os.close(fd)

first, programs = int(sys.argv[1]), int(sys.argv[2])
for seed in range(first, first + programs):
    program = Program(seed)
    for step in range(60):
        try:
            program.step()
        except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
            program.trail.append("%s: %s" % (type(error).__name__, error))
        if step % 10 == 9:
            dump("seed %d step %d" % (seed, step), [program.trail] + [
                (x.dtype.str, x.shape, [s for s, n in zip(x.strides, x.shape) if n > 1],
                 checksum(x)) for x in program.pool])
'''


class TestRandomPrograms(shim_runner.TestCase):
    def test_random_programs(self):
        first = os.environ.get("SHIM_STRESS_SEED") or "1"
        programs = os.environ.get("SHIM_STRESS_PROGRAMS") or ("120" if shim_runner.DEVICE == "host" else "12")
        self.assert_same(SCRIPT, args=[first, programs], same_stderr=True, timeout=600)

    def test_other_options(self):
        """Evictions, every array in the arena, pages filled another way, and small calls declined
        so that both sides take turns."""
        for env in ({"GPUSHIM_MEM_LIMIT": "3M"},
                    {"GPUSHIM_FILL": "procmem", "GPUSHIM_ARENA_MIN": "4096"},
                    {"GPUSHIM_FILL": "swap", "GPUSHIM_POOL_LIMIT": "1"},
                    {"GPUSHIM_MIN_ELEMENTS": "2000", "GPUSHIM_MIN_REDUCE": "2000",
                     "GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"}):
            with self.subTest(env):
                self.assert_same(SCRIPT, args=["1000", "40" if shim_runner.DEVICE == "host" else "4"], same_stderr=True, timeout=600,
                                 env=env, device=env.get("GPUSHIM_MODE") is None)


if __name__ == "__main__":
    unittest.main()
