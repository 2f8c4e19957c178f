# SPDX-License-Identifier: Apache-2.0
"""kernels/cuda/lapack.cuh, run on the CPU, against NumPy: what is done round the libraries' routines of linear algebra.

Usage: python lapack_kernels_vs_numpy.py   (needs a C++ compiler as $CXX or c++)
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import scan_emulation

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"f4": ("float", 0), "f8": ("double", 0), "c8": ("float", 1), "c16": ("double", 1)}
SHAPES = ((1, 1, 1), (1, 5, 5), (3, 4, 4), (2, 3, 5), (2, 5, 3), (1, 40, 40), (2, 70, 33), (1, 33, 70))
FIELDS = "a b c flag batch rows columns extra step".split()
RUN = """
static void call_{name}(const void *arguments) {{ {name}(*(const Args *)arguments); }}
extern "C" __attribute__((visibility("default"))) void run_{name}(const void *arguments, unsigned blocks, unsigned threads) {{ run_grid(call_{name}, arguments, blocks, threads); }}
"""
PLACES = """
extern "C" __attribute__((visibility("default"))) int places_differ(i64 at, i64 rows, i64 size)
{
    const Place x = place_of<u32>((u32)at, (u32)rows, (u32)size), y = place_of<i64>(at, rows, size);
    return x.matrix != y.matrix || x.row != y.row || x.column != y.column;
}
"""


class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in FIELDS[:4]] + [(name, ctypes.c_int64) for name in FIELDS[4:]] + [
        ("bound", ctypes.c_double), ("matrix_steps", ctypes.c_int64 * 2)]


def kernels():
    """{name: threads of the block that each matrix or tile has, or 0}"""
    text = (ROOT / "offload" / "cuda" / "linalg" / "cuda_lapack_kernels.h").read_text()
    return {name: int(block) for name, block in re.findall(r"^ +X\((\w+), (\d+)\)", text, re.M)}


def compile_library(folder, dtype):
    real, is_complex = TYPES[dtype]
    text = (ROOT / "kernels" / "cuda" / "lapack.cuh").read_text()
    text = text[:text.index('extern "C" __global__')] + "".join(RUN.format(name=name) for name in kernels()) + PLACES
    source, library = folder / (dtype + ".cpp"), folder / (dtype + ".so")
    source.write_text(scan_emulation.CUDA + "typedef %s R;\n#define COMPLEX %d\n" % (real, is_complex) + text)
    flags = "-std=c++17 -O1 -ffp-contract=off -mf16c -fPIC -shared -fvisibility=hidden".split()
    subprocess.run([*os.environ.get("CXX", "c++").split(), *flags, "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


class Checker:
    def __init__(self, library, dtype):
        self.library, self.dtype, self.threads = library, np.dtype(dtype), kernels()
        self.real = self.dtype.type(0).real.dtype
        self.random = np.random.default_rng(5)
        self.checks, self.failed, self.used = 0, [], set()

    def check(self, what, holds):
        self.checks += 1
        if not holds:
            self.failed.append("%s %s" % (self.dtype, what))

    def run(self, name, threads=0, **values):
        """The flag. Arrays among the values are passed by their addresses."""
        flag = np.zeros(1, "i4")
        arguments = Arguments(flag=flag.ctypes.data)
        for key, value in values.items():
            setattr(arguments, key, value.ctypes.data if isinstance(value, np.ndarray) else value)
        block = self.threads[name] or 128
        grid = values["batch"] if self.threads[name] else -(-threads // block)
        getattr(self.library, "run_" + name)(ctypes.byref(arguments), grid, block)
        self.used.add(name)
        return bool(flag[0])

    def numbers(self, *shape):
        a = self.random.standard_normal(shape)
        return (a + 1j * self.random.standard_normal(shape) if self.dtype.kind == "c" else a).astype(self.dtype)

    def matrices(self, batch, rows, columns):
        """Packed column by column, and a view of them as (batch, rows, columns)."""
        a = self.numbers(batch, columns, rows)
        return a, a.swapaxes(1, 2)

    # --- matrices ---

    def moves(self, batch, m, n):
        common = dict(batch=batch, rows=m, columns=n)
        threads = batch * m * n
        a, view = self.matrices(batch, m, n)
        c, seen = self.matrices(batch, m, n)
        for upper in (0, 1):
            x = a.copy()
            self.run("clear_triangle", threads, a=x, extra=upper, **common)
            self.check("clear_triangle", (x.swapaxes(1, 2) == (np.tril if upper else np.triu)(view)).all())
            for step, bound in ((0, 0.0), (1, 0.0), (0, 1.0)):
                y = c.copy()
                self.run("copy_triangle", threads, a=a, c=y, extra=upper, step=step, bound=bound, **common)
                i, j = np.indices((m, n))
                taken = view.real.astype(self.dtype) if bound else view
                want = np.where((j - i if upper else i - j) >= step, np.where(i == j, taken, view), seen)
                self.check("copy_triangle %d %d %g" % (upper, step, bound), (y.swapaxes(1, 2) == want).all())
        x = a.copy()
        self.run("make_identity", threads, a=x, **common)
        self.check("make_identity", (x.swapaxes(1, 2) == np.eye(m, n)).all())
        x = a.copy()
        larger, inside = self.matrices(batch, m + 2, n + 1)
        self.run("copy_block", threads, a=larger, c=c, extra=m + 2, step=(m + 2) * (n + 1), **common)
        self.check("copy_block", (seen == inside[:, :m, :n]).all())
        factors = self.random.standard_normal((batch, n)).astype(self.real)
        self.run("scale_columns", threads, a=a, b=factors, c=c, **common)
        self.check("scale_columns", np.allclose(seen, view * factors[:, None, :], rtol=1e-6))
        falling = -np.sort(-abs(self.random.standard_normal((batch, m)))).astype(self.real)
        x = a.copy()
        self.run("divide_rows", threads, a=x, b=falling, bound=0.5, **common)
        large = (falling > 0.5 * falling[:, :1])[:, :, None]
        self.check("divide_rows", np.allclose(x.swapaxes(1, 2), np.where(large, view / falling[:, :, None], 0), rtol=1e-5))
        tiles = -(-m // 32) * -(-n // 32)
        for name, want in (("turn", view), ("turn_conjugate", view.conj())):
            y = np.zeros((batch, m, n), self.dtype)
            self.run(name, a=a, c=y, batch=batch * tiles, rows=m, columns=n, extra=m, step=n,
                     matrix_steps=(ctypes.c_int64 * 2)(m * n, m * n))
            self.check(name, (y == want).all())
        for at in (0, threads - 1, 2 ** 32 - 1 - m * n):
            self.check("places", not self.library.places_differ(ctypes.c_int64(at), ctypes.c_int64(m), ctypes.c_int64(m * n)))

    def looks(self, batch, n):
        a, view = self.matrices(batch, n, n)
        numbers = a.view(self.real).size
        self.check("all are finite", not self.run("look_for_infinite", numbers, a=a, rows=numbers))
        a[-1, -1, -1] = np.inf
        self.check("one is not", self.run("look_for_infinite", numbers, a=a, rows=numbers))
        info = np.zeros(batch, "i4")
        self.check("all are zero", not self.run("look_for_nonzero", batch, a=info, rows=batch))
        info[-1] = -3
        self.check("one is not zero", self.run("look_for_nonzero", batch, a=info, rows=batch))
        pointers = np.zeros(batch, "u8")
        self.run("make_pointers", batch, a=pointers, b=1000, rows=batch, columns=24)
        self.check("make_pointers", (pointers == 1000 + 24 * np.arange(batch)).all())
        view[:] = np.eye(n) * np.arange(1, n + 1)
        diagonal = dict(a=a, batch=batch, rows=n, extra=n, step=n * n)
        self.check("judge_diagonal", not self.run("judge_diagonal", bound=0.5 / n, **diagonal))
        self.check("judge_diagonal small", n == 1 or self.run("judge_diagonal", bound=1.5 / n, **diagonal))
        self.check("judge_diagonal real", not self.run("judge_diagonal", bound=0.5 / n, columns=1, **diagonal))
        if self.dtype.kind == "c":
            view[-1, n - 1, n - 1] += 1e-3j
            self.check("judge_diagonal complex", not self.run("judge_diagonal", bound=0.5 / n, **diagonal))
            self.check("judge_diagonal not real", self.run("judge_diagonal", bound=0.5 / n, columns=1, **diagonal))
        view[-1, n // 2, n // 2] = np.nan
        self.check("judge_diagonal nan", self.run("judge_diagonal", bound=0.5 / n, **diagonal))

    # --- pivots ---

    def pivots(self, batch, n):
        given = self.random.integers(1, n + 1, (batch, n)).astype("i4")
        for size, other in (("i4", "i8"), ("i8", "i4")):
            wide = np.zeros((batch, n), other)
            source = given.astype(size)
            flag = self.run("convert_pivots", batch * n, a=source, c=wide, rows=batch * n, columns=source.itemsize,
                            extra=wide.itemsize, step=n)
            self.check("convert_pivots", not flag and (wide == given).all())
        signed = given * np.where(self.random.random((batch, n)) < 0.5, -1, 1).astype("i4")
        wide = np.zeros((batch, n), "i8")
        flag = self.run("widen_pivots", batch * n, a=signed, c=wide, rows=batch * n, step=n)
        self.check("widen_pivots", not flag and (wide == signed).all())
        for bad in (0, n + 1):
            signed[-1, -1] = bad
            self.check("no pivot", self.run("widen_pivots", batch * n, a=signed, c=wide, rows=batch * n, step=n))
        signed[-1, -1] = -1
        source = signed[-1:].copy()
        self.check("no pivot", self.run("convert_pivots", n, a=source, c=wide, rows=n, columns=4, extra=8, step=n))

    def orders(self, batch, m, n):
        """Rows exchanged one by one as LAPACK's laswp does, and back."""
        pivots = self.random.integers(1, m + 1, (batch, m))
        pivots[0, 0], pivots[-1, -1] = 0, m + 1  # which are none
        a, view = self.matrices(batch, m, n)
        want, order = view.copy(), np.full((batch, m), -1)
        for of, exchanges in enumerate(pivots):
            for k, other in enumerate(exchanges - 1):
                if 0 <= other < m:
                    want[of, [k, other]] = want[of, [other, k]]
        self.run("trace_rows", batch * m, b=pivots, c=order, batch=batch, rows=m)
        c, seen = self.matrices(batch, m, n)
        common = dict(b=order, batch=batch, rows=m, columns=n)
        self.run("order_rows", batch * m * n, a=a, c=c, **common)
        self.check("order_rows", (seen == want).all())
        square, seen = self.matrices(batch, m, m)
        self.run("make_permutation", batch * m * m, b=order, c=square, batch=batch, rows=m, columns=m)
        self.check("make_permutation", (seen == np.eye(m)[order]).all())
        back, seen = self.matrices(batch, m, n)
        self.run("order_rows", batch * m * n, a=c, c=back, extra=1, **common)
        self.check("order_rows back", (seen == view).all())

    def blocks(self, batch, n):
        """A block of two rows is as large as what is beside its diagonal."""
        for upper in (0, 1):
            a, view = self.matrices(batch, n, n)
            signs = np.ones((batch, n), "i4")
            view[:] = np.eye(n)
            common = dict(a=a, b=signs, batch=batch, rows=n, extra=upper)
            self.check("judge_blocks good", not self.run("judge_blocks", bound=0.1, **common))
            if n > 2:
                signs[:, 1:3] = -1
                view[:, 1, 1] = view[:, 2, 2] = 0
                self.check("judge_blocks no block", self.run("judge_blocks", bound=0, **common))
                view[(slice(None), 1, 2) if upper else (slice(None), 2, 1)] = 1
                self.check("judge_blocks block", not self.run("judge_blocks", bound=0.1, **common))
            view[-1, 0, 0] = 0
            self.check("judge_blocks hole", self.run("judge_blocks", bound=0, **common))

    # --- results ---

    def determinants(self, batch, n):
        a, view = self.matrices(batch, n, n)
        pivots = np.tile(np.arange(1, n + 1), (batch, 1)).astype("i4")
        pivots[:, 0] = n  # one exchange, but for n = 1
        want = np.array([(1 if n == 1 else -1) * np.prod(view[k].diagonal().astype("c16")) for k in range(batch)])
        got, logarithm = np.zeros(batch, self.dtype), np.zeros(batch, self.real)
        common = dict(a=a, b=pivots, c=got, batch=batch, rows=n, columns=4)
        self.run("multiply_diagonal", **common)
        self.check("multiply_diagonal", np.allclose(got, want, rtol=1e-4))
        self.run("multiply_diagonal", extra=logarithm.ctypes.data, **common)
        self.check("multiply_diagonal log", np.allclose(got * np.exp(logarithm.astype("f8")), want, rtol=1e-4))

    def distances(self, batch, n):
        a, view = self.matrices(batch, n, n)
        view[:] = np.eye(n) + 0.5 / n
        sums, first = np.zeros(batch, "u8"), np.ones((batch, n), self.real)
        common = dict(a=a, batch=batch * n, rows=n, columns=n)
        for bound, far in ((0.6, False), (0.4, True)):
            sums[:] = 0
            self.check("compare_with_identity", self.run("compare_with_identity", c=sums, bound=bound, **common) == far)
        length = float(np.linalg.norm(view[0]))
        for bound, large in ((1.1, False), (0.9, True)):
            sums[:] = 0
            self.check("compare_with_first", large == self.run("compare_with_first", b=first, c=sums, bound=bound * length, **common))

    def structures(self, batch, n):
        """What is found in the last matrix of a batch is what is left of it."""
        a, view = self.matrices(batch, n, n)
        marks, common = np.zeros(batch, "u4"), dict(batch=batch, rows=n, columns=n)
        whole = view.copy()
        away = np.subtract.outer(np.arange(n), np.arange(n))
        for name, kept, is_whole, is_far in (
                ("all", away == away, n > 1, n > 2), ("lower", away >= 0, False, n > 2), ("upper", away <= 0, False, n > 2),
                ("three", abs(away) < 2, n > 1, False), ("none", away != away, False, False),
                ("below", (away >= -1) & (away <= 2), n > 1, n > 2), ("above", (away <= 1) & (away >= -2), n > 1, n > 2)):
            view[:] = whole
            view[-1] *= kept
            marks[:] = 0
            self.run("mark_structure", batch * n * n, a=a, c=marks, **common)
            for extra in (0, 1):
                want = [n > 1 and (not extra or n > 2)] * (batch - 1) + [is_whole and (not extra or is_far)]
                found = [not self.run("judge_structure", 1, a=marks[of:], rows=1, extra=extra) for of in range(batch)]
                self.check("structure %s" % name, found == want)
                self.check("structures %s" % name, self.run("judge_structure", batch, a=marks, rows=batch, extra=extra) != all(want))

    def mirrors(self, batch, n):
        a, view = self.matrices(batch, n, n)
        c, seen = self.matrices(batch, n, n)
        x, common = c.copy(), dict(batch=batch, rows=n, columns=n)
        for name, other in (("symmetric", lambda m: m.T), ("hermitian", lambda m: m.conj().T)):
            view[:] = self.numbers(batch, n, n)
            view[-1] += other(view[-1].copy())
            for spoil in (False, True):
                if spoil and n > 1:
                    view[-1, 0, n - 1] += 1
                marks = np.zeros(batch, "u4")
                self.run("mark_structure", batch * n * n, a=a, c=marks, **common)
                x[:] = c
                self.run("mirror_triangle", batch * n * n, a=marks, c=x, **common)
                want = seen.copy()
                for of in range(batch):
                    below = np.tril(seen[of], -1)
                    if (view[of] == view[of].conj().T).all():
                        want[of] = below + below.conj().T + np.diag(np.diag(seen[of]).real)
                    elif (view[of] == view[of].T).all():
                        want[of] = below + below.T + np.diag(np.diag(seen[of]))
                self.check("mirror_triangle %s %s" % (name, spoil), (x.swapaxes(1, 2) == want).all())

    def conditions(self, batch, m, n):
        """The estimate as the device makes it, with NumPy's solutions; and the verdict."""
        a, view = self.matrices(batch, m, n)
        norms = np.zeros(batch)
        self.run("sum_columns", a=a, c=norms, batch=batch * n, rows=m, columns=n)
        self.check("sum_columns", np.allclose(norms, abs(view).sum(1).max(1), rtol=1e-5))
        square, entries = self.matrices(batch, m, m)
        norms[:] = 0
        self.run("sum_rows", batch * m, a=square, c=norms, rows=batch * m, columns=m)
        self.check("sum_rows", np.allclose(norms, abs(entries).sum(2).max(1), rtol=1e-5))
        norms[:] = 1e10
        self.run("sum_rows", batch * m, a=square, c=norms, rows=batch * m, columns=m)
        self.check("sum_rows joins", (norms == 1e10).all())
        norms[:] = 0
        view[-1, -1, -1] = np.nan
        self.run("sum_columns", a=a, c=norms, batch=batch * n, rows=m, columns=n)
        self.check("sum_columns of nan", np.isnan(norms[-1]) and np.isfinite(norms[:-1]).all())
        inverse = np.array([self.numbers(m, m) for _ in range(batch)])
        x, columns = self.matrices(batch, m, 4)
        estimates = np.zeros(batch)
        self.run("begin_estimate", batch * m * 4, c=x, batch=batch, rows=m, columns=4)
        self.check("begin_estimate", np.allclose(abs(columns).sum(1), 1, rtol=1e-4) and np.allclose(columns[..., 0], 1 / m))
        self.check("begin_estimate differs", m < 20 or np.linalg.matrix_rank(columns[0].astype("c16")) == 4)
        for turn in range(3):
            columns[:] = inverse @ columns
            self.run("sum_columns", a=x, c=estimates, batch=batch * 4, rows=m, columns=4)
            if turn == 2:
                break
            want = np.where(columns == 0, 1, columns / np.where(columns == 0, 1, abs(columns)))
            self.run("take_signs", x.size, a=x, rows=x.size)
            self.check("take_signs", np.allclose(columns, want, rtol=1e-5))
            columns[:] = inverse.conj().swapaxes(1, 2) @ columns
            places = abs(columns).argmax(1)
            self.run("take_units", a=x, batch=batch * 4, rows=m)
            self.check("take_units", (columns == (np.arange(m)[:, None] == places[:, None, :])).all())
        wanted = abs(inverse).sum(1).max(1)
        self.check("estimate", ((estimates <= wanted * 1.0001) & (estimates >= wanted / 3)).all())
        zeros, _ = self.matrices(1, 3, 1)
        zeros[:] = 0
        self.run("take_signs", 3, a=zeros, rows=3)
        self.check("take_signs of zeros", (zeros == 1).all())
        self.run("take_units", a=zeros, batch=1, rows=3)
        self.check("take_units of many", zeros.ravel().tolist() == [1, 0, 0])
        ones, large = np.ones(batch), np.full(batch, 4.0)
        common = dict(a=ones, b=large, rows=batch)
        self.check("judge_condition good", not self.run("judge_condition", batch, bound=0.24, **common))
        self.check("judge_condition bad", self.run("judge_condition", batch, bound=0.25, **common))
        large[-1] = np.nan
        self.check("judge_condition nan", self.run("judge_condition", batch, bound=0.1, **common))

    def reflectors(self, batch, m, n):
        k = min(m, n)
        a, view = self.matrices(batch, m, n)
        tau = (self.numbers(batch, k) / m).astype(self.dtype)
        c, seen = self.matrices(batch, m, m)
        self.run("multiply_reflectors", batch * m, a=a, b=tau, c=c, batch=batch, rows=m, columns=m, extra=k, step=m * n)
        for of in range(batch):
            want = np.eye(m, dtype="c16")
            for j in range(k):
                v = np.concatenate([np.zeros(j), [1], view[of, j + 1:, j]])
                want = want @ (np.eye(m) - tau[of, j] * np.outer(v, v.conj()))
            self.check("multiply_reflectors", np.allclose(seen[of], want, rtol=1e-3, atol=1e-4))

    def vectors(self, batch, n):
        if self.dtype.kind == "c" or n < 3:
            return
        a, view = self.matrices(batch, n, n)
        values = np.zeros((batch, n), "c8" if self.dtype == "f4" else "c16")
        values.imag[:, 1], values.imag[:, 2] = 1, -1
        c = np.zeros((batch, n, n), values.dtype)
        self.run("unpack_vectors", batch * n * n, a=a, b=values, c=c, batch=batch, rows=n, columns=n)
        want = view.astype(values.dtype)
        want[:, :, 1] = view[:, :, 1] + 1j * view[:, :, 2]
        want[:, :, 2] = want[:, :, 1].conj()
        self.check("unpack_vectors", (c.swapaxes(1, 2) == want).all())


def main():
    failed, checks = [], 0
    with tempfile.TemporaryDirectory() as name:
        for dtype in TYPES:
            checker = Checker(compile_library(pathlib.Path(name), dtype), dtype)
            for batch, m, n in SHAPES:
                checker.moves(batch, m, n)
                checker.reflectors(batch, m, n)
                checker.orders(batch, m, n)
                checker.conditions(batch, m, n)
                for part in (checker.looks, checker.pivots, checker.blocks, checker.determinants, checker.distances, checker.structures,
                             checker.mirrors, checker.vectors):
                    part(batch, m)
            missing = set(kernels()) - checker.used
            if dtype in ("f4", "f8"):
                checker.check("kernels without a check: %s" % sorted(missing), not missing)
            failed += checker.failed
            checks += checker.checks
    print("\n".join(failed[:20]))
    print("%d checks, %d failed" % (checks, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
