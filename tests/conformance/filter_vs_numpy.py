# SPDX-License-Identifier: Apache-2.0
"""Recursive filters: the GPU's text, run on the CPU (scan_emulation.py), against the same steps by NumPy, to the bit.

Usage: python filter_vs_numpy.py   (needs cmake, a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)
"""
import ctypes
import sys

import numpy as np

import host_ops_vs_numpy as base
import scan_emulation as emulation

DIRECT, SECTIONS = range(2)
SHIM = r"""
#include "source.h"
static struct gsh_launch shim_launch;
const char *shim_dtype(int d) { return d < GSH_DTYPE_COUNT ? gsh_dtype_name(d) : ""; }
/* Of each operand: ndim strides of the batch, then extents and strides of the core, two each. */
void shim_describe(int loop, int form, int order, int nin, int nout, void **addresses, int ndim, const int64_t *shape,
                   const int64_t *numbers)
{
    shim_launch = (struct gsh_launch){.kind = GSH_LAUNCH_FILTER, .loop = loop, .nin = nin, .nout = nout, .ndim = ndim};
    shim_launch.filter.form = form;
    shim_launch.filter.order = order;
    for (int d = 0; d < ndim; d++)
        shim_launch.shape[d] = shape[d];
    for (int k = 0; k < nin + nout; k++) {
        shim_launch.operands[k].dtype = loop;
        shim_launch.operands[k].address = (uintptr_t)addresses[k];
        for (int d = 0; d < ndim; d++)
            shim_launch.strides[k][d] = *numbers++;
        shim_launch.filter.cores[k] = (struct gsh_core){{numbers[0], numbers[1], 1}, {numbers[2], numbers[3], 0}};
        numbers += 4;
    }
    gsh_launch_collapse(&shim_launch);
}
""" + emulation.PLAN


def build(folder):
    return emulation.declare(base.build_with_texts(folder, SHIM, "codegen", flags=["-w"]), "dtype")


def numbers_of(array, ndim):
    """What shim_describe wants of an operand whose first ndim dimensions are the batch."""
    extents, strides = [*array.shape[ndim:], 1][:2], [*array.strides[ndim:], 0][:2]
    return [*array.strides[:ndim], *extents, *strides]


class Kernels:
    def __init__(self, folder):
        self.shim = build(folder)
        self.dtypes = {self.shim.shim_dtype(d).decode(): d for d in range(32)}
        self.emulator = emulation.Emulator(folder)

    def filter(self, form, order, inputs, outputs):
        """Lines along the last dimension; the table's dimension is its only one. False where declined."""
        ndim = inputs[1].ndim - 1
        shape = inputs[1].shape[:-1]
        operands = [np.broadcast_to(inputs[0], shape + inputs[0].shape), *inputs[1:], *outputs]
        numbers = [number for operand in operands for number in numbers_of(operand, ndim)]
        self.shim.shim_describe(
            self.dtypes[outputs[0].dtype.name], form, order, len(inputs), len(outputs),
            (ctypes.c_void_p * len(operands))(*(x.__array_interface__["data"][0] for x in operands)), ndim,
            (ctypes.c_int64 * (ndim + 1))(*shape), (ctypes.c_int64 * len(numbers))(*numbers))
        if self.shim.shim_plan(ctypes.c_uint64(0)) != 0:
            return False
        self.emulator.run(self.shim.shim_key(0).decode(), lambda: self.shim.shim_text(0).decode(),
                          self.shim.shim_arguments(0), self.shim.shim_grid(0), self.shim.shim_block(0))
        return True


class Parts:
    """Complex numbers as two arrays, multiplied as text books do; of a real array the second one is None."""

    def __init__(self, re, im):
        self.re, self.im = re, im

    def __add__(self, other):
        return Parts(self.re + other.re, None if self.im is None else self.im + other.im)

    def __sub__(self, other):
        return Parts(self.re - other.re, None if self.im is None else self.im - other.im)

    def __mul__(self, other):
        if self.im is None:
            return Parts(self.re * other.re, None)
        return Parts(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def over(self, square):
        return self if self.im is None else Parts(self.re / square, self.im / square)

    def joined(self):
        return self.re if self.im is None else self.re + 1j * self.im


def parts_of(array):
    return Parts(array.real, array.imag) if array.dtype.kind == "c" else Parts(array, None)


def direct(table, order, x, z):
    """One step: y, and the states behind it."""
    b, a = ([parts_of(number) for number in table[start:start + order + 1]] for start in (0, order + 1))
    square = table[-1].real
    y = z[0] + (b[0] * x).over(square)
    z = [z[n + 1] + (x * b[n + 1]).over(square) - (y * a[n + 1]).over(square) for n in range(order - 1)] + \
        [(x * b[order]).over(square) - (y * a[order]).over(square)]
    return y, z


def sections(table, order, x, z):
    z = list(z)
    if x.im is not None:
        zero = x.re.dtype.type(0)
        x = Parts(x.re - x.im * zero, x.im + x.re * zero)
    for s in range(order):
        b = [parts_of(number) for number in table[6 * s:6 * s + 6]]
        y = b[0] * x + z[2 * s]
        z[2 * s], z[2 * s + 1] = b[1] * x - b[4] * y + z[2 * s + 1], b[2] * x - b[5] * y
        x = y
    return x, z


def by_numpy(form, table, order, x, states):
    """The filtered lines, and their last states."""
    step = (direct, sections)[form]
    z = [parts_of(states[..., n]) for n in range(states.shape[-1])]
    made = np.empty_like(x)
    for i in range(x.shape[-1]):
        y, z = step(table, order, parts_of(x[..., i]), z)
        made[..., i] = y.joined()
    return made, np.stack([state.joined() for state in z], -1)


def values(shape, dtype, rng):
    made = rng.normal(0, 1, shape)
    return (made + 1j * rng.normal(0, 1, shape) if dtype.kind == "c" else made).astype(dtype)


def layouts(x):
    """Equal arrays in other orders: lines along memory, across it, apart, and backwards."""
    yield x
    yield np.asfortranarray(x)
    wide = np.repeat(x, 2, -1)[..., ::2]
    yield wide
    yield x[..., ::-1].copy()[..., ::-1]


def check_case(kernels, form, order, shape, dtype, check, rng):
    count = 6 * order if form == SECTIONS else 2 * (order + 1) + (dtype.kind == "c")
    table = values(count, dtype, rng) * dtype.type(0.3)
    states = values((*shape[:-1], 2 * order if form == SECTIONS else order), dtype, rng)
    for x in layouts(values(shape, dtype, rng)):
        for has_states in (False, True):
            want, last = by_numpy(form, table, order, x, states if has_states else np.zeros_like(states))
            got, end = np.zeros_like(x), np.zeros((*shape[:-1], order, 2) if form == SECTIONS else states.shape, dtype)
            first = states.reshape(end.shape)
            done = kernels.filter(form, order, [table, x, first][:2 + has_states], [got, end][:1 + has_states])
            check(done, form, order, shape, dtype, "declined")
            if kernels.emulator.libraries is not None:
                check(np.array_equal(got, want), form, order, shape, dtype, x.strides, has_states)
                check(not has_states or np.array_equal(end.reshape(states.shape), last), form, order, shape, dtype, "states")


def check_limits(kernels, check):
    x = np.ones((3, 4))
    check(not kernels.filter(DIRECT, 33, [np.ones(68), x], [x.copy()]), "an order above the greatest was taken")
    check(not kernels.filter(SECTIONS, 17, [np.ones(102), x], [x.copy()]), "too many sections were taken")
    halves = x.astype(np.float16)
    check(not kernels.filter(DIRECT, 1, [halves[0], halves], [halves.copy()]), "float16 was taken")


def battery(kernels, check):
    rng = np.random.default_rng(3)
    for dtype in map(np.dtype, "fdFD"):
        for form, orders in ((DIRECT, (1, 2, 5)), (SECTIONS, (1, 3))):
            for order in orders:
                for shape in ((50,), (33, 40), (3, 40, 5), (70, 1)):
                    check_case(kernels, form, order, shape, dtype, check, rng)
    check_case(kernels, DIRECT, 32, (40, 70), np.dtype("d"), check, rng)
    check_case(kernels, SECTIONS, 16, (40, 70), np.dtype("d"), check, rng)


if __name__ == "__main__":
    sys.exit(emulation.main(Kernels, battery, check_limits, base.Check()))
