# SPDX-License-Identifier: Apache-2.0
"""SCAN, TAKE, PUT, COMPRESS and EXPAND against NumPy: the CPU's kernels, and the GPU's text run on the CPU.

Usage: python scan_vs_numpy.py [--host] [--all]   (needs cmake, a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

The text of each kernel is compiled as C++ with lines that emulate CUDA (tests/emulation/cuda_threads.h): a
block's threads are fibers that run in turn from one barrier to the next, blocks follow each other. What only a GPU can
show (atomics that meet, speed) is tests/gpu/test_cuda_scan.c's business. --host: the CPU's kernels alone; --all: the
text of every dtype, else of some.
"""
import ctypes
import itertools
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base
import scan_emulation as emulation

DTYPES = [np.dtype(c) for c in "?bhilBHILefdFD"]
EXACT = {"max": "maximum", "min": "minimum", "fmax": "fmax", "fmin": "fmin", "any": "logical_or", "all": "logical_and",
         "parity": "logical_xor", "bit_and": "bitwise_and", "bit_or": "bitwise_or", "bit_xor": "bitwise_xor", "gcd": "gcd"}
ROUNDED = {"sum": "add", "prod": "multiply", "hypot": "hypot", "logaddexp": "logaddexp", "logaddexp2": "logaddexp2"}
SHIM = r"""
#include "host_ops.h"
#include "source.h"
static struct gsh_launch shim_launch;
const char *shim_dtype(int d) { return d < GSH_DTYPE_COUNT ? gsh_dtype_name(d) : NULL; }
const char *shim_op(int op) { return op < GSH_OP_COUNT ? gsh_op_info(op)->name : NULL; }
const char *shim_reduction(int r) { return r < GSH_REDUCTION_COUNT ? gsh_reduction_info(r)->name : NULL; }
int shim_has_reduction(int r, int loop) { return gsh_reduction_has_loop(r, loop); }
int shim_has_op(int op, int loop) { return gsh_op_has_loop(op, loop); }
const char *shim_kind(int kind)
{
    static const char *const names[] = {[GSH_LAUNCH_SCAN] = "scan", [GSH_LAUNCH_TAKE] = "take",
        [GSH_LAUNCH_PUT] = "put", [GSH_LAUNCH_COMPRESS] = "compress", [GSH_LAUNCH_EXPAND] = "expand"};
    return kind < (int)GSH_COUNT(names) && names[kind] ? names[kind] : "";
}
void shim_describe(int kind, int op, int loop, int nin, int has_mask, const int *dtypes, const int *constants,
                   void **addresses, int ndim, const int64_t *shape, const int64_t *strides, int64_t stride,
                   int64_t extent)
{
    shim_launch = (struct gsh_launch){.kind = kind, .loop = loop, .nin = nin, .nout = 1, .has_mask = has_mask,
                                 .ndim = ndim, .indexed = {stride, extent}};
    if (kind == GSH_LAUNCH_SCAN)
        shim_launch.reduction = op;
    else
        shim_launch.op = op;
    for (int d = 0; d < ndim; d++)
        shim_launch.shape[d] = shape[d];
    for (int k = 0; k <= nin + has_mask; k++) {
        shim_launch.operands[k].dtype = dtypes[k];
        shim_launch.operands[k].is_constant = constants[k];
        shim_launch.operands[k].address = (uintptr_t)addresses[k];
        if (constants[k])
            memcpy(&shim_launch.operands[k].constant, addresses[k], gsh_dtype_size(dtypes[k]));
        for (int d = 0; d < ndim; d++)
            shim_launch.strides[k][d] = strides[k * ndim + d];
    }
    gsh_launch_collapse(&shim_launch);
}
static uint64_t claims[GSH_ERROR_KINDS];
static struct gsh_errors_found found;
void shim_check_errors(uint64_t sequence)
{
    shim_launch.errors = (struct gsh_error_sink){(uintptr_t)claims, (uintptr_t)&found, sequence};
}
uint64_t shim_found(int kind) { return found.found[kind].sequence; }
double shim_found_input(int kind, int k) { return found.found[kind].inputs[k].f64; }
int shim_run(void) { return gsh_host_ops_run(&shim_launch); }
""" + emulation.PLAN


class Check(base.Check):
    def same(self, got, want, *details):
        equal = np.array_equal(got, want) or (got.dtype.kind in "fc" and np.array_equal(got, want, equal_nan=True))
        if not self(equal, *details) and self.failed <= 40 and not self.quiet:
            bad = np.flatnonzero(~((got == want) | ((got != got) & (want != want))).ravel())
            print("   at", bad[:8], "of", bad.size, "got", got.ravel()[bad[:4]], "want", want.ravel()[bad[:4]])


def build(folder):
    return base.build_with_texts(folder, SHIM, "host", "codegen", flags=["-w"])


def numbers(name_of):
    """The enum whose names the function gives, up to its first NULL."""
    names = itertools.takewhile(lambda name: name is not None, map(name_of, itertools.count()))
    return {name.decode(): number for number, name in enumerate(names)}


class Kernels:
    """Runs a launch by the CPU's loops, or by the GPU's text (`emulated`), whose kernels are compiled when met."""

    def __init__(self, folder):
        self.shim = emulation.declare(build(folder), "dtype", "op", "reduction", "kind")
        self.dtypes, self.ops = numbers(self.shim.shim_dtype), numbers(self.shim.shim_op)
        self.reductions = numbers(self.shim.shim_reduction)
        self.kinds = {self.shim.shim_kind(k).decode(): k for k in range(16)}
        self.shim.shim_found.restype = ctypes.c_uint64
        self.shim.shim_found_input.restype = ctypes.c_double
        self.emulator = emulation.Emulator(folder)
        self.emulated = False
        self.sequence = 0

    def some(self, chars):
        """The dtypes to go through: on the CPU all, as text those whose code differs."""
        return [d for d in DTYPES if not self.emulated or d.char in chars or "--all" in sys.argv]

    def dtype(self, dtype):
        return self.dtypes[np.dtype(dtype).name]

    def launch(self, kind, op, loop, operands, shape, strides, indexed=(0, 0), mask=None, errors=False):
        """Operands: arrays, or NumPy scalars for constants; the last is the output. False where declined."""
        everything = operands + ([mask] if mask is not None else [])
        held = [np.ascontiguousarray(x) if not isinstance(x, np.ndarray) else x for x in everything]
        code = self.reductions[op] if kind == "scan" else self.ops[op]
        count, ndim = len(held), len(shape)
        self.shim.shim_describe(
            self.kinds[kind], code, self.dtype(loop), len(operands) - 1, mask is not None,
            (ctypes.c_int * count)(*(self.dtype(x.dtype) for x in held)),
            (ctypes.c_int * count)(*(not isinstance(x, np.ndarray) for x in everything)),
            (ctypes.c_void_p * count)(*(x.ctypes.data for x in held)), ndim, (ctypes.c_int64 * max(ndim, 1))(*shape),
            (ctypes.c_int64 * max(ndim * count, 1))(*(s for row in strides for s in row)), ctypes.c_int64(indexed[0]),
            ctypes.c_int64(indexed[1]))
        if errors:
            self.sequence += 1
            self.shim.shim_check_errors(ctypes.c_uint64(self.sequence))
        if not self.emulated:
            return self.shim.shim_run() == 0
        scratch = (ctypes.c_char * (self.shim.shim_scratch() + 64))()
        ctypes.memset(scratch, 0xa5, len(scratch))
        if self.shim.shim_plan(ctypes.c_uint64(ctypes.addressof(scratch) // 16 * 16 + 16)) != 0:
            return False
        for stage in range(self.shim.shim_stages()):
            self.emulator.run(self.shim.shim_key(stage).decode(), lambda: self.shim.shim_text(stage).decode(),
                              self.shim.shim_arguments(stage), self.shim.shim_grid(stage), self.shim.shim_block(stage))
        return True


def values(dtype, shape, rng, specials=False):
    n = int(np.prod(shape))
    if dtype.kind == "b":
        out = rng.random(n) < 0.5
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        out = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    else:
        out = rng.normal(0, 1, n)
        if dtype.kind == "c":
            out = out + 1j * rng.normal(0, 1, n)
        out = out.astype(dtype)
        if specials and n:
            where = rng.random(n) < 0.01
            out[where] = rng.choice(np.array([np.nan, np.inf, -np.inf, 0, -0.0], dtype), int(where.sum()))
    return out.reshape(shape)


def strides_of(array, shape):
    return list(np.broadcast_to(array, shape).strides) if array.ndim else [0] * len(shape)


def scan(kernels, name, loop, array, axis, out, errors=False):
    moved, moved_out = np.moveaxis(array, axis, -1), np.moveaxis(out, axis, -1)
    good = kernels.launch("scan", name, loop, [moved, moved_out], moved.shape, [moved.strides, moved_out.strides],
                          errors=errors)
    return good


SHAPES = [((1,), 0), ((2,), 0), ((17,), 0), ((300,), 0), ((4097,), 0), ((20000,), 0), ((300000,), 0), ((3, 5000), 1),
          ((200, 100), 1), ((1000, 3), 1), ((70, 33), 0), ((4, 600, 5), 1), ((2000, 40), 0), ((9000, 2), 0), ((600, 5000), 1)]


def layouts(array, axis):
    yield array
    yield np.asfortranarray(array)
    yield np.flip(array, axis)
    yield np.repeat(array, 2, axis=axis)[tuple(slice(None, None, 2) if d == axis else slice(None) for d in range(array.ndim))]


def check_exact_scans(kernels, check, rng, shapes):
    for (name, ufunc), dtype in itertools.product(EXACT.items(), kernels.some("?hld")):
        if not kernels.shim.shim_has_reduction(kernels.reductions[name], kernels.dtype(dtype)):
            continue
        for shape, axis in shapes[::1 if dtype.char in "?ld" else 4]:
            base = values(dtype, shape, rng, specials=True)
            for array in itertools.islice(layouts(base, axis), None if dtype.char == "d" and len(shape) > 1 else 1):
                want = getattr(np, ufunc).accumulate(array, axis=axis)
                out = np.empty_like(array)
                check(scan(kernels, name, dtype, array, axis, out), name, dtype, "declined")
                check.same(out, want, "scan", name, dtype, shape, axis, array.strides)
                if array is base:
                    check(scan(kernels, name, dtype, base, axis, base), name, "declined in place")
                    check.same(base, want, "scan in place", name, dtype, shape, axis)


def check_sums(kernels, check, rng, shapes):
    """Integers exact; floats: error no worse than the sequential loop's bound, never falling where nothing is negative."""
    for name, dtype in itertools.product(("sum", "prod"), kernels.some("BledFD")):
        if dtype.char == "?":
            continue
        for shape, axis in shapes[::1 if dtype.char in "ldD" else 3]:
            array = values(dtype, shape, rng)
            if name == "prod" and dtype.kind in "fc":
                array = (1 + array / 1000).astype(dtype)
            function = np.add if name == "sum" else np.multiply
            out = np.empty_like(array)
            check(scan(kernels, name, dtype, array, axis, out), name, dtype, "declined")
            want = function.accumulate(array, axis=axis, dtype=dtype)
            if dtype.kind in "iu" or not (kernels.emulated or (dtype.kind == "c" and name == "prod")):
                check.same(out, want, "scan", name, dtype, shape, axis)
                continue
            wide = array.astype("G" if dtype.kind == "c" else "g")
            exact = function.accumulate(wide, axis=axis)
            index = np.arange(1, shape[axis] + 1).reshape([-1 if d == axis else 1 for d in range(len(shape))])
            scale = np.add.accumulate(np.abs(wide), axis=axis) if name == "sum" else index * np.abs(exact)
            eps = np.finfo(dtype).eps * (2 if dtype.kind == "c" else 1)
            bound = eps * np.minimum(index, 130) * scale + eps * np.abs(exact)
            check(np.all(np.abs(out - exact) <= bound), "scan bound", name, dtype, shape, axis)
    for dtype, shape in itertools.product((np.dtype("f"), np.dtype("d")), ((300000,), (30, 5000))):
        array = np.abs(values(dtype, shape, rng)) * (rng.random(shape) < 0.3)
        array[..., ::7] *= 1e-9
        for axis in range(len(shape)):
            out = np.empty_like(array)
            scan(kernels, "sum", dtype, array, axis, out)
            check(np.all(np.diff(out, axis=axis) >= 0), "a sum of what is not negative falls", dtype, shape, axis)
            check.same(np.diff(out, axis=axis)[np.take(array, range(1, shape[axis]), axis) == 0], np.zeros(1, dtype)[[0] * int(
                (np.take(array, range(1, shape[axis]), axis) == 0).sum())], "adding zero changes a sum", dtype, shape)


def check_casting_scans(kernels, check, rng):
    for source, loop, target in (("?", "l", "l"), ("b", "l", "i"), ("f", "d", "d"), ("d", "f", "e"), ("l", "d", "F"),
                                 ("d", "?", "?"), ("e", "e", "e"), ("e", "f", "d"), ("H", "L", "d")):
        name, function = ("any", np.logical_or) if loop == "?" else ("sum", np.add)
        array = (values(np.dtype(source), (40, 70), rng) * 1).astype(source)
        if source in "lH":
            array = (array % 1000).astype(source)
        out = np.empty(array.shape, target)
        check(scan(kernels, name, loop, array, 1, out), "cast scan declined", source, loop, target)
        want = function.accumulate(array.astype(loop), axis=1).astype(target)
        if loop in "efd" and kernels.emulated:
            check(np.allclose(out, want, rtol=1e-2 if "e" in (loop, target) else 1e-5, atol=1e-2), source, loop, target)
        else:
            check.same(out, want, "cast scan", source, loop, target)
    zeros = np.array([-0.0, -0.0, 0.0, -0.0] * 2000)
    out = np.empty_like(zeros)
    scan(kernels, "sum", "d", zeros, 0, out)
    check.same(np.signbit(out), np.signbit(np.cumsum(zeros)), "sign of a running sum of zeros")


def check_rounded_scans(kernels, check, rng):
    for name, dtype in itertools.product(("hypot", "logaddexp", "logaddexp2"), "efd"):
        array = np.abs(values(np.dtype(dtype), (3, 9000), rng))
        out = np.empty_like(array)
        check(scan(kernels, name, dtype, array, 1, out), name, dtype, "declined")
        want = getattr(np, ROUNDED[name]).accumulate(array, axis=1)
        if dtype != "e":
            check(np.allclose(out, want, rtol=9000 * np.finfo(dtype).eps), name, dtype, np.max(np.abs(out / want - 1)))


def factors(rng):
    """What products leave the range of numbers by, and come back from, or not."""
    ramp = (np.arange(60000) % 1000 + 500) / 1000
    mixed = rng.choice([-1.0, 1.0], 50000) * (rng.random(50000) + 0.45)
    holes = np.where(np.arange(60000) == 33333, 0, 1.2)
    yield from {
        "falls to 0": rng.random(30000), "rises to inf": rng.random(30000) + 1.5,
        "falls, then rises": np.repeat([0.1, 10.0], 9000), "rises, then falls": np.repeat([10.0, 0.1], 9000),
        "zero in the middle": np.where(np.arange(9999) == 5000, 0, 1.01), "nan": np.where(np.arange(9000) == 77, np.nan, 2.0),
        "inf after 0": np.where(np.arange(20000) == 15000, np.inf, 0.9), "-": -rng.random(20000) * 2.7,
        "swings": np.tile(np.repeat([1e-15, 1e15], 19), 300), "normal": rng.normal(0, 1, 60000), "ramp": ramp,
        "swings too far": np.repeat(10.0 ** np.tile([-1, 1, 1, -1], 50), 80) * np.repeat([1.0, 1.0001], 8000),
        "sinks to the smallest": np.full(120000, 0.99), "stays small": 0.5001 + 0.998 * rng.random(60000),
        "comes back from the smallest": np.concatenate([np.full(90000, 0.99), np.full(9000, 1.25), np.full(20000, 0.9999)]),
        "signs of zeros": mixed, "0 then huge": np.where(np.arange(50000) == 3, 0, mixed * 9),
        "zeros among huge": np.where(np.arange(50000) % 4000 == 3, 0, mixed * 9),
        "inf then tiny": np.where(np.arange(50000) == 3, np.inf, mixed / 9), "inf then 0": holes, "nan behind inf": np.where(holes, 1.2, np.nan),
        "256 leave alone": np.concatenate([np.ones(7680), np.full(256, 8.0), np.repeat([2.0**-9, 2.0**9], 128), np.full(20000, 1.001)]),
        "256 singles leave alone": np.concatenate([np.ones(7680), np.full(96, 2.0), np.ones(160), np.repeat([0.25, 4.0], 70),
                                                   np.ones(116), np.full(20000, 0.999)]),
        "huge first": np.concatenate([[1e290], np.ones(6000), np.full(13000, 0.9)]),
        "one after the other": np.exp(np.cumsum(np.tile([-300, 300.0], 4500) * rng.random(9000)) % 600 - 300),
        "close to one": 1 + rng.normal(0, 1e-3, 300000), "steps down": np.where(np.arange(90000) % 9000 == 8999, 1e-60, 1.0)}.items()


def near_products(out, want):
    """Where results are as near as other roundings take them: relative, and once more for each subnormal on the way."""
    info = np.finfo(want.dtype)
    size = np.abs(want)
    subnormal = np.where((size < info.tiny) & (size > 0), info.smallest_subnormal / np.where(size > 0, size, 1), 0)
    bound = 8 * (np.arange(1, want.size + 1) * info.eps + np.minimum(np.cumsum(subnormal), 1))
    kept = np.isinf(want) | (want == 0)
    same = (out == want) & ((np.signbit(out) == np.signbit(want)) | (want.dtype.kind == "c"))
    return np.where(kept, same, (np.isnan(out) & np.isnan(want)) | (np.abs(out - want) <= bound * size + info.smallest_subnormal))


def check_products(kernels, check, rng):
    """Products that leave the range of numbers: zeros, infinities and NaNs where NumPy has them, and NumPy's errors."""
    for (what, array), dtype in itertools.product(factors(rng), "fdFD"):
        array = array.astype(dtype)
        out = np.empty_like(array)
        seen = set()
        with np.errstate(over="call", invalid="call", call=lambda kind, flag: seen.add(kind)):
            want = np.multiply.accumulate(array)
        check(scan(kernels, "prod", dtype, array, 0, out, errors=dtype in "fd"), "prod declined", dtype)
        if dtype in "FD":
            out, want = np.abs(out), np.abs(want)
        fine = near_products(out, want)
        check(np.all(fine), "product", what, dtype, np.flatnonzero(~fine)[:5], out[~fine][:3], want[~fine][:3])
        if dtype in "fd":
            found = {name for kind, name in ((1, "overflow"), (2, "invalid value")) if kernels.shim.shim_found(kind) == kernels.sequence}
            check(found == seen, "errors of a product", what, dtype, found, seen)
        again = np.empty_like(array)
        scan(kernels, "prod", dtype, array, 0, again, errors=dtype in "fd")
        check.same(again if dtype in "fd" else np.abs(again), out, "product again", what, dtype)


def check_rows_of_products(kernels, check, rng):
    """Each row another case, rows and columns, in place."""
    rows = [np.resize(array, 2500) for _, array in factors(rng)]
    for count, length, dtype in itertools.product((3, len(rows)), (700, 2500), "fdD"):
        array = np.array([row[-length:] for row in rows[-count:]]).astype(dtype)
        for axis, source in ((1, array), (0, np.ascontiguousarray(array.T))):
            out = source.copy()
            check(scan(kernels, "prod", dtype, out, axis, out), "prod declined", dtype)
            for k in range(count):
                got, want = np.take(out, k, 1 - axis), np.multiply.accumulate(array[k])
                if dtype == "D":
                    got, want = np.abs(got), np.abs(want)
                fine = near_products(got, want)
                check(np.all(fine), "rows of products", k, dtype, array.shape, axis, np.flatnonzero(~fine)[:5], got[~fine][:3], want[~fine][:3])


def check_errors(kernels, check):
    array = np.ones(6000)
    array[5000:5002] = 1e308, 1e308
    out = np.empty_like(array)
    check(scan(kernels, "sum", "d", array, 0, out, errors=True), "declined with errors")
    got = [kernels.shim.shim_found(kind) == kernels.sequence for kind in range(3)]
    check(got == [False, True, False], "overflow of a running sum", got)
    inputs = [kernels.shim.shim_found_input(1, k) for k in range(2)]
    check(np.isinf(sum(inputs)) and np.all(np.isfinite(inputs)), "joined pair", inputs)
    array[5000:5002] = np.inf, -np.inf
    scan(kernels, "sum", "d", array, 0, out, errors=True)
    got = [kernels.shim.shim_found(kind) == kernels.sequence for kind in range(3)]
    check(got == [False, False, True], "inf - inf", got)
    scan(kernels, "sum", "d", np.ones(6000), 0, out, errors=True)
    got = [kernels.shim.shim_found(kind) == kernels.sequence for kind in range(3)]
    check(got == [False] * 3, "nothing to report", got)
    target = np.full(10, 1e308)
    put(kernels, "add", "d", target, 0, np.array([3, 3, 4]), np.float64(1e308), errors=True)
    got = [kernels.shim.shim_found(kind) == kernels.sequence for kind in range(3)]
    check(got == [False, True, False], "overflow of add.at", got)
    target = np.zeros(10, "i4")
    put(kernels, "copy", "i4", target, 0, np.array([1, 2]), np.array([1.0, np.nan]), errors=True)
    got = [kernels.shim.shim_found(kind) == kernels.sequence for kind in range(3)]
    check(got == [False, False, True], "a NaN put into integers", got)


def take(kernels, loop, array, axis, index, out, mask=None):
    """out = np.take(array, index, axis)"""
    shape = out.shape
    before, after = array.shape[:axis], array.shape[axis + 1:]
    zeros = [0] * index.ndim
    in_strides = [*array.strides[:axis], *zeros, *array.strides[axis + 1:]]
    index_strides = [*([0] * len(before)), *index.strides, *([0] * len(after))]
    strides = [in_strides, index_strides, out.strides] + ([strides_of(mask, shape)] if mask is not None else [])
    return kernels.launch("take", "copy", loop, [array, index, out], shape, strides,
                          (array.strides[axis], array.shape[axis]), mask)


def put(kernels, op, loop, target, axis, index, value, mask=None, errors=False):
    """target[..., index, ...] = value, or op.at(target, (..., index, ...), value)"""
    before, after = target.shape[:axis], target.shape[axis + 1:]
    shape = (*before, *index.shape, *after)
    out_strides = [*target.strides[:axis], *([0] * index.ndim), *target.strides[axis + 1:]]
    index_strides = [*([0] * len(before)), *index.strides, *([0] * len(after))]
    value_strides = strides_of(value, shape) if isinstance(value, np.ndarray) else [0] * len(shape)
    strides = [value_strides, index_strides, out_strides] + ([strides_of(mask, shape)] if mask is not None else [])
    return kernels.launch(  "put", op, loop, [value, index, target], shape, strides,
                          (target.strides[axis], target.shape[axis]), mask, errors)


def check_takes(kernels, check, rng):
    for dtype, index_dtype in zip(kernels.some("?hdD"), itertools.cycle("lbiBILhH")):
        for shape, axis, index_shape in (((1000,), 0, (5000,)), ((50, 7), 0, (90,)), ((7, 50), 1, (3, 40)), ((4, 30, 5), 1, (33,)),
                                         ((9,), 0, ()), ((6, 5, 4), 2, (2, 3))):
            array = values(dtype, shape, rng, specials=True)
            n = min(shape[axis], np.iinfo(index_dtype).max)
            low = 0 if np.dtype(index_dtype).kind == "u" else -n
            index = rng.integers(low, n, index_shape).astype(index_dtype)
            places = index.astype("i8")  # NumPy 1 refuses uint64
            want = np.take(array, places, axis)
            out = np.empty_like(want)
            check(take(kernels, dtype, array, axis, index, out), "take declined", dtype)
            check.same(out, want, "take", dtype, index_dtype, shape, axis)
            flipped = array[::-1]
            take(kernels, dtype, flipped, axis, index, out)
            check.same(out, np.take(flipped, places, axis), "take backwards", dtype, shape, axis)
            mask = rng.random(want.shape) < 0.5
            out, want = np.zeros_like(want), np.where(mask, want, np.zeros_like(want))
            check(take(kernels, dtype, array, axis, index, out, mask), "masked take declined")
            check.same(out, want, "masked take", dtype, shape, axis)
    array, out = np.arange(10.0), np.full(5, -1.0)
    take(kernels, "d", array, 0, np.array([9, 10, -10, -11, 3]), out)
    check.same(out, np.array([9, -1, 0, -1, 3.0]), "indices out of bounds are left alone")
    out = np.zeros(5, "i2")
    check(take(kernels, "d", array, 0, np.arange(5), out), "casting take declined")
    check.same(out, np.arange(5, dtype="i2"), "casting take")


def check_puts(kernels, check, rng):
    for dtype, index_dtype in zip(kernels.some("?idD"), itertools.cycle("lhLBbHiI")):
        for shape, axis, index_shape in (((1000,), 0, (5000,)), ((50, 7), 0, (90,)), ((7, 50), 1, (3, 40)), ((4, 30, 5), 1, (33,)),
                                         ((9,), 0, ())):
            n = min(shape[axis], np.iinfo(index_dtype).max)
            low = 0 if np.dtype(index_dtype).kind == "u" else -n
            index = rng.integers(low, n, index_shape).astype(index_dtype)
            key = (*([slice(None)] * axis), index)
            full = (*shape[:axis], *index_shape, *shape[axis + 1:])
            for value in (values(dtype, full, rng), values(dtype, full[-1:], rng), values(dtype, (), rng)[()]):
                start = values(dtype, shape, rng)
                got, want = start.copy(), start.copy()
                check(put(kernels, "copy", dtype, got, axis, index, value), "put declined", dtype, shape)
                want[key] = value
                check.same(got, want, "put", dtype, index_dtype, shape, axis, np.shape(value))
            mask = rng.random(full) < 0.5
            got = values(dtype, shape, rng)
            value = values(dtype, full, rng)
            want = got.copy()
            check(put(kernels, "copy", dtype, got, axis, index, value, mask), "masked put declined", dtype, shape)
            moved = np.broadcast_to(index.reshape((*([1] * axis), *index_shape, *([1] * (len(shape) - axis - 1)))), full)
            for at in np.ndindex(*full):
                if mask[at]:
                    want[(*at[:axis], moved[at], *at[axis + len(index_shape):])] = value[at]
            check.same(got, want, "masked put", dtype, shape, axis)
    got, want = np.zeros(10), np.zeros(10)
    put(kernels, "copy", "d", got, 0, np.array([9, 10, -10, -11, 3]), np.arange(1.0, 6))
    want[[9, 0, 3]] = 1, 3, 5
    check.same(got, want, "indices out of bounds write nothing")
    table = np.zeros((30, 40))
    index = rng.integers(0, 40, (30, 60))
    value = rng.random((30, 60))
    want = table.copy()
    np.put_along_axis(want, index, value, 1)
    kernels.launch("put", "copy", "d", [value, index, table], (30, 60),
                   [value.strides, index.strides, (table.strides[0], 0)], (8, 40))
    check.same(table, want, "put along an axis")


def check_combining(kernels, check, rng):
    ufuncs = {"add": "add", "subtract": "subtract", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum", "fmax": "fmax",
              "bitwise_and": "bitwise_and", "bitwise_xor": "bitwise_xor", "logical_or": "logical_or", "gcd": "gcd", "divide": "divide"}
    for (op, ufunc), dtype in itertools.product(ufuncs.items(), kernels.some("?bHlLedF")):
        if not kernels.shim.shim_has_op(kernels.ops[op], kernels.dtype(dtype)) or (dtype.kind == "u" and op == "gcd"):
            continue
        for constant in (False, True):
            if op == "multiply" and dtype.kind in "fc":
                continue
            target = values(dtype, (60,), rng, specials=op != "divide")
            index = rng.integers(-60, 60, 900)
            value = values(dtype, (), rng)[()] if constant else values(dtype, (900,), rng, specials=True)
            got, want = target.copy(), target.copy()
            done = put(kernels, op, dtype, got, 0, index, value)
            getattr(np, ufunc).at(want, index, value)
            if done:
                zeros = dtype.kind == "c" and op == "add"
                check.same(got, want, op, ".at", dtype, "constant" if constant else "values", zeros)
            else:
                exact = dtype.kind in "biu" or (dtype.kind == "f" and op in ("maximum", "minimum", "fmax"))
                check(kernels.emulated and not (exact and op != "divide") and (not constant or dtype.char == "D"),
                      "declined", op, dtype, constant)


def check_masks(kernels, check, rng):
    for dtype in kernels.some("?hfdD"):
        for shape in ((1,), (9,), (2048,), (2049,), (100000,), (300, 70), (10, 9, 8)):
            for share in (0.0, 0.3, 1.0):
                array, mask = values(dtype, shape, rng), rng.random(shape) < share
                want = array[mask]
                out = np.empty(want.size + 2, dtype)
                out[:] = guard = values(dtype, (), rng)
                check(kernels.launch("compress", "copy", dtype, [array, out], shape, [array.strides, [0] * len(shape),
                                     mask.strides], (dtype.itemsize, want.size), mask), "compress declined")
                check.same(out[:-2], want, "compress", dtype, shape, share)
                check(np.all(out[-2:] == guard), "compress wrote beyond its output")
                got, expected, source = array.copy(), array.copy(), values(dtype, want.shape, rng)
                kernels.launch("expand", "copy", dtype, [source, got], shape, [[0] * len(shape), got.strides, mask.strides],
                               (dtype.itemsize, want.size), mask)
                expected[mask] = source
                check.same(got, expected, "expand", dtype, shape, share)
    array, mask = values(np.dtype("d"), (200, 50), rng), rng.random((200, 50)) < 0.4
    view, tilted = array[::-1, ::2], mask[:, ::-2]
    want, out = view[tilted], np.zeros((int(tilted.sum()), 3), "f4")
    kernels.launch("compress", "copy", "d", [view, out], view.shape, [view.strides, [0, 0], tilted.strides], (12, want.size), tilted)
    check.same(out[:, 0], want.astype("f4"), "compress of views, cast")


def raw_bools(shape, rng):
    """Bools of which half are false and the others any byte."""
    return rng.choice(np.array([0, 0, 0, 0, 1, 2, 128, 255], np.uint8), shape).view(bool)


def check_raw_bools(kernels, check, rng):
    """What copies bools keeps their bytes, the first element of a scanned row too; what joins them writes 0 or 1."""
    def same(got, want, *details):
        check.same(got.view(np.uint8), want.view(np.uint8), "raw bools", *details)

    for name, (shape, axis) in itertools.product(("any", "all", "max", "bit_xor"), (((900, 1), 1), ((300, 3), 1), ((70, 33), 0), ((20000,), 0), ((3, 20000), 1))):
        for lead in (0, 128):
            array = raw_bools(shape, rng)
            np.moveaxis(array.view(np.uint8), axis, 0)[0] |= lead
            want, out = getattr(np, EXACT[name]).accumulate(array, axis=axis), np.empty_like(array)
            check(scan(kernels, name, "?", array, axis, out), "scan of raw bools declined", name)
            same(out, want, "scan", name, shape)
            numbers = np.empty(shape, "i2")
            check(scan(kernels, name, "?", array, axis, numbers), "scan of raw bools to integers declined", name)
            check.same(numbers, (want != 0).astype("i2"), "scan of raw bools to integers", name, shape)
            scan(kernels, name, "?", array, axis, array)
            same(array, want, "scan in place", name, shape)
    array, value, mask = raw_bools(3000, rng), raw_bools(3000, rng), raw_bools(3000, rng)
    index, constant = rng.permutation(3000), np.array([128], np.uint8).view(bool)[0]
    out = np.empty_like(array)
    take(kernels, "?", array, 0, index, out)
    same(out, array[index], "take")
    put(kernels, "copy", "?", out, 0, index, value)
    same(out[index], value, "put")
    put(kernels, "copy", "?", out, 0, index, constant)
    same(out, np.full(3000, constant), "put of a constant")
    want, kept = array[mask], np.empty(np.count_nonzero(mask), bool)
    kernels.launch("compress", "copy", "?", [array, kept], (3000,), [(1,), (0,), (1,)], (1, kept.size), mask)
    same(kept, want, "compress")
    want = value.copy()
    want[mask] = kept
    kernels.launch("expand", "copy", "?", [kept, value], (3000,), [(0,), (1,), (1,)], (1, kept.size), mask)
    same(value, want, "expand")


def battery(kernels, check):
    rng = np.random.default_rng(11)
    shapes = SHAPES if not kernels.emulated else SHAPES[:-1]
    check_exact_scans(kernels, check, rng, shapes)
    check_sums(kernels, check, rng, shapes)
    check_casting_scans(kernels, check, rng)
    check_raw_bools(kernels, check, rng)
    check_rounded_scans(kernels, check, rng)
    check_products(kernels, check, rng)
    check_rows_of_products(kernels, check, rng)
    check_takes(kernels, check, rng)
    check_puts(kernels, check, rng)
    check_combining(kernels, check, rng)
    check_masks(kernels, check, rng)
    check_errors(kernels, check)


def main():
    np.seterr(all="ignore")
    check = Check()
    with tempfile.TemporaryDirectory() as folder:
        kernels = Kernels(folder)
        battery(kernels, check)
        print(f"host: {check.passed} passed, {check.failed} failed; NumPy {np.__version__}")
        if "--host" not in sys.argv:
            kernels.emulated = True
            muted = Check()
            muted.quiet = True
            battery(kernels, muted)
            kernels.emulator.compile()
            battery(kernels, check)
            check(kernels.emulator.used == set(kernels.emulator.ids), "every kernel ran")
            print(f"with {kernels.emulator.count} kernels' text: {check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
