# SPDX-License-Identifier: Apache-2.0
"""The GPU kernels' text, run on the CPU, against NumPy itself: checks addressing, packs, tails, casts and trees.

Usage: python source_vs_numpy.py   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

The text of each kernel is compiled as C++ with a few lines that stand in for CUDA: a block's threads are fibers that
run in turn from one barrier or shuffle to the next. What only a GPU can show (its arithmetic, its libraries'
accuracy, speed) is tests/gpu's business.
"""
import collections
import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base

PLAN = r"""
#include "source.h"
static struct gsh_source_plan plan;
static char text[1 << 16];
size_t shim_scratch(void) { return gsh_source_scratch(&shim_launch); }
int shim_plan(uint64_t scratch) { return gsh_source_plan(&shim_launch, scratch, &plan); }
unsigned shim_stages(void) { return plan.stage_count; }
const char *shim_key(int stage) { return plan.stages[stage].key; }
unsigned shim_grid(int stage) { return plan.stages[stage].grid[0]; }
unsigned shim_block(int stage) { return plan.stages[stage].block[0]; }
const void *shim_arguments(int stage) { return plan.stages[stage].arguments; }
const char *shim_text(int stage)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_text(&shim_launch, stage, &fmt);
    return fmt.required < sizeof(text) ? text : NULL;
}
"""

CUDA = r"""
#include <cmath>
#include <cstring>
#include <ucontext.h>
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(threads)
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
static dim3 blockIdx, gridDim, threadIdx;
template <class To, class From> static To as(From x) { To y; static_assert(sizeof x == sizeof y); memcpy(&y, &x, sizeof y); return y; }
static float __int_as_float(int x) { return as<float>(x); }
static int __float_as_int(float x) { return as<int>(x); }
static double __longlong_as_double(long long x) { return as<double>(x); }
static long long __double_as_longlong(double x) { return as<long long>(x); }
static ucontext_t fibers[256], scheduler;
static bool done[256];
static char stacks[256][1 << 14];
static long long exchanged[256];
static void (*entry)(const void *);
static const void *entry_arguments;
static void yield_fiber() { swapcontext(&fibers[threadIdx.x], &scheduler); }
static void __syncthreads() { yield_fiber(); }
template <class V> static V __shfl_down_sync(unsigned, V x, unsigned by, unsigned width)
{
    unsigned me = threadIdx.x, lane = me % width, from = lane + by < width ? me + by : me;
    memcpy(&exchanged[me], &x, sizeof x);
    yield_fiber();
    memcpy(&x, &exchanged[from], sizeof x);
    yield_fiber();
    return x;
}
static void fiber_main() { entry(entry_arguments); done[threadIdx.x] = true; }
static void run_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++) {
        getcontext(&fibers[t]);
        fibers[t].uc_stack.ss_sp = stacks[t];
        fibers[t].uc_stack.ss_size = sizeof stacks[t];
        fibers[t].uc_link = &scheduler;
        makecontext(&fibers[t], fiber_main, 0);
        done[t] = false;
    }
    for (bool alive = true; alive;) {
        alive = false;
        for (unsigned t = 0; t < threads; t++)
            if (!done[t]) {
                threadIdx.x = t;
                swapcontext(&scheduler, &fibers[t]);
                alive = alive || !done[t];
            }
    }
}
static void run_grid(void (*kernel)(const void *), const void *arguments, unsigned blocks, unsigned threads)
{
    entry = kernel;
    entry_arguments = arguments;
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        run_block(threads);
}
"""

KERNEL = """
#undef FN
#undef INFINITE
#undef NEUTRAL
namespace k{id} {{
#define gsh_kernel gsh_kernel_{id}
{text}
#undef gsh_kernel
static void call(const void *arguments) {{ gsh_kernel_{id}(*(const Args *)arguments); }}
}}
extern "C" void run_{id}(const void *arguments, unsigned blocks, unsigned threads)
{{
    run_grid(k{id}::call, arguments, blocks, threads);
}}
"""


class Emulated(base.Kernels):
    """First collects the texts that a battery of checks needs, then, once compiled, runs them."""

    def __init__(self, folder):
        self.folder, self.ids, self.texts, self.compiled = folder, {}, [], None
        self.uses = collections.Counter()
        super().__init__(folder, PLAN)
        for name in ("shim_key", "shim_text"):
            getattr(self.shim, name).restype = ctypes.c_char_p
        self.shim.shim_scratch.restype = ctypes.c_size_t
        self.shim.shim_arguments.restype = ctypes.c_void_p

    def compile(self):
        source, library = pathlib.Path(self.folder, "kernels.cpp"), pathlib.Path(self.folder, "kernels.so")
        source.write_text(CUDA + "".join(KERNEL.format(id=i, text=t) for i, t in enumerate(self.texts)))
        compiler = os.environ.get("CXX", "c++").split()
        flags = "-std=c++17 -O1 -w -fPIC -shared -fwrapv -ffp-contract=off -fno-strict-aliasing".split()
        subprocess.run([*compiler, *flags, "-o", library, source], check=True)
        self.compiled = ctypes.CDLL(str(library))

    def execute(self):
        scratch = (ctypes.c_char * max(self.shim.shim_scratch(), 16))()
        assert self.shim.shim_plan(ctypes.c_uint64(ctypes.addressof(scratch))) == 0, "no plan"
        for stage in range(self.shim.shim_stages()):
            key = self.shim.shim_key(stage)
            if self.compiled is None:
                if key not in self.ids:
                    self.ids[key] = len(self.texts)
                    self.texts.append(self.shim.shim_text(stage).decode())
                continue
            self.uses[key] += 1
            getattr(self.compiled, f"run_{self.ids[key]}")(
                ctypes.c_void_p(self.shim.shim_arguments(stage)), self.shim.shim_grid(stage), self.shim.shim_block(stage))


def aligned(n, dtype, shift=0):
    raw = np.empty(n * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 32 + shift
    return raw[start:start + n * dtype.itemsize].view(dtype)


def place(values, shift=0):
    out = aligned(values.size, values.dtype, shift)
    out[:] = values
    return out


def check_layouts(kernels, check, op, dtype, flat):
    """Packs with a tail, unaligned, scalars, constants, strides in two dimensions, in place."""
    function, nin = base.numpy_function(op), len(flat)
    n = flat[0].size
    want = function(*flat)
    for shift in (0, dtype.itemsize):
        out = aligned(n, want.dtype, shift // dtype.itemsize * want.dtype.itemsize)
        inputs = [place(x, shift) for x in flat]
        check.same_bits(kernels.elementwise(op, dtype, inputs, out), want, flat, op, dtype, "packs", shift)
    value = flat[-1][3]
    for second in (value, np.broadcast_to(place(np.full(1, value)), n)):
        mixed = [place(flat[0]), second] if nin == 2 else [second]
        full = [flat[0], np.full(n, value)][2 - nin:]
        got = kernels.elementwise(op, dtype, mixed, aligned(n, want.dtype))
        check.same_bits(got, function(*full), full, op, dtype, "scalar")
    grids = [place(x[:n // 6 * 6]).reshape(-1, 6) for x in flat]
    views = [g[::-1, ::2].T for g in grids]
    out = np.empty((3, 2 * grids[0].shape[0]), want.dtype)[:, ::2]
    check.same_bits(kernels.elementwise(op, dtype, views, out).copy(), function(*views), views, op, dtype, "strided")
    if want.dtype == dtype:
        inputs = [place(x) for x in flat]
        check.same_bits(kernels.elementwise(op, dtype, inputs, inputs[0]), want, flat, op, dtype, "in place")


def within_ulp(check, ulp):
    def same(got, want, inputs, *details):
        distance = base.ulp_distance(got, want)
        check(distance <= ulp, *details, "ulp", distance)
    result = type("Within", (), {"same_bits": staticmethod(same)})
    return result if ulp else check


def check_ops(kernels, check, rng):
    for op, code in kernels.ops.items():
        nin, ulp = kernels.shim.shim_nin(code), kernels.shim.shim_ulp(code)
        for d, dtype in enumerate(base.DTYPES):
            if op == "arange" or not kernels.shim.shim_dtypes(code) >> d & 1:
                continue
            flat = [x[:2500 - 7] if nin == 2 else x[:1500 - 7] for x in base.pairs(dtype, nin, rng)]
            check_layouts(kernels, within_ulp(check, ulp), op, dtype, flat)


def check_reductions(kernels, check, rng, ratios):
    arrays = [(9,), (300,), (20000,), (70000,), (3, 5000), (200, 300), (5000, 3), (40, 7, 30), (2000, 40), (6, 1, 9000)]
    for name, code in kernels.reductions.items():
        for d, dtype in enumerate(base.DTYPES):
            for shape in arrays:
                array = base.random_values(dtype, int(np.prod(shape)) + 1, rng)[:-1].reshape(shape)
                if dtype.kind == "f":
                    array = ((1 + rng.normal(0, 0.001, shape)) * rng.choice([-1, 1], shape)).astype(dtype)
                if dtype.kind == "b" and name == "all":
                    array |= rng.random(shape) < 0.99
                for axes in ((0,), (array.ndim - 1,), tuple(range(array.ndim))):
                    if name in ("sum", "prod") and dtype.kind == "f":
                        base.check_float_sum(kernels, check, name, dtype, array, axes, ratios)
                        continue
                    got, want = base.reduce_both(kernels, name, dtype, array, axes)
                    check(np.array_equal(got, want), name, dtype, shape, axes, got, want)
    for name, axes in itertools.product(("sum", "prod", "any", "all"), ((1,), (0, 1))):
        got, want = base.reduce_both(kernels, name, np.dtype("f8"), np.empty((3, 0)), axes)
        check(np.array_equal(got, want), name, "empty", got, want)
    for dtype, name in itertools.product(base.DTYPES[3:], ("max", "min", "sum", "any")):
        array = np.array([1, np.nan, 3] * 1000, dtype)
        got, want = base.reduce_both(kernels, name, dtype, array, (0,))
        check(np.array_equal(got, want, equal_nan=dtype.kind == "f" and got.dtype.kind == "f"), name, "nan", got, want)


def check_wide(kernels, check):
    """64-bit indices: a broadcast input of 2^32 elements is too slow here, but NDIM up to 16 is not."""
    for ndim in (4, 7, 16):
        shape = (2,) * min(ndim, 12) + (1,) * (ndim - 12)
        array = np.arange(2 * np.prod(shape), dtype=np.int32).reshape(shape + (2,))[..., 0].transpose()
        got = kernels.elementwise("negative", array.dtype, [array], np.empty(array.shape, np.int32), collapse=False)
        check.same_bits(got, -array, [array], "negative", ndim, "dimensions")
        axes = tuple(range(0, min(ndim, 12), 2))
        want = array.sum(axis=axes)
        moved = kernels.reduce("sum", np.dtype("i8"), array, axes, np.dtype("i8"), collapse=False)
        check(np.array_equal(moved, want), "sum", ndim, "dimensions")


def battery(kernels, check):
    rng, ratios = np.random.default_rng(7), []
    check_ops(kernels, check, rng)
    base.check_casts(kernels, check, rng)
    base.check_arange(kernels, check)
    check_reductions(kernels, check, rng, ratios)
    check_wide(kernels, check)
    return ratios


def main():
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        kernels = Emulated(folder)
        collecting = base.Check()
        collecting.quiet = True
        battery(kernels, collecting)
        kernels.compile()
        check = base.Check()
        ratios = battery(kernels, check)
    check(set(kernels.uses) == set(kernels.ids), "every kernel ran")
    ours, theirs = (max(x) for x in zip(*ratios))
    print(f"{len(kernels.texts)} kernels, {sum(kernels.uses.values())} runs; NumPy {np.__version__}")
    print(f"largest error of a sum over its magnitudes: {ours:.2e}, NumPy's {theirs:.2e}")
    check(ours <= theirs * 1.5, "sums are less exact than NumPy's")
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
