# SPDX-License-Identifier: Apache-2.0
"""Products of integers, bools and float16: the GPU's text, run on the CPU (scan_emulation.py), against NumPy, to the bit.

Usage: python product_vs_numpy.py   (needs cmake, a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)
"""
import ctypes
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base
import scan_emulation as emulation

DTYPES = [np.dtype(c) for c in "?bhilBHILe"]
SHIM = r"""
#include "source.h"
static struct gsh_launch shim_launch;
const char *shim_dtype(int d) { return d < GSH_DTYPE_COUNT ? gsh_dtype_name(d) : ""; }
void shim_describe(int loop, void **addresses, int ndim, const int64_t *shape, const int64_t *strides, const int64_t *extents,
                   const int64_t *steps)
{
    shim_launch = (struct gsh_launch){.kind = GSH_LAUNCH_GEMM, .loop = loop, .nin = 2, .nout = 1, .ndim = ndim};
    shim_launch.gemm = (struct gsh_gemm){extents[0], extents[1], extents[2], steps[0], steps[1], steps[2], steps[3], steps[4],
                                         steps[5], 1, 0, false, false, GSH_GEMM_GE, 0};
    for (int d = 0; d < ndim; d++)
        shim_launch.shape[d] = shape[d];
    for (int k = 0; k < 3; k++) {
        shim_launch.operands[k].dtype = loop;
        shim_launch.operands[k].address = (uintptr_t)addresses[k];
        for (int d = 0; d < ndim; d++)
            shim_launch.strides[k][d] = strides[k * ndim + d];
    }
    gsh_launch_collapse(&shim_launch);
}
""" + emulation.PLAN


def build(folder):
    return emulation.declare(base.build_with_texts(folder, SHIM, "codegen", flags=["-w"]), "dtype")


class Kernels:
    def __init__(self, folder):
        self.shim = build(folder)
        self.dtypes = {self.shim.shim_dtype(d).decode(): d for d in range(32)}
        self.emulator = emulation.Emulator(folder)

    def multiply(self, a, b, c):
        """c = a @ b; the batch is broadcast to c's. False where declined."""
        shape, size = c.shape[:-2], c.itemsize
        operands = [np.broadcast_to(x, shape + x.shape[-2:]) for x in (a, b)] + [c]
        strides = [s for x in operands for s in x.strides[:-2]]
        steps = [s // size for x in operands for s in x.strides[-2:]]
        self.shim.shim_describe(
            self.dtypes[c.dtype.name], (ctypes.c_void_p * 3)(*(x.__array_interface__["data"][0] for x in operands)), len(shape),
            (ctypes.c_int64 * (len(shape) + 1))(*shape), (ctypes.c_int64 * (len(strides) + 1))(*strides),
            (ctypes.c_int64 * 3)(c.shape[-2], c.shape[-1], a.shape[-1]), (ctypes.c_int64 * 6)(*steps))
        if self.shim.shim_plan(ctypes.c_uint64(0)) != 0:
            return False
        self.emulator.run(self.shim.shim_key(0).decode(), lambda: self.shim.shim_text(0).decode(),
                          self.shim.shim_arguments(0), self.shim.shim_grid(0), self.shim.shim_block(0))
        return True


def values(dtype, shape, rng):
    if dtype.kind == "f":
        return rng.normal(0, 1, shape).astype(dtype)
    return rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0] if dtype.kind != "b" else rng.random(shape) < 0.2


def pairs(dtype, rng):
    """Operands of all orders, steps and batches; extents below, at and above a tile's."""
    for m, k, n in ((1, 1, 1), (3, 5, 2), (64, 16, 64), (65, 17, 63), (130, 40, 1), (1, 33, 70)):
        yield values(dtype, (m, k), rng), values(dtype, (k, n), rng)
        yield values(dtype, (k, m), rng).T, values(dtype, (n, k), rng).T[::-1]
    a, b = values(dtype, (3, 1, 20, 18), rng), values(dtype, (4, 18, 24), rng)
    yield a, b
    yield a[::-1, :, ::2], b[:, :, ::-3]
    yield a[0, 0], b
    yield np.broadcast_to(a[0, 0, :1], (20, 18)), b[0]


def check_dtype(kernels, dtype, check):
    rng = np.random.default_rng(3)
    for a, b in pairs(dtype, rng):
        with np.errstate(all="ignore"):
            want = np.matmul(a, b)
        for is_flipped in (False, True):
            c = np.zeros_like(want)
            if is_flipped:
                c = np.zeros(c.shape[:-2] + c.shape[:-3:-1], dtype).swapaxes(-1, -2)
            done = kernels.multiply(a, b, c)
            check(done, dtype, a.shape, b.shape, "declined")
            if kernels.emulator.libraries is not None:
                check(c.tobytes() == want.tobytes(), dtype, a.shape, a.strides, b.shape, b.strides)


def check_limits(kernels, check):
    """What is left to NumPy: other dtypes, and one tile of a very long sum."""
    a = np.ones((2, 70000), np.int32)
    check(not kernels.multiply(a, a.T, np.zeros((2, 2), np.int32)), "a long sum was taken")
    wide = np.ones((40, 40))
    check(not kernels.multiply(wide, wide, np.ones((40, 40))), "float64 was taken")


def main():
    check = base.Check()
    with tempfile.TemporaryDirectory() as folder:
        kernels = Kernels(folder)
        for turn in range(2):
            for dtype in DTYPES:
                check_dtype(kernels, dtype, check)
            if turn == 0:
                kernels.emulator.compile()
        check_limits(kernels, check)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
