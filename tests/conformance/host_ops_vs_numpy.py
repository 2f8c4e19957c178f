# SPDX-License-Identifier: Apache-2.0
"""The CPU's kernels against NumPy itself: every op of the table x dtype, and layouts, constants, masks.

Usage: python host_ops_vs_numpy.py   (needs a C compiler as $CC or cc, and NumPy)

Bit-identical where a row's bound is 0: signed zeros, subnormals, infinities, wrap-around, conversions out of range.
Where the result is NaN, NaN must meet NaN; its sign and payload must be NumPy's too for the ops that only move values
(MOVES) and where one operand of a sum, difference or product is NaN. Elsewhere the largest distance in units in the
last place is measured (complex: of the larger part) and must be within the row's bound; a complex NaN yields some NaN.
"""
import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import scipy.special as scipy_special
except ImportError:  # then its functions are listed as not compared
    scipy_special = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = [np.dtype(t) for t in "? b h i l B H I L e f d F D".split()]
NUMPY2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
MOVES = {"copy", "positive", "negative", "absolute", "fabs", "copysign", "conjugate", "maximum", "minimum", "fmax",
         "fmin", "clip", "where", "add", "subtract", "multiply"}
# What NumPy computes since a version: op to characters of dtypes. Complex products were not fused before 1.25, and zero
# to a complex power always NaN.
NEW_IN = {"2.0.0": {"sign": "FD", "floor": "?bhilBHIL", "ceil": "?bhilBHIL", "trunc": "?bhilBHIL"}, "2.5.0": {"nextafter": "e"},
          "1.25.0": {"multiply": "FD", "square": "FD", "power": "FD", "float_power": "D"}}
SHIM = r"""
#include "host_ops.h"
#include "host_vector.h"
#include <string.h>
const char *shim_label(int op) { return op < GSH_OP_COUNT ? gsh_op_info(op)->name : NULL; }
unsigned shim_nin(int op) { return gsh_op_info(op)->nin; }
unsigned shim_nout(int op) { return gsh_op_info(op)->nout; }
unsigned shim_dtypes(int op) { return gsh_op_info(op)->dtypes; }
unsigned shim_ulp(int op, int loop) { return gsh_op_max_ulp(op, loop); }
int shim_input(int op, int loop, int k) { return gsh_op_input_dtype(op, loop, k); }
int shim_output(int op, int loop, int k) { return gsh_op_output_dtype(op, loop, k); }
const char *shim_reduction(int r) { return r < GSH_REDUCTION_COUNT ? gsh_reduction_info(r)->name : NULL; }
const char *shim_reduction_ufunc(int r) { return gsh_reduction_info(r)->ufunc; }
unsigned shim_reduction_dtypes(int r) { return gsh_reduction_info(r)->dtypes; }
unsigned shim_reduction_ulp(int r) { return gsh_reduction_info(r)->max_ulp; }
static struct gsh_launch shim_launch;
static uint64_t shim_claims[GSH_ERROR_KINDS], shim_sequence;
static struct gsh_errors_found shim_found;
/* strides: [operands][ndim]; a constant's address is that of its value; the mask comes last. */
void shim_describe(int kind, int op, int loop, int nin, int nout, int has_mask, const int *dtypes, const int *constants,
                   void **addresses, int ndim, int nreduce, const int64_t *shape, const int64_t *strides, int collapse,
                   const void *initial)
{
    struct gsh_launch launch = {.kind = kind, .loop = loop, .nin = nin, .nout = nout, .has_mask = has_mask,
                                .ndim = ndim, .nreduce = nreduce};
    if (kind == GSH_LAUNCH_REDUCE || kind == GSH_LAUNCH_SCAN)
        launch.reduction = op;
    else
        launch.op = op;
    if (initial != NULL) {
        launch.has_initial = true;
        memcpy(&launch.initial, initial, gsh_dtype_size(loop));
    }
    for (int d = 0; d < ndim; d++)
        launch.shape[d] = shape[d];
    for (int k = 0; k < nin + nout + has_mask; k++) {
        launch.operands[k].dtype = dtypes[k];
        launch.operands[k].is_constant = constants[k];
        launch.operands[k].address = (uintptr_t)addresses[k];
        if (constants[k])
            memcpy(&launch.operands[k].constant, addresses[k], gsh_dtype_size(dtypes[k]));
        for (int d = 0; d < ndim; d++)
            launch.strides[k][d] = strides[k * ndim + d];
    }
    if (collapse)
        gsh_launch_collapse(&launch);
    shim_launch = launch;
}
void shim_check_errors(void)
{
    shim_launch.errors = (struct gsh_error_sink){(uintptr_t)shim_claims, (uintptr_t)&shim_found, ++shim_sequence};
}
int shim_met(int kind, void *inputs)
{
    memcpy(inputs, shim_found.found[kind].inputs, sizeof shim_found.found[kind].inputs);
    return shim_found.found[kind].sequence == shim_sequence;
}
int shim_run(void) { return gsh_host_ops_run(&shim_launch); }
int shim_vectors(int bits) { return gsh_host_vector_use((unsigned)bits); }
"""
ELEMENTWISE, REDUCE = 0, 1


def base_sources():
    """The folder that kernels/ may use, whole: C and assembler."""
    return [path for ending in ("c", "S") for path in sorted((ROOT / "base").glob("*." + ending)) if path.stem != "version"]


def kernel_sources(*folders):
    """The C files of kernels/ and of these subfolders, without what runs on threads of its own."""
    return [path for folder in ("", *folders, *["host/order", "host/filter", "host/sparse"] * ("host" in folders)) for path in sorted((ROOT / "kernels" / folder).glob("*.c"))
            if not path.name.startswith(("host_group", "host_threads"))]


# What the compiler is told for them.
INCLUDES = [f"-I{ROOT / name}" for name in ("base", "config", "kernels", "kernels/host", "kernels/host/order", "kernels/host/filter", "kernels/host/sparse", "kernels/codegen")]


def build_with_texts(folder, code, *kernels, flags=()):
    """The C text `code` with the sources of kernels/ and of these subfolders, and the texts that generated kernels include, as a library."""
    shim, texts, library = (pathlib.Path(folder, name) for name in ("shim.c", "texts.c", "shim.so"))
    shim.write_text(code)
    subprocess.run(["cmake", f"-DOUT={texts}", "-DPATTERN=kernels/*.cuh", "-DPREFIX=cuda", "-DHEADER=source_texts.h", "-P",
                    ROOT / "cmake" / "embed_texts.cmake"], check=True)
    compiler = os.environ.get("CC", "cc").split()
    always = "-std=gnu17 -D_GNU_SOURCE -O1 -fPIC -shared -fwrapv -ffp-contract=off".split()
    subprocess.run([*compiler, *always, *flags, *INCLUDES, "-o", library, shim, texts, *kernel_sources(*kernels), *base_sources(),
                    "-lm", "-lpthread"], check=True)
    return ctypes.CDLL(str(library))


def build_library(folder, more):
    shim = pathlib.Path(folder, "shim.c")
    shim.write_text(SHIM + more)
    library = pathlib.Path(folder, "shim.so")
    kernels = ROOT / "kernels"
    compiler = os.environ.get("CC", "cc").split()
    flags = "-D_GNU_SOURCE -std=gnu17 -O2 -fPIC -fwrapv -ffp-contract=off".split()
    flags += INCLUDES
    objects = []
    loops = [path for path in kernel_sources("host") if path.name.startswith("host_")]
    for source in [*loops, *sorted(kernels.glob("*.c")), *base_sources(), shim]:
        fast = ["-O3", "-fno-math-errno"] if source.name.startswith(("host_loops_", "host_casts")) else []
        objects.append(pathlib.Path(folder, source.stem + ".o"))
        subprocess.run([*compiler, *flags, *fast, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run([*compiler, "-shared", "-o", library, *objects, "-lm", "-lpthread"], check=True)
    handle = ctypes.CDLL(str(library))
    for name in ("label", "reduction", "reduction_ufunc"):
        getattr(handle, "shim_" + name).restype = ctypes.c_char_p
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

    def describe(self, kind, op, loop, inputs, outs, shape, nreduce=0, collapse=True, mask=None, initial=None):
        """inputs: arrays of `shape` (strides count) or NumPy scalars (constants); outs, mask: arrays, strides count."""
        operands = [np.asarray(x) for x in inputs] + list(outs) + ([] if mask is None else [mask])
        constants = [isinstance(x, np.generic) for x in inputs] + [False] * (len(operands) - len(inputs))
        ndim, count = len(shape), len(operands)
        strides = [s for x, c in zip(operands, constants) for s in ((0,) * ndim if c else x.strides)]
        first = None if initial is None else np.asarray(initial, loop).reshape(1)
        self.alive = operands, first
        self.shim.shim_describe(
            kind, op, DTYPES.index(loop), len(inputs), len(outs), mask is not None,
            (ctypes.c_int * count)(*(DTYPES.index(x.dtype) for x in operands)),
            (ctypes.c_int * count)(*constants), (ctypes.c_void_p * count)(*(x.ctypes.data for x in operands)),
            ndim, nreduce, (ctypes.c_int64 * max(ndim, 1))(*shape), (ctypes.c_int64 * max(len(strides), 1))(*strides),
            collapse, None if first is None else ctypes.c_void_p(first.ctypes.data))

    def execute(self):
        """Runs the launch described last."""
        assert self.shim.shim_run() == 0, "declined"

    def elementwise(self, op, loop, inputs, out, collapse=True, mask=None):
        outs = out if isinstance(out, tuple) else (out,)
        shape = outs[0].shape
        inputs = [x if isinstance(x, np.generic) else np.broadcast_to(x, shape) for x in inputs]
        self.describe(ELEMENTWISE, self.ops[op], loop, inputs, outs, shape, 0, collapse, mask)
        self.execute()
        return out

    def reduce(self, name, loop, array, axes, out_dtype, collapse=True, mask=None, initial=None):
        kept = [d for d in range(array.ndim) if d not in axes]
        moved = array.transpose(kept + list(axes))
        out = np.empty(tuple(array.shape[d] for d in kept), out_dtype)
        view = np.broadcast_to(out.reshape(out.shape + (1,) * len(axes)), moved.shape)
        if mask is not None:
            mask = np.broadcast_to(mask, array.shape).transpose(kept + list(axes))
        self.describe(REDUCE, self.reductions[name], loop, [moved], [view], moved.shape, len(axes), collapse, mask,
                      initial)
        self.execute()
        return out

    def loops(self, op):
        """(dtype, dtypes of the inputs, dtypes of the outputs, bound in ulp) for each loop of an op."""
        code = self.ops[op]
        for d, dtype in enumerate(DTYPES):
            if self.shim.shim_dtypes(code) >> d & 1:
                yield (dtype, [DTYPES[self.shim.shim_input(code, d, k)] for k in range(self.shim.shim_nin(code))],
                       [DTYPES[self.shim.shim_output(code, d, k)] for k in range(self.shim.shim_nout(code))],
                       self.shim.shim_ulp(code, d))


def word(dtype):
    return np.dtype(f"u{dtype.itemsize}")


def special_reals(dtype):
    f = np.finfo(dtype)
    plain = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 1e-3, 0.1, 7.25, 100.0, float(f.max), float(f.tiny), float(f.eps), np.inf,
             0.75, np.pi, 2.0, 33.0, 0.7789597]  # the last: where float32 logarithms err most
    if dtype != np.float16:
        plain += [12345.678, 2.0**31, 2.0**31 - 1, 2.0**31 - 0.5, 2.0**32, 2.0**63, 2.0**62, 2.0**64, 3e9, 1e19, 1e30]
    array = np.array([float(s) * v for v in plain for s in (1, -1)], dtype)
    quiet = np.array(np.nan, dtype).view(word(dtype)).item()
    sign = 1 << (8 * dtype.itemsize - 1)
    return np.concatenate([array, np.array([1, 2, sign | 1, sign | 345, quiet, quiet | 5, quiet | sign | 9],
                                           word(dtype)).view(dtype)])


def specials(dtype):
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        i = np.iinfo(dtype)
        values = {v for v in (0, 1, -1, 2, 3, -7, 8, 31, 32, 63, 64, 65, 100, 1000, 46341, i.max, i.min, i.max - 1,
                              i.min + 1, 1 << 24, (1 << 24) + 1) if i.min <= v <= i.max}
        return np.array(sorted(values), dtype)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        f = np.finfo(part)
        parts = np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-3, f.max, -f.max, f.tiny, f.eps, np.inf, -np.inf, np.nan,
                          np.pi, 100], part)
        grid = np.empty((parts.size, parts.size, 2), part)
        grid[..., 0], grid[..., 1] = parts[:, None], parts
        return grid.view(dtype).ravel()
    return special_reals(dtype)


def random_values(dtype, n, rng):
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        wide = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype, endpoint=True)
        return np.where(rng.integers(0, 2, n).astype(bool), wide, (wide % 20).astype(dtype)).astype(dtype)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return rng.permutation(random_values(part, 2 * n, rng)).view(dtype)
    raw = rng.integers(0, 1 << (8 * dtype.itemsize), n // 2, word(dtype)).view(dtype)
    ordinary = rng.normal(0, 10, n - n // 2).astype(dtype)
    return np.concatenate([np.where(np.isnan(raw), dtype.type(1), raw), ordinary])


def bits(x):
    x = np.ascontiguousarray(x)
    return x.view(f"u{x.dtype.itemsize}" if x.dtype.kind != "c" else f"u{x.dtype.itemsize // 2}").reshape(*x.shape, -1)


def isnan(x):
    return np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)


def ulp_distances(x, y):
    """In units in the last place, of the larger part of complex numbers; NaN must meet NaN, infinity the same one."""
    if x.dtype.kind == "c":
        part = np.dtype(f"f{x.dtype.itemsize // 2}")
        x, y = (np.ascontiguousarray(v).view(part).reshape(*v.shape, 2) for v in (x, y))
        scale = np.where(np.isfinite(y), np.abs(y), 0).max(axis=-1, keepdims=True)
    else:
        x, y = x[..., None], y[..., None]
        scale = np.where(np.isfinite(y), np.abs(y), 0)
    unit = np.spacing(np.maximum(scale, np.finfo(x.dtype).tiny)).astype(np.longdouble)
    both = np.isfinite(x) & np.isfinite(y)
    off = np.where(both, np.abs(np.where(both, x, 0).astype(np.longdouble) - np.where(both, y, 0)) / unit, np.inf)
    # beyond the largest number the next one up counts as infinity
    largest = np.isinf(x) != np.isinf(y)
    edge = np.copysign(np.finfo(x.dtype).max, np.where(np.isinf(x), x, y))
    off = np.where(largest & (np.where(np.isinf(x), y, x) == edge), 1, off)
    return np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, off).max(axis=-1).astype(float)


def ulp_distance(x, y):
    return float(ulp_distances(x, y).max(initial=0))


class Check:
    def __init__(self):
        self.passed = self.failed = 0
        self.quiet = False

    def __call__(self, holds, *details):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds and not self.quiet and self.failed <= 60:
            print("FAILED:", *details)
        return holds

    def same_bits(self, got, want, inputs, *details, strict=True):
        differs = (bits(got) != bits(want)).any(axis=-1)
        if got.dtype == want.dtype and got.dtype.kind in "fc":
            nans = sum(isnan(x).astype(int) for x in inputs if x.dtype.kind in "fc")
            loose = (nans != 1) if strict and got.dtype.kind == "f" else np.True_
            differs &= ~(loose & same_but_for_nans(got, want))
        where = np.argwhere(differs)
        shown = ""
        if len(where):
            at = tuple(where[0])
            shown = [x[at] for x in inputs], "got", got[at], bits(got)[at], "want", want[at], bits(want)[at]
        self(got.dtype == want.dtype and not len(where), *details, len(where), "differ, first", shown)


def same_but_for_nans(x, y):
    if x.dtype.kind == "c":
        return ((bits(x.real) == bits(y.real))[..., 0] | (np.isnan(x.real) & np.isnan(y.real))) & (
            (bits(x.imag) == bits(y.imag))[..., 0] | (np.isnan(x.imag) & np.isnan(y.imag)))
    return (bits(x) == bits(y))[..., 0] | (np.isnan(x) & np.isnan(y))


def round_in_steps(x, scale):
    """What ndarray.round does with 10**decimals; with a negative scale, with minus 10**-decimals."""
    out = np.empty_like(x)
    if x.dtype.kind == "c":
        out.real, out.imag = round_in_steps(x.real, scale.real), round_in_steps(x.imag, scale.real)
        return out
    up, down, size = scale > 0, scale < 0, np.abs(scale)
    out[up] = np.rint(x[up] * size[up]) / size[up]
    out[down] = np.rint(x[down] / size[down]) * size[down]
    return out


def library_function(name):
    """log, exp or power of the C library that NumPy's draws call."""
    function = getattr(ctypes.CDLL("libm.so.6"), {"power": "pow"}.get(name, name))
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * (2 if name == "power" else 1)
    return lambda *operands: np.array([function(*numbers) for numbers in zip(*(x.tolist() for x in operands))])


def numpy_function(op):
    if op == "round":
        return round_in_steps
    if op == "copy":
        return lambda x: x.copy()
    if op == "clip":
        return (np._core if NUMPY2 else np.core).umath.clip
    if op == "root_power":
        return lambda x, _: np.sqrt(x)
    if op.startswith("certain_"):
        return library_function(op[len("certain_"):])
    if op.startswith("special_"):
        name = op[len("special_"):]
        if name == "zeta":  # SciPy counts up from a negative number to zero; tests/preload/test_special.py compares it
            return None
        ufuncs = getattr(scipy_special, "_ufuncs", None)
        return getattr(ufuncs, name, None) or getattr(ufuncs, "_" + name, None)
    return getattr(np, op, None)


def operands(op, dtypes, rng, n=4000):
    """Special values in all combinations, then random ones."""
    values = [specials(d) for d in dtypes]
    if len(values) > 1 and dtypes[0].kind == "c":
        values = [rng.permutation(v)[:80] for v in values]
    if len(values) == 3:
        values = [rng.permutation(v)[:20] for v in values]
    if op == "ldexp":
        values[1] = np.array([0, 1, -1, 5, -20, 200, -200, 3000, -3000, 2**31, 2**40, -2**31, -2**40, -2**63], "i8")
    if op == "round":
        values[1] = np.array([10, 100, 1e4, -10, -1000], dtypes[1])
    grid = [g.ravel() for g in np.meshgrid(*values, indexing="ij")]
    flat = [np.concatenate([g, rng.permutation(random_values(d, n, rng))]) for g, d in zip(grid, dtypes)]
    if op in ("gcd", "lcm"):  # with common factors of all sizes
        bits_left = rng.integers(0, 8 * dtypes[0].itemsize, n).astype(dtypes[0])
        factor = random_values(dtypes[0], n, rng) >> (8 * dtypes[0].itemsize - 1 - bits_left)
        for x in flat:
            x[-n:] = (x[-n:] >> bits_left) * factor
    if op == "round":
        flat[1] = np.resize(values[1], flat[1].size)
    if op == "root_power":
        flat[1] = np.full_like(flat[1], 0.5)
    if op == "power" and dtypes[1].kind == "i":
        flat[1] = np.where(flat[1] < 0, ~flat[1], flat[1])
    return flat


def pairs(dtype, nin, rng):
    return operands("", [dtype] * nin, rng)


def layouts(array):
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


def is_as_newest(op, dtype):
    """Whether this NumPy computes what the newest does."""
    version = np.lib.NumpyVersion(np.__version__)
    return not any(version < since and dtype.char in ops.get(op, "") for since, ops in NEW_IN.items())


def is_known_to_numpy(op, dtype, want, outputs):
    """Whether this NumPy has the loop, and computes what the newest does."""
    return is_as_newest(op, dtype) and [w.dtype for w in want] == outputs


def compare(check, op, dtype, ulp, got, want, flat, worst, *details):
    for g, w in zip(got, want):
        if ulp == 0 or g.dtype.kind not in "fc":
            check.same_bits(g, w, flat, op, dtype, *details, strict=op in MOVES)
            continue
        distances = ulp_distances(g, w)
        if dtype.kind == "c":  # which part is NaN, and the other's sign, C leaves open for inputs that are NaN
            distances = np.where((sum(isnan(x) for x in flat) > 0) & isnan(g) & isnan(w), 0, distances)
        at = np.unravel_index(distances.argmax(), distances.shape)
        worst[op, dtype.name] = max(worst.get((op, dtype.name), 0), distances[at])
        check(distances[at] <= ulp, op, dtype, *details, "ulp", distances[at], "of", [x[at] for x in flat], "got",
              g[at], "want", w[at], int((distances > ulp).sum()), "beyond")


def run_numpy(function, flat):
    want = function(*flat)
    return list(want) if isinstance(want, tuple) else [np.asarray(want)]


def check_op(kernels, check, rng, worst, missing, op, loop):
    dtype, inputs, outputs, ulp = loop
    function, flat = numpy_function(op), operands(op, inputs, rng)
    want = None if function is None else run_numpy(function, flat)
    if want is None or not is_known_to_numpy(op, dtype, want, outputs):
        missing.append(f"{op} {dtype}")
        return
    got = tuple(np.empty_like(w) for w in want)
    kernels.elementwise(op, dtype, flat, got)
    if op.startswith("certain_"):  # a NaN says that it is not certain how the library rounds
        want = [np.where(np.isnan(g), g, w) for g, w in zip(got, want)]
    compare(check, op, dtype, ulp, got, want, flat, worst)
    if outputs[0].itemsize == inputs[0].itemsize:
        again = [x.copy() for x in flat]
        in_place = (again[0].view(outputs[0]), *(np.empty_like(w) for w in want[1:]))
        kernels.elementwise(op, dtype, again, in_place)
        for there, result in zip(in_place, got):
            check.same_bits(there, result, flat, op, dtype, "in place", strict=op in MOVES)
    check_mask(kernels, check, rng, op, dtype, flat, got)


def check_mask(kernels, check, rng, op, dtype, flat, results):
    mask = rng.integers(0, 2, flat[0].size).astype(bool)
    outs = tuple(np.frombuffer(b"\x05" * r.nbytes, r.dtype).copy() for r in results)
    kernels.elementwise(op, dtype, flat, outs, mask=mask)
    for out, result in zip(outs, results):
        want = np.where(mask, result, np.frombuffer(b"\x05" * out.nbytes, out.dtype))
        check.same_bits(out, want, flat, op, dtype, "under a mask", strict=op in MOVES)


def check_ops(kernels, check, rng, worst):
    missing = []
    for op in kernels.ops:
        if op in ("arange",):
            continue
        for loop in kernels.loops(op):
            check_op(kernels, check, rng, worst, missing, op, loop)
    return missing


def check_vectors(kernels, check, rng, worst):
    """The ops of floats again, for each width of vectors that the processor has."""
    for width in (128, 256, 512):
        if not kernels.shim.shim_vectors(width):
            print("no vectors of", width, "bits")
            continue
        for op in kernels.ops:
            for loop in kernels.loops(op):
                if loop[0].kind == "f" and op != "arange":
                    check_op(kernels, check, rng, worst.setdefault(width, {}), [], op, loop)
    kernels.shim.shim_vectors(0)


def check_layouts(kernels, check, rng):
    """Strides, orders, mixed dtypes; that the numbers are right is another test's business."""
    for op, dtype in itertools.product(("add", "less", "divmod", "copy", "where", "left_shift", "absolute"), DTYPES):
        loop = next((l for l in kernels.loops(op) if l[0] == dtype), None)
        if loop is None:
            continue
        flat = [rng.permutation(x)[:960] for x in operands(op, loop[1], rng, 960)]
        want = tuple(np.empty(960, d) for d in loop[2])
        kernels.elementwise(op, dtype, flat, want, collapse=False)
        for views in itertools.product(*(layouts(x) for x in flat)):
            for collapse, order in ((True, "C"), (True, "F"), (False, "C")):
                got = tuple(np.empty(views[0].shape, d, order) for d in loop[2])
                kernels.elementwise(op, dtype, views, got, collapse)
                check(all((bits(g) == bits(w.reshape(g.shape))).all() for g, w in zip(got, want)), op, dtype, "layout",
                      [v.strides for v in views], order)


def check_constants(kernels, check, rng):
    for op, dtype in itertools.product(("add", "multiply", "maximum", "greater"), DTYPES):
        if not is_as_newest(op, dtype):
            continue
        s = rng.permutation(specials(dtype))[:40]
        for value in s[:10]:
            column = np.full(s.shape, value)
            want = numpy_function(op)(s, column)
            got = kernels.elementwise(op, dtype, [s, value], np.empty_like(want))
            check.same_bits(got, want, [s, column], op, dtype, "constant", value)
            zero_stride = np.broadcast_to(np.array(value), s.shape)
            want = numpy_function(op)(column, s)
            got = kernels.elementwise(op, dtype, [zero_stride, s], np.empty_like(want))
            check.same_bits(got, want, [column, s], op, dtype, "stride 0", value)


def check_arange(kernels, check):
    cases = [(0, 10, 1), (5, -3000, -7), (3, 4, 1), (3, 5, 1), (-2**30, 2**30, 2**19 + 1), (0, 1000, 0.1),
             (0.1, 77, 0.3), (1e6, -1e6, -333.3), (0, 1, 1 / 3000), (1e-40, 3e-38, 1e-41), (0, 1e30, 1e27),
             (2**24 - 5, 2**24 + 900, 1)]
    for (start, stop, step), dtype in itertools.product(cases, DTYPES[1:]):
        info = np.iinfo(dtype) if dtype.kind in "iu" else None
        if info and not all(isinstance(x, int) and info.min <= x <= info.max for x in (start, stop, step)):
            continue
        want = np.arange(start, stop, step, dtype=dtype)
        if want.size == 0 or not np.isfinite(want).all():
            continue
        first = want[0]
        second = want[1] if want.size > 1 else first
        got = kernels.elementwise("arange", dtype, [first, second], np.empty_like(want))
        check.same_bits(got, want, [want], "arange", start, stop, step, dtype)
        if want.size % 2 == 0:
            out = np.empty((2, want.size // 2 * 3), dtype)[:, ::3]
            got = kernels.elementwise("arange", dtype, [first, second], out)
            check.same_bits(got.copy(), want.reshape(2, -1), [want.reshape(2, -1)], "arange 2-d", start, stop, step)


def main():
    np.seterr(all="ignore")
    rng, check, worst, worst_of_vectors = np.random.default_rng(20240), Check(), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        kernels = Kernels(folder)
        missing = check_ops(kernels, check, rng, worst)
        check_vectors(kernels, check, rng, worst_of_vectors)
        check_layouts(kernels, check, rng)
        check_constants(kernels, check, rng)
        check_arange(kernels, check)
    for width, distances in [("no", worst), *worst_of_vectors.items()]:
        print("NumPy", np.__version__, "-", width, "bits of vectors - largest distance in ulp:",
              ", ".join(f"{op} {dtype} {d:.3g}" for (op, dtype), d in distances.items()))
    if missing:
        print("not compared, as this NumPy has no such loop or another one:", ", ".join(missing))
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
