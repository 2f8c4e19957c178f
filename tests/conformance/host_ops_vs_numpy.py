# SPDX-License-Identifier: Apache-2.0
"""The CPU's kernels (kernels/host_ops.c) against NumPy itself: every op, cast and reduction of the tables.

Usage: python host_ops_vs_numpy.py [--verbose]   (needs a C compiler as $CC or cc, and NumPy)

Bit-identical where a row's max_ulp is 0: signed zeros, subnormals, infinities, wrap-around, conversions out of
range, and NaN with its sign and payload. Only where both operands are NaN NumPy's own choice varies by version and
by position, so there any NaN is right. Elsewhere the largest distance in ulp is measured and must be within max_ulp.
"""
import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = [np.dtype(t) for t in (np.bool_, np.int32, np.int64, np.float32, np.float64)]
SHIM = r"""
#include "host_ops.h"
const char *shim_label(int op) { return op < GSH_OP_COUNT ? gsh_op_info(op)->name : NULL; }
unsigned shim_nin(int op) { return gsh_op_info(op)->nin; }
unsigned shim_dtypes(int op) { return gsh_op_info(op)->dtypes; }
unsigned shim_ulp(int op) { return gsh_op_info(op)->max_ulp; }
const char *shim_reduction(int r) { return r < GSH_REDUCTION_COUNT ? gsh_reduction_info(r)->name : NULL; }
unsigned shim_reduction_dtypes(int r) { return gsh_reduction_info(r)->dtypes; }
unsigned shim_reduction_ulp(int r) { return gsh_reduction_info(r)->max_ulp; }
static struct gsh_launch shim_launch;
/* strides: [nin + 1][ndim]; a constant's address is that of its value. */
void shim_describe(int reduce, int op, int loop, int nin, const int *dtypes, const int *constants, void **addresses,
             int ndim, int nreduce, const int64_t *shape, const int64_t *strides, int collapse)
{
    struct gsh_launch launch = {.kind = reduce ? GSH_LAUNCH_REDUCE : GSH_LAUNCH_ELEMENTWISE, .loop = loop,
                                .nin = nin, .ndim = ndim, .nreduce = nreduce};
    if (reduce)
        launch.reduction = op;
    else
        launch.op = op;
    for (int d = 0; d < ndim; d++)
        launch.shape[d] = shape[d];
    for (int k = 0; k <= nin; k++) {
        launch.operands[k].dtype = dtypes[k];
        launch.operands[k].is_constant = constants[k];
        launch.operands[k].address = (uintptr_t)addresses[k];
        if (constants[k])
            __builtin_memcpy(&launch.operands[k].constant, addresses[k], gsh_dtype_size(dtypes[k]));
        for (int d = 0; d < ndim; d++)
            launch.strides[k][d] = strides[k * ndim + d];
    }
    if (collapse)
        gsh_launch_collapse(&launch);
    shim_launch = launch;
}
int shim_run(void) { return gsh_host_ops_run(&shim_launch); }
"""


def build_library(folder, more):
    shim = pathlib.Path(folder, "shim.c")
    shim.write_text(SHIM + more)
    library = pathlib.Path(folder, "shim.so")
    sources = sorted((ROOT / "kernels").glob("*.c")) + [ROOT / "base" / "fmt.c"]
    flags = "-D_GNU_SOURCE -std=gnu17 -O2 -fPIC -shared -fwrapv -ffp-contract=off".split()
    includes = [f"-I{ROOT / name}" for name in ("base", "kernels")]
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, *flags, *includes, "-o", library, shim, *sources, "-lm"], check=True)
    handle = ctypes.CDLL(str(library))
    handle.shim_label.restype = handle.shim_reduction.restype = ctypes.c_char_p
    return handle


class Kernels:
    def __init__(self, folder, more_shim=""):
        self.shim = build_library(folder, more_shim)
        self.ops = self.names(self.shim.shim_label)
        self.reductions = self.names(self.shim.shim_reduction)

    @staticmethod
    def names(function):
        return {name.decode(): code for code, name in
                enumerate(itertools.takewhile(lambda n: n is not None, map(function, itertools.count())))}

    def run(self, reduce, op, loop, inputs, out, shape, nreduce=0, collapse=True):
        """inputs: arrays of `shape` (strides count) or NumPy scalars (constants); out: array, strides count."""
        operands = [np.asarray(x) for x in inputs] + [out]
        constants = [isinstance(x, np.generic) for x in inputs] + [False]
        ndim, count = len(shape), len(operands)
        strides = [s for x, c in zip(operands, constants) for s in ((0,) * ndim if c else x.strides)]
        self.shim.shim_describe(
            reduce, op, DTYPES.index(loop), count - 1, (ctypes.c_int * count)(*(DTYPES.index(x.dtype) for x in operands)),
            (ctypes.c_int * count)(*constants), (ctypes.c_void_p * count)(*(x.ctypes.data for x in operands)),
            ndim, nreduce, (ctypes.c_int64 * max(ndim, 1))(*shape), (ctypes.c_int64 * max(len(strides), 1))(*strides),
            collapse)
        self.execute()

    def execute(self):
        """Runs the launch described last."""
        assert self.shim.shim_run() == 0, "declined"

    def elementwise(self, op, loop, inputs, out, collapse=True):
        inputs = [x if isinstance(x, np.generic) else np.broadcast_to(x, out.shape) for x in inputs]
        self.run(0, self.ops[op], loop, inputs, out, out.shape, collapse=collapse)
        return out

    def reduce(self, name, loop, array, axes, out_dtype, collapse=True):
        kept = [d for d in range(array.ndim) if d not in axes]
        moved = array.transpose(kept + list(axes))
        out = np.empty(tuple(array.shape[d] for d in kept), out_dtype)
        view = np.broadcast_to(out.reshape(out.shape + (1,) * len(axes)), moved.shape)
        self.run(1, self.reductions[name], loop, [moved], view, moved.shape, len(axes), collapse)
        return out


def specials(dtype):
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "i":
        i = np.iinfo(dtype)
        return np.array([0, 1, -1, 2, -7, 1000, 46341, i.max, i.min, i.max - 1, i.min + 1, 1 << 24, (1 << 24) + 1], dtype)
    f = np.finfo(dtype)
    plain = [0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, 1e-3, 12345.678, 0.1, float(f.max), float(f.tiny), float(f.eps),
             np.inf, 2.0**31, 2.0**31 - 1, 2.0**31 - 0.5, 2.0**63, 2.0**62, 3e9, 1e19, 1e30, 0.75, np.pi]
    values = [float(s) * v for v in plain for s in (1, -1)]
    array = np.array(values, dtype)
    word = np.dtype(f"u{dtype.itemsize}")
    quiet = np.array(np.nan, dtype).view(word).item()
    sign = 1 << (8 * dtype.itemsize - 1)
    raw = np.array([1, 2, sign | 1, sign | 12345, quiet, quiet | 5, quiet | sign | 9], word).view(dtype)
    return np.concatenate([array, raw])


def random_values(dtype, n, rng):
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind == "i":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype, endpoint=True)
    raw = rng.integers(0, 1 << (8 * dtype.itemsize), n // 2, np.dtype(f"u{dtype.itemsize}")).view(dtype)
    return np.concatenate([np.where(np.isnan(raw), dtype.type(1), raw), rng.normal(0, 10, n - n // 2).astype(dtype)])


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def ulp_distance(x, y):
    """Largest distance in units in the last place; NaN must meet NaN."""
    if (np.isnan(x) != np.isnan(y)).any():
        return np.inf
    def ordered(v):
        i = bits(v).astype(f"i{v.dtype.itemsize}").astype(np.int64)
        return np.where(i < 0, np.iinfo(f"i{v.dtype.itemsize}").min - i, i)
    a, b = ordered(x), ordered(y)
    distance = np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)
    return float(np.where(np.isnan(x), 0, distance).max())


class Check:
    def __init__(self):
        self.passed = self.failed = 0
        self.quiet = False

    def __call__(self, holds, *details):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds and not self.quiet and self.failed <= 40:
            print("FAILED:", *details)

    def same_bits(self, got, want, inputs, *details):
        differs = bits(got) != bits(want)
        if got.dtype.kind == "f" and len(inputs) == 2:
            both = np.isnan(inputs[0]) & np.isnan(inputs[1])
            differs &= ~(both & np.isnan(got) & np.isnan(want))
        where = np.argwhere(differs)
        shown = ""
        if len(where):
            at = tuple(where[0])
            shown = [x[at] for x in inputs], "got", got[at], hex(bits(got)[at]), "want", want[at], hex(bits(want)[at])
        self(got.dtype == want.dtype and not len(where), *details, len(where), "differ, first", shown)


def numpy_function(op):
    return {"copy": lambda x: x.copy()}.get(op) or getattr(np, op)


def pairs(dtype, nin, rng):
    s, r = specials(dtype), random_values(dtype, 6000, rng)
    if nin == 1:
        return [np.concatenate([s, r])]
    a, b = (x.ravel() for x in np.meshgrid(s, s, indexing="ij"))
    return [np.concatenate([a, r]), np.concatenate([b, rng.permutation(r)])]


def layouts(array, rng):
    """The same shape and values in several layouts (2-d)."""
    n = array.size // 24 * 24
    grid = array[:n].reshape(-1, 24)
    yield grid
    wide = np.empty((grid.shape[0], 48), grid.dtype)
    wide[:, ::2] = grid
    yield wide[:, ::2]
    back = np.ascontiguousarray(grid[::-1, ::-1])
    yield back[::-1, ::-1]
    yield np.asfortranarray(grid)


def check_ops(kernels, check, rng, worst):
    for op, code in kernels.ops.items():
        if op == "arange":
            continue
        nin, ulp = kernels.shim.shim_nin(code), kernels.shim.shim_ulp(code)
        function = numpy_function(op)
        for d, dtype in enumerate(DTYPES):
            if not kernels.shim.shim_dtypes(code) >> d & 1:
                continue
            flat = pairs(dtype, nin, rng)
            for views in itertools.product(*(layouts(x, rng) for x in flat)):
                want = function(*views)
                for collapse, order in ((True, "C"), (True, "F"), (False, "C")):
                    got = kernels.elementwise(op, dtype, views, np.empty(want.shape, want.dtype, order), collapse)
                    if ulp == 0:
                        check.same_bits(got, want, views, op, dtype, [v.strides for v in views], order)
                    else:
                        distance = ulp_distance(got, want)
                        worst[op, dtype.name] = max(worst.get((op, dtype.name), 0), distance)
                        check(distance <= ulp, op, dtype, "ulp", distance)
            in_place = flat[0].copy()
            want = function(*flat)
            if want.dtype == dtype:
                kernels.elementwise(op, dtype, [in_place, *flat[1:]], in_place)
                check(ulp > 0 or not (bits(in_place) != bits(want)).any() or nin == 2 and
                      np.array_equal(in_place, want, equal_nan=True), op, dtype, "in place")
            if nin == 2 and ulp == 0:
                for value in specials(dtype)[::3]:
                    column = np.full(flat[0].shape, value)
                    got = kernels.elementwise(op, dtype, [flat[0], value], np.empty_like(want))
                    check.same_bits(got, function(flat[0], value), [flat[0], column], op, dtype, "constant", value)
                    zero_stride = np.broadcast_to(np.array(value), flat[0].shape)
                    got = kernels.elementwise(op, dtype, [zero_stride, flat[1]], np.empty_like(want))
                    check.same_bits(got, function(value, flat[1]), [column, flat[1]], op, dtype, "stride 0", value)


def check_casts(kernels, check, rng):
    for source, target in itertools.product(DTYPES, DTYPES):
        values = np.concatenate([specials(source), random_values(source, 3000, rng)])
        for step in (1, 3, -1):
            view = values[::step]
            want = view.astype(target)
            for out in (np.empty(want.shape, target), np.empty((want.size, 2), target)[:, 1]):
                got = kernels.elementwise("copy", target, [view], out)
                check.same_bits(got.copy(), want, [view], "cast", source, target, step)
        got = kernels.elementwise("copy", target, [values[1]], np.empty((5, 7), target))
        check.same_bits(got, np.full((5, 7), values[1].astype(target)), [np.full((5, 7), values[1])], "fill")
    mixed = np.arange(-600, 600, dtype=np.int32)
    got = kernels.elementwise("add", np.dtype("f8"), [mixed, np.float32(0.1)], np.empty(1200, np.float32))
    want = (mixed.astype("f8") + np.float64(np.float32(0.1))).astype("f4")
    check.same_bits(got, want, [mixed], "add int32, float32 constant in float64, to float32")
    bytes_ = np.array([0, 1, 2, 255] * 4, np.uint8).view(bool)
    got = kernels.elementwise("copy", np.dtype(bool), [bytes_], np.empty(16, bool))
    check.same_bits(got, bytes_.copy(), [bytes_], "copy of bool bytes that are neither 0 nor 1")
    got = kernels.elementwise("equal", np.dtype(bool), [bytes_, np.bool_(True)], np.empty(16, bool))
    check.same_bits(got, bytes_ == True, [bytes_, bytes_], "comparison of such bytes")  # noqa: E712
    got = kernels.elementwise("copy", np.dtype("i4"), [bytes_], np.empty(16, "i4"))
    check.same_bits(got, bytes_.astype("i4"), [bytes_], "cast of such bytes")


def check_arange(kernels, check):
    cases = [(0, 10, 1), (5, -3000, -7), (3, 4, 1), (3, 5, 1), (-2**30, 2**30, 2**19 + 1), (0, 1000, 0.1), (0.1, 77, 0.3),
             (1e6, -1e6, -333.3), (0, 1, 1 / 3000), (1e-40, 3e-38, 1e-41), (0, 1e30, 1e27), (2**24 - 5, 2**24 + 900, 1)]
    for (start, stop, step), dtype in itertools.product(cases, DTYPES[1:]):
        if dtype.kind == "i" and not all(isinstance(x, int) for x in (start, stop, step)):
            continue
        want = np.arange(start, stop, step, dtype=dtype)
        first = want[0]
        second = want[1] if want.size > 1 else first
        got = kernels.elementwise("arange", dtype, [first, second], np.empty_like(want))
        check.same_bits(got, want, [want], "arange", start, stop, step, dtype)
        if want.size % 2 == 0:
            out = np.empty((2, want.size // 2 * 3), dtype)[:, ::3]
            got = kernels.elementwise("arange", dtype, [first, second], out)
            check.same_bits(got.copy(), want.reshape(2, -1), [want.reshape(2, -1)], "arange 2-d", start, stop, step)


def reduction_arrays(dtype, rng):
    shapes = [(), (1,), (2,), (7,), (511,), (513,), (5000,), (3, 5), (40, 300), (300, 40), (2000, 3), (3, 2000),
              (6, 7, 50), (4, 1, 9, 20)]
    for shape in shapes:
        array = random_values(dtype, int(np.prod(shape)) + 2, rng)[:int(np.prod(shape))].reshape(shape)
        if dtype.kind == "f":  # near 1, so that no order of multiplication leaves the range
            near = (1 + rng.normal(0, 0.01, shape)) * rng.choice([-1, 1], shape)
            array = np.asarray(near, dtype)
        yield array
        if array.ndim:
            yield array[::-1]
            yield np.asfortranarray(array)
            yield np.repeat(array, 2, axis=-1)[..., ::2]
            yield np.broadcast_to(array[..., :1], array.shape)


def reduce_both(kernels, name, dtype, array, axes):
    function = getattr(np, name)
    loop = dtype
    if name in ("sum", "prod") and dtype.kind != "f":
        loop = np.dtype("i8")
    want = np.asarray(function(array, axis=axes))
    return kernels.reduce(name, loop, array, axes, want.dtype), want


def check_float_sum(kernels, check, name, dtype, array, axes, ratios):
    got, want = reduce_both(kernels, name, dtype, array, axes)
    wide = array.astype(np.longdouble)
    exact = getattr(np, name)(wide, axis=axes)
    scale = np.abs(wide).sum(axis=axes) if name == "sum" else np.abs(exact)
    bound = np.finfo(dtype).eps * scale * kernels.shim.shim_reduction_ulp(kernels.reductions[name])
    if name == "prod":
        bound = np.finfo(dtype).eps * scale * max(array.size, 1)
    with np.errstate(all="ignore"):
        error = np.abs(got - exact)
        fine = (error <= bound + np.finfo(dtype).tiny) | (got == want)
    check(np.all(fine), name, dtype, array.shape, array.strides, axes, got, want)
    if name == "sum" and array.size > 1000 and np.size(scale):
        ratios.append((np.max(error / scale), np.max(np.abs(want - exact) / scale)))


def check_reductions(kernels, check, rng, ratios):
    for name, code in kernels.reductions.items():
        for dtype in DTYPES:
            for array in reduction_arrays(dtype, rng):
                subsets = (c for r in range(array.ndim + 1) for c in itertools.combinations(range(array.ndim), r))
                for axes in subsets:
                    if name in ("sum", "prod") and dtype.kind == "f":
                        check_float_sum(kernels, check, name, dtype, array, axes, ratios)
                        continue
                    got, want = reduce_both(kernels, name, dtype, array, axes)
                    check(np.array_equal(got, want), name, dtype, array.shape, array.strides, axes, got, want)
    for dtype in DTYPES[3:]:
        for array in (np.array([1, np.nan, 3] * 300, dtype), np.array([np.inf, -np.inf] * 9, dtype), np.array([-0.0], dtype),
                      -np.zeros(900, dtype)):
            for name in kernels.reductions:
                got, want = reduce_both(kernels, name, dtype, array, (0,))
                check(np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), name, array[:3], got, want)
                zeros = got.dtype.kind == "f" and name in ("sum", "prod")
                check(not zeros or np.isnan(want) or np.signbit(got) == np.signbit(want), name, array[:3], "sign", got)
    for name, dtype in itertools.product(("sum", "prod", "any", "all"), DTYPES):
        for shape, axes in (((0,), (0,)), ((3, 0), (1,)), ((0, 30), (0,))):
            got, want = reduce_both(kernels, name, dtype, np.empty(shape, dtype), axes)
            check(np.array_equal(got, want), name, dtype, shape, "empty", got, want)


def check_large_sum(kernels, check, rng, ratios):
    for dtype, n in itertools.product(DTYPES[3:], (1 << 20, 3_000_001)):
        array = rng.random(n).astype(dtype)
        check_float_sum(kernels, check, "sum", dtype, array, (0,), ratios)
        check_float_sum(kernels, check, "sum", dtype, array[:n // 1000 * 1000].reshape(-1, 1000), (0,), ratios)
        first = kernels.reduce("sum", dtype, array, (0,), dtype)
        check(all(bits(kernels.reduce("sum", dtype, array, (0,), dtype)) == bits(first) for _ in range(3)), "repeat")


def main():
    np.seterr(all="ignore")
    rng, check, worst, ratios = np.random.default_rng(20240), Check(), {}, []
    with tempfile.TemporaryDirectory() as folder:
        kernels = Kernels(folder)
        check_ops(kernels, check, rng, worst)
        check_casts(kernels, check, rng)
        check_arange(kernels, check)
        check_reductions(kernels, check, rng, ratios)
        check_large_sum(kernels, check, rng, ratios)
    print("NumPy", np.__version__, "- largest distance in ulp:",
          ", ".join(f"{op} {dtype} {d:.0f}" for (op, dtype), d in worst.items()))
    ours, theirs = (max(x) for x in zip(*ratios))
    print(f"largest error of a sum over its magnitudes: {ours:.2e}, NumPy's {theirs:.2e}")
    check(ours <= theirs * 1.5, "sums are less exact than NumPy's")
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
