# SPDX-License-Identifier: Apache-2.0
"""Rank filters: the GPU's text, run on the CPU (scan_emulation.py), against a sort of each window by NumPy.

Usage: python selection_vs_numpy.py   (needs cmake, a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)
"""
import ctypes
import sys

import numpy as np

import host_ops_vs_numpy as base
import scan_emulation as emulation

SHIM = r"""
#include "source.h"
static struct gsh_launch shim_launch;
const char *shim_dtype(int d) { return d < GSH_DTYPE_COUNT ? gsh_dtype_name(d) : ""; }
void shim_describe(int loop, int count, int rank, void **addresses, int ndim, const int64_t *shape, const int64_t *in,
                   const int64_t *out)
{
    shim_launch = (struct gsh_launch){.kind = GSH_LAUNCH_SELECT, .loop = loop, .nin = 2, .nout = 1, .ndim = ndim};
    shim_launch.selection = (struct gsh_selection){{(int64_t)gsh_dtype_size(loop), 1 << 20}, count, rank};
    for (int k = 0; k < 3; k++)
        shim_launch.operands[k] = (struct gsh_operand){.dtype = k == 1 ? GSH_INT64 : loop, .address = (uintptr_t)addresses[k]};
    for (int d = 0; d < ndim; d++) {
        shim_launch.shape[d] = shape[d];
        shim_launch.strides[0][d] = in[d];
        shim_launch.strides[2][d] = out[d];
    }
    gsh_launch_collapse(&shim_launch);
}
""" + emulation.PLAN
DTYPES = "?bhilBHILfd"


class Kernels:
    def __init__(self, folder):
        self.shim = emulation.declare(base.build_with_texts(folder, SHIM, "codegen", flags=["-w"]), "dtype")
        self.dtypes = {self.shim.shim_dtype(d).decode(): d for d in range(32)}
        self.emulator = emulation.Emulator(folder)

    def select(self, padded, offsets, rank, output):
        """False where declined."""
        addresses = (ctypes.c_void_p * 3)(*(x.__array_interface__["data"][0] for x in (padded, offsets, output)))
        numbers = [(ctypes.c_int64 * (output.ndim + 1))(*part) for part in (output.shape, padded.strides, output.strides)]
        self.shim.shim_describe(self.dtypes[padded.dtype.name], len(offsets), rank, addresses, output.ndim, *numbers)
        if self.shim.shim_plan(ctypes.c_uint64(0)) != 0:
            return False
        self.emulator.run(self.shim.shim_key(0).decode(), lambda: self.shim.shim_text(0).decode(),
                          self.shim.shim_arguments(0), self.shim.shim_grid(0), self.shim.shim_block(0))
        return True


def windows_of(padded, places, shape):
    return np.stack([padded[tuple(slice(start, start + extent) for start, extent in zip(place, shape))] for place in places], -1)


def check_case(kernels, dtype, extents, shape, count, rank, check, rng):
    """Some `count` places, of which some may be alike, in windows of those extents."""
    padded = rng.integers(-50, 50, [extent + length - 1 for extent, length in zip(extents, shape)])
    padded = (np.abs(padded) if dtype.kind in "ub" else padded).astype(dtype)
    places = np.stack([rng.integers(0, extent, count) for extent in extents], -1)
    offsets = (places * padded.strides).sum(-1) // padded.itemsize
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
    for got in (np.zeros(shape, dtype), wide[..., ::2], wide[..., ::-2]):
        done = kernels.select(padded, offsets, rank, got)
        check(done, dtype, extents, shape, count, rank, "declined")
        if kernels.emulator.libraries is not None:
            want = np.sort(windows_of(padded, places, shape), -1)[..., rank]
            check(np.array_equal(got, want), dtype, extents, shape, count, rank, got.strides)


def check_limits(kernels, check):
    x = np.ones(200)
    for count, rank, dtype in ((82, 3, "d"), (5, 5, "d"), (5, -1, "d"), (5, 2, "e"), (5, 2, "D")):
        offsets = np.arange(count)
        check(not kernels.select(x.astype(dtype), offsets, rank, x[:100].astype(dtype)), count, rank, dtype, "was taken")


def battery(kernels, check):
    rng = np.random.default_rng(5)
    for dtype in map(np.dtype, DTYPES):
        for count in (1, 2, 3, 9, 25):
            for rank in {0, count // 2, count // 3, count - 1}:
                check_case(kernels, dtype, (5, 5), (13, 40), count, rank, check, rng)
        check_case(kernels, dtype, (70,), (600,), 81, int(rng.integers(81)), check, rng)
        check_case(kernels, dtype, (3, 2, 4), (5, 7, 11), 18, 5, check, rng)


if __name__ == "__main__":
    sys.exit(emulation.main(Kernels, battery, check_limits, base.Check()))
