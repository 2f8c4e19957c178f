# SPDX-License-Identifier: Apache-2.0
"""The GPU kernels' text, run on the CPU, against NumPy itself: every op, cast and reduction, addressing, packs, trees.

Usage: python source_vs_numpy.py [--all | NAME...]   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

The texts are compiled as C++ (scan_emulation.py) and put through the checks that the CPU's own kernels pass
(host_*_vs_numpy.py). By default each op with some of its dtypes, in turn, and some reductions; all of them with --all;
NAME: only these ops and reductions (or `errors`), with all dtypes. What only a GPU can show (its arithmetic, its
library's accuracy, speed) is tests/gpu's business.
"""
import collections
import copy
import ctypes
import itertools
import sys
import tempfile

import numpy as np

import host_casts_vs_numpy as casts
import host_errors_vs_numpy as host_errors
import host_ops_vs_numpy as base
import host_reduce_vs_numpy as reductions
import scan_emulation as emulation
from host_ops_vs_numpy import DTYPES

PLAN = r"""
#include "source.h"
enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch) { (void)launch; return GSH_DECLINED; }
bool gsh_host_vector_use(unsigned bits) { (void)bits; return false; }
""" + emulation.PLAN


def build_library(folder):
    handle = base.build_with_texts(folder, base.SHIM + PLAN, "codegen")
    return emulation.declare(handle, "label", "reduction", "reduction_ufunc")


class Emulated(base.Kernels):
    """First notes the texts that a battery of checks needs, then, once they are compiled, runs them."""

    def __init__(self, folder):
        self.shim = build_library(folder)
        self.ops = self.names(self.shim.shim_label)
        self.reductions = self.names(self.shim.shim_reduction)
        self.emulator = emulation.Emulator(folder)
        self.runs = 0

    def execute(self):
        shim = self.shim
        scratch = (ctypes.c_char * (shim.shim_scratch() + 64))()
        address = (ctypes.addressof(scratch) + 63) // 64 * 64
        assert shim.shim_plan(ctypes.c_uint64(address)) == 0, "no plan"
        for stage in range(shim.shim_stages()):
            self.runs += 1
            self.emulator.run(shim.shim_key(stage), lambda: shim.shim_text(stage).decode(), shim.shim_arguments(stage),
                              shim.shim_grid(stage), shim.shim_block(stage))
        self.scratch = ctypes.string_at(address, shim.shim_scratch())


class Choice:
    """Which loops are checked: all of the named ones, else each op with a few of its dtypes in turn."""

    def __init__(self, everything, names):
        self.everything, self.names, self.turn = everything, names, 0

    def takes(self, name, every=4):
        if self.names:
            return name in self.names
        self.turn += 1
        return self.everything or self.turn % every == 0


def aligned(n, dtype, shift=0):
    raw = np.empty(n * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 32 + shift
    return raw[start:start + n * dtype.itemsize].view(dtype)


def place(values, shift=0):
    out = aligned(values.size, values.dtype, shift)
    out[:] = values
    return out


def part_size(dtype):
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def check_op_layouts(kernels, check, op, loop, rng):
    """Packs with a tail, unaligned arrays, rows and columns of one value, packs along rows, three dimensions, masks."""
    dtype, inputs, outputs, _ = loop
    flat = [rng.permutation(x)[:2401] for x in base.operands(op, inputs, rng, 2401)]
    want = tuple(np.empty(2401, d) for d in outputs)
    kernels.elementwise(op, dtype, [place(x) for x in flat], want)
    for n, shift in itertools.product((2401, 2400, 1, 2), (0, 1, 3)):
        got = tuple(aligned(n, d, shift * part_size(d)) for d in outputs)
        kernels.elementwise(op, dtype, [place(x[:n], shift * part_size(x.dtype)) for x in flat], got)
        check(same_bits(op, got, [w[:n] for w in want]), op, dtype, "packs", n, shift)
    grids = [place(x[:2400]).reshape(20, 30, 4) for x in flat]
    views = {"rows": [g.reshape(20, 120)[:, :60] for g in grids],
             "odd rows": [g.reshape(20, 120)[:, 1:60] for g in grids],
             "transposed": [g.T for g in grids], "backwards": [g[::-1, ::2, ::-1] for g in grids],
             "one column": [grids[0].reshape(20, 120)] + [g.reshape(20, 120)[:, :1] for g in grids[1:]],
             "one row": [g.reshape(20, 120)[:1] for g in grids[:-1]] + [grids[-1].reshape(20, 120)]}
    for name, view in views.items():
        shape = np.broadcast_shapes(*(v.shape for v in view))
        view = [np.broadcast_to(v, shape) for v in view]
        copies = [np.ascontiguousarray(v).ravel() for v in view]
        dense = tuple(np.empty(copies[0].size, d) for d in outputs)
        kernels.elementwise(op, dtype, copies, dense)
        for collapse in (True, False):
            got = tuple(np.empty(shape, d) for d in outputs)
            kernels.elementwise(op, dtype, view, got, collapse)
            check(same_bits(op, got, [d.reshape(shape) for d in dense]), op, dtype, name, collapse)
        mask = np.broadcast_to(rng.integers(0, 2, shape[-1]).astype(bool), shape)
        got = tuple(np.zeros(shape, d) for d in outputs)
        kernels.elementwise(op, dtype, view, got, mask=mask)
        masked = [np.where(mask, d.reshape(shape), np.zeros((), d.dtype)) for d in dense]
        check(same_bits(op, got, masked), op, dtype, name, "mask")


def same_bits(op, got, want):
    """Whether all bits agree; of ops that compute, which NaN comes out of two is open to the compiler."""
    if op in base.MOVES or got[0].dtype.kind not in "fc":
        return all((base.bits(g) == base.bits(w)).all() for g, w in zip(got, want))
    return all(base.same_but_for_nans(g, w).all() for g, w in zip(got, want))


def check_ops(kernels, check, rng, choice, worst, missing):
    for op in kernels.ops:
        for loop in kernels.loops(op):
            if op == "arange" or not choice.takes(op, 5 if len(list(kernels.loops(op))) > 4 else 2):
                continue
            if op in ("power", "float_power") and loop[0].kind == "c":
                check_complex_power(kernels, check, rng, op, loop[0])
            else:
                base.check_op(kernels, check, rng, worst, missing, op, loop)


def check_complex_power(kernels, check, rng, op, dtype):
    """e^(b log a) in both: an ulp of the exponent is as many of the result as the exponent is large."""
    parts = rng.normal(0, 3, (4, 4000))
    a, b = (parts[0] + 1j * parts[1]).astype(dtype), (parts[2] + 1j * parts[3]).astype(dtype)
    b[::3] = b[::3].real.round()
    a[:8], b[:8] = [0, 0, 0, 1, 2, np.inf, np.nan, -1j], [0, 2, -1, 1e30, 0.5, 2, 1, 3]
    got, want = kernels.elementwise(op, dtype, [a, b], np.empty_like(a)), getattr(np, op)(a, b)
    check((base.isnan(got) == base.isnan(want)).all(), op, dtype, "NaN")
    fine = np.isfinite(want) & (np.abs(a) > 0)
    size = 8 + 4 * np.abs(b[fine].astype("D") * np.log(a[fine].astype("D")))
    off = base.ulp_distances(got[fine], want[fine]) / size
    at = off.argmax()
    check(off[at] <= 1, op, dtype, a[fine][at], b[fine][at], got[fine][at], want[fine][at], off[at])


def check_complex_functions(kernels, check, rng, choice, worst):
    """Numbers of all magnitudes, near overflow, near 1 and near the axes."""
    n, normal = 3000, rng.normal(0, 1, (6, 3000))
    large, small = rng.uniform(-760, 760, n), rng.choice([1, 1e-240, 1e-100, 1e3], n) * normal[0]
    far = 10.0 ** rng.uniform(-300, 300, (2, n))
    values = np.concatenate([large + 1j * small, small + 1j * large, normal[1] + 1j * normal[2], far[0] + 1j * far[1],
                             (normal[3] + 1j * normal[4]) * far[0], 1 + far[1] ** 0.05 * (normal[5] * 1e-15 + 1e-15j)])
    for op in kernels.ops:
        for dtype, inputs, outputs, ulp in kernels.loops(op):
            if dtype.kind == "c" and len(inputs) == 1 and ulp > 2 and choice.takes(op, 1):
                flat = [values.astype(dtype)]
                got = kernels.elementwise(op, dtype, flat, np.empty_like(flat[0]))
                base.compare(check, op, dtype, ulp, [got], [getattr(np, op)(flat[0])], flat, worst, "magnitudes")


def check_layouts(kernels, check, rng, choice):
    for op, letters in (("add", "?bhildeFD"), ("divmod", "bd"), ("where", "bdD"), ("copy", "F"), ("frexp", "f"),
                        ("left_shift", "i"), ("less", "eD")):
        for loop in kernels.loops(op):
            if loop[0].char in letters and choice.takes(op, 1):
                check_op_layouts(kernels, check, op, loop, rng)


def check_wide(kernels, check):
    """Up to 16 dimensions; strides beyond 32 bits."""
    for ndim in (4, 7, 16):
        shape = (2,) * min(ndim, 12) + (1,) * (ndim - 12)
        array = np.arange(2 * np.prod(shape), dtype=np.int32).reshape(shape + (2,))[..., 0].transpose()
        got = kernels.elementwise("negative", array.dtype, [array], np.empty(array.shape, np.int32), collapse=False)
        check.same_bits(got, -array, [array], "negative", ndim, "dimensions")
        axes = tuple(range(0, min(ndim, 12), 2))
        moved = kernels.reduce("sum", np.dtype("i8"), array, axes, np.dtype("i8"), collapse=False)
        check(np.array_equal(moved, array.sum(axis=axes)), "sum", ndim, "dimensions")
    far = np.lib.stride_tricks.as_strided(np.arange(6.0), (1, 3, 2), (1 << 40, 16, 8))
    got = kernels.elementwise("negative", far.dtype, [far], np.empty((1, 3, 2)), collapse=False)
    check.same_bits(got, -far, [far], "a long stride")


def check_casts(kernels, check, rng, choice):
    for source, target in itertools.product(DTYPES, DTYPES):
        if choice.takes("copy", 9):
            casts.check_pair(kernels, check, rng, source, target)
    casts.check_mixed(kernels, check)


def check_reductions(kernels, check, rng, choice, ratios):
    shapes = [(9,), (300,), (20000,), (3, 5000), (200, 300), (5000, 3), (40, 7, 30), (2001, 40), (6, 1, 9000)]
    for name, dtype in reductions.rows(kernels):
        if not choice.takes(name):
            continue
        for shape in shapes:
            array = reductions.moderate_values(dtype, shape, rng)
            views = [array] if array.ndim == 1 else [array, array.T]
            for view in views:
                for axes in ((0,), (view.ndim - 1,), tuple(range(view.ndim))):
                    check_reduction(kernels, check, name, dtype, view, axes, ratios)


def check_reduction(kernels, check, name, dtype, view, axes, ratios):
    if name in reductions.REDUCED_BY_METHOD and len(axes) > 1:
        return
    if name in reductions.SUMS and dtype.kind in "fc":
        reductions.check_float_sum(kernels, check, name, dtype, view, axes, ratios)
        return
    got, want = reductions.reduce_both(kernels, name, dtype, view, axes)
    check(reductions.same(got, want), name, dtype, view.shape, view.strides, axes, got, want)


def check_which_are_ordered(kernels, check):
    """Products are joined in order only where that may matter: it takes long. The flags come last in the scratch."""
    for dtype, large in ((np.dtype("f"), 2.0**100), (np.dtype("d"), 2.0**900)):
        cases = {"too small": (np.full(3000, 0.5), 0), "too large": (np.full(3000, 1.5), 0), "within": (np.linspace(0.9, 1.1, 3000), 0),
                 "a zero": (np.append(np.ones(2999), 0), 0), "an infinity": (np.append(np.ones(2999), np.inf), 0),
                 "not a number": (np.append(np.full(2999, 0.9), np.nan), 0),
                 "a zero beside large ones": (np.append(np.full(2999, large), 0), 1),
                 "there and back": (np.repeat([1 / large, large], 1500), 1)}
        for name, (line, flag) in cases.items():
            grid = np.array([line, np.ones(3000)] * 20, dtype)
            for array, axis in ((grid, 1), (np.ascontiguousarray(grid.T), 0)):
                kernels.reduce("prod", dtype, array, (axis,), dtype)
                flags = list(kernels.scratch[-40:])
                check(flags == [flag, 0] * 20 or kernels.emulator.libraries is None, "products in order", name, dtype, axis, flags)


class Errors(host_errors.Errors):
    def execute(self):
        found = super().execute()
        # kernels that have not run yet: one of each, for the checks to look at
        return dict.fromkeys(host_errors.KINDS, bytes(48)) if self.kernels.emulator.libraries is None else found


def check_errors(kernels, check, rng, everything):
    some = copy.copy(kernels)
    if not everything:
        names = ("add", "divide", "log", "floor_divide", "reciprocal", "ldexp", "spacing", "copy")
        some.ops = {name: code for name, code in kernels.ops.items() if name in names}
    errors, extra = Errors(some), collections.Counter()
    host_errors.check_elements(errors, check, rng, extra)
    if everything:
        errors.kernels = kernels
        host_errors.check_casts(errors, check, rng, extra)
    errors.kernels = kernels
    host_errors.check_blocks(errors, check)
    host_errors.check_reductions(errors, check)


def battery(kernels, check, everything, names):
    rng, ratios, worst, missing = np.random.default_rng(7), {}, {}, []
    choice = Choice(everything, names)
    check_ops(kernels, check, rng, choice, worst, missing)
    check_complex_functions(kernels, check, rng, choice, worst)
    check_layouts(kernels, check, rng, choice)
    if not names:
        check_wide(kernels, check)
        base.check_arange(kernels, check)
        base.check_constants(kernels, check, rng)
    if not names or "copy" in names:
        check_casts(kernels, check, rng, choice)
    check_reductions(kernels, check, rng, choice, ratios)
    if not names or "prod" in names:
        reductions.check_products(kernels, check, np.random.default_rng(11))
        check_which_are_ordered(kernels, check)
    if not names or "errors" in names:
        check_errors(kernels, check, rng, everything)
    if not names:
        # of hypot and gcd NumPy drops the sign of a negative `initial` only where anything is joined to it
        some = copy.copy(kernels)
        some.reductions = {name: code for name, code in kernels.reductions.items() if name not in ("hypot", "gcd") and (
            everything or name in ("sum", "max", "all", "bit_and", "logaddexp"))}
        reductions.check_beginnings(some, check, rng)
        reductions.check_specials(some if not everything else kernels, check, rng)
        reductions.check_raw_bools(kernels, check, rng)
        if everything:
            reductions.check_casts(kernels, check, rng)
    return ratios, worst, missing


def main():
    np.seterr(all="ignore")
    everything, names = "--all" in sys.argv, [a for a in sys.argv[1:] if not a.startswith("-")]
    with tempfile.TemporaryDirectory() as folder:
        kernels = Emulated(folder)
        collecting = base.Check()
        collecting.quiet = True
        battery(kernels, collecting, everything, names)
        kernels.emulator.compile()
        kernels.runs, check = 0, base.Check()
        ratios, worst, missing = battery(kernels, check, everything, names)
        count, runs = kernels.emulator.count, kernels.runs
        check(len(kernels.emulator.used) == count, "every kernel ran")
    print(f"{count} kernels, {runs} runs; NumPy {np.__version__}; largest distance in ulp:",
          ", ".join(f"{op} {dtype} {d:.3g}" for (op, dtype), d in worst.items()))
    if missing:
        print("not compared, as this NumPy has no such loop:", ", ".join(missing))
    reductions.judge_sums(check, ratios)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
