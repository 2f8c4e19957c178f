# SPDX-License-Identifier: Apache-2.0
"""What a group with sinks does rarely: the GPU's text, run on the CPU, judged by NumPy.

Usage: python group_sinks_vs_numpy.py   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

Every group is sum(a + b): two arrays, one step, one sink. group_vs_launches.py compares random groups with the text of a
launch of its own, which shares the tree; here the tree itself is what is looked at.
"""
import ctypes
import sys
import tempfile

import numpy as np

import scan_emulation as emulation
from group_vs_launches import build_library, execute
from host_ops_vs_numpy import DTYPES

DRIVER = r"""
#include "source.h"
#include <string.h>
""" + emulation.STAGES + r"""
static struct gsh_group group;
static uint64_t claims[GSH_ERROR_KINDS];
static struct gsh_errors_found found;
/* `strides`: of a, b, the outputs, and those that a + b would have if it were stored. */
void shim_describe(int dtype, int ndim, int nreduce, const int64_t *shape, const uint64_t *addresses, const int64_t *strides)
{
    enum gsh_dtype loop = (enum gsh_dtype)dtype;
    const struct gsh_group_input sum = {GSH_FROM_STEP, 0, 0}, a = {GSH_FROM_ARRAY, 0, 0}, b = {GSH_FROM_ARRAY, 1, 0};
    size_t size = (size_t)ndim * sizeof(int64_t);
    memset(claims, 0, sizeof(claims));
    memset(&found, 0, sizeof(found));
    group = (struct gsh_group){.ndim = ndim, .nreduce = nreduce, .array_count = 3, .step_count = 1, .sink_count = 1};
    memcpy(group.shape, shape, size);
    for (int k = 0; k < 3; k++) {
        group.arrays[k] = (struct gsh_group_array){.dtype = loop, .address = addresses[k]};
        memcpy(group.arrays[k].strides, strides + k * ndim, size);
    }
    group.steps[0] = (struct gsh_group_step){.op = GSH_OP_ADD, .loop = loop, .in = {a, b}, .out = {loop}};
    group.sinks[0] = (struct gsh_group_sink){.reduction = GSH_REDUCE_SUM, .loop = loop, .in = sum, .array = 2,
                                             .errors = {(uintptr_t)claims, (uintptr_t)&found, 1}};
    memcpy(group.sinks[0].strides, strides + 3 * ndim, size);
}
size_t shim_scratch(void) { return gsh_source_group_scratch(&group); }
int shim_plan(uint64_t scratch) { return gsh_source_group_plan(&group, scratch, &plan); }
static void write_text(unsigned stage, struct gsh_fmt *fmt) { gsh_source_group_text(&group, stage, fmt); }
int shim_met(int kind) { return found.found[kind].sequence == 1; }
float shim_input(int kind, int k) { return found.found[kind].inputs[k].f32; }
"""
OVERFLOW, KINDS = 1, 3  # enum gsh_error_kind


class Battery:
    def __init__(self, folder):
        self.shim, self.emulator = build_library(folder, DRIVER), emulation.Emulator(folder)
        self.shim.shim_input.restype = ctypes.c_float
        self.passed = self.failed = 0

    def check(self, holds, *what):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print("FAILED", *what)

    def sum(self, a, b, kept, order, out_order):
        """Sums over the dimensions behind the first `kept`; a + b lies as if stored with its dimensions in `order`, the
        outermost first, and the outputs in `out_order`."""
        a, b = np.broadcast_arrays(a, b)
        out = np.zeros([a.shape[d] for d in out_order], a.dtype).transpose(np.argsort(out_order))
        stored = np.empty([a.shape[d] for d in order], a.dtype).transpose(np.argsort(order))
        strides = [*a.strides, *b.strides, *out.strides, *[0] * (a.ndim - kept), *stored.strides]
        addresses = [x.__array_interface__["data"][0] for x in (a, b, out)]
        self.shim.shim_describe(DTYPES.index(a.dtype), a.ndim, a.ndim - kept, (ctypes.c_int64 * a.ndim)(*a.shape),
                                (ctypes.c_uint64 * 3)(*addresses), (ctypes.c_int64 * len(strides))(*strides))
        self.check(execute(self.shim, self.emulator), "declined", a.shape)
        return out

    def runs(self):
        return self.emulator.libraries is not None


def tree_sum(x, chain):
    """Along the first axis, as one lane goes through it: rounds of 8, chunks of `chain` rounds."""
    total = np.zeros_like(x[0])
    for start in range(0, len(x), 8 * chain):
        chunk = np.zeros_like(total)
        for begin in range(start, min(start + 8 * chain, len(x)), 8):
            one = np.zeros_like(total)
            for row in x[begin:begin + 8]:
                one = one + row
            chunk = chunk + one
        total = total + chunk
    return total


def check_chains(battery, rng):
    """So many outputs that each is one lane's: its elements are chunks of 16 rounds, to the bit."""
    reduced, outputs = 16 * 8 * 2 + 13, 1 << 17
    a, b = rng.random((1, reduced)), rng.random((outputs, 1))
    out = battery.sum(a, b, 1, (1, 0), (0,))
    if battery.runs():
        x = (a + b).T
        battery.check((tree_sum(x, 16) != tree_sum(x, 1 << 20)).any(), "chunks make no difference")
        battery.check((out == tree_sum(x, 16)).all(), "chunks", np.flatnonzero(out != tree_sum(x, 16))[:5])


def check_scratch(battery, rng):
    """Two segments, so that every total goes through scratch, whose order follows from that of the outputs."""
    for order in ((0, 1, 2, 3), (2, 3, 1, 0), (3, 0, 1, 2)):
        for out_order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            a, b = rng.integers(-99, 99, (2, 3, 5, 9000)), rng.integers(-99, 99, (3, 1, 1))
            out = battery.sum(a, b, 3, order, out_order)
            battery.check(battery.shim.shim_stages() == 2, "no second stage", order, out_order)
            if battery.runs():
                battery.check((out == (a + b).sum(axis=3)).all(), "scratch", order, out_order)


def check_looks(battery):
    """An overflow inside of one round is reported with two finite numbers whose sum it is."""
    big = np.finfo(np.float32).max
    for n in (4096, 4096 * 7 + 3):
        for places in ((0, 1), (1024, 1025), (n // 4 * 4 - 2, n // 4 * 4 - 1), (2048,)):
            a = np.zeros((1, n), np.float32)
            a[0, places] = big
            out = battery.sum(a, np.zeros((1, 1), np.float32), 1, (0, 1), (0,))
            if not battery.runs():
                continue
            with np.errstate(all="ignore"):
                want = a.sum(axis=1)
            battery.check((out == want).all(), "sum", n, places, out)
            met = [bool(battery.shim.shim_met(kind)) for kind in range(KINDS)]
            battery.check(met == [False, bool(np.isinf(want[0])), False], "met", met, n, places)
            if met[OVERFLOW]:
                inputs = np.float32([battery.shim.shim_input(OVERFLOW, k) for k in (0, 1)])
                with np.errstate(all="ignore"):
                    battery.check(np.isfinite(inputs).all() and np.isinf(inputs.sum()), "inputs", inputs)


def battery_of(battery):
    rng = np.random.default_rng(5)
    check_chains(battery, rng)
    check_scratch(battery, rng)
    check_looks(battery)


def main():
    with tempfile.TemporaryDirectory() as folder:
        battery = Battery(folder)
        battery_of(battery)
        battery.emulator.compile()
        battery_of(battery)
        battery.check(len(battery.emulator.used) == battery.emulator.count, "every kernel ran")
        print(f"{battery.emulator.count} kernels")
    print(f"{battery.passed} passed, {battery.failed} failed")
    return battery.failed != 0


if __name__ == "__main__":
    sys.exit(main())
