# SPDX-License-Identifier: Apache-2.0
"""The CPU's casts against NumPy's, all pairs of dtypes, to the bit: out of range, NaN with its payload, strides.

Usage: python host_casts_vs_numpy.py   (needs a C compiler as $CC or cc, and NumPy)

Only floats out of range to uint32 are NumPy's contiguous loop's, not its strided one's, which differs.
"""
import itertools
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base


def values_to_cast(dtype, rng):
    """Special values, random ones, and floats at the edges of every integer and of float16 and float32."""
    values = [base.specials(dtype), base.random_values(dtype, 3000, rng)]
    if dtype.kind == "f":
        word = base.word(dtype)
        edges = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1)]
        edges += [65504, 65519.99, 65520, 2.0**-24, 2.0**-25, 2.0**-25 * 1.001, 3 * 2.0**-25, 2.0**-14 * (1 - 2.0**-11),
                  float(np.finfo("f4").max), float(np.finfo("f4").max) * (1 + 2.0**-25), 2.0**-149, 2.0**-150, 1.4e-45]
        edges = np.array(edges + [-e for e in edges], "f8").astype(dtype)
        values += [edges, np.nextafter(edges, dtype.type(0)), np.nextafter(edges, dtype.type(np.inf))]
        quiet = np.array(np.nan, dtype).view(word).item()
        payloads = [quiet ^ (1 << k) for k in range(np.finfo(dtype).nmant)]  # signalling ones among them
        values.append(np.array(payloads, word).view(dtype))
    return np.concatenate(values)


def contiguous_astype(values, target):
    """As the vector loop casts all of them, without its remainder at the end."""
    padded = np.concatenate([values, np.zeros(64, values.dtype)])
    return padded.astype(target)[:values.size]


def check_pair(kernels, check, rng, source, target):
    values = values_to_cast(source, rng)
    for step in (1, 3, -1):
        view = values[::step]
        want = contiguous_astype(np.ascontiguousarray(view), target)
        for out in (np.empty(want.shape, target), np.empty((want.size, 2), target)[:, 1]):
            got = kernels.elementwise("copy", target, [view], out).copy()
            same = (base.bits(got) == base.bits(want)).all(axis=-1)
            where = np.argwhere(~same)
            at = where[0][0] if len(where) else 0
            check(not len(where), "cast", source, target, step, len(where), "differ, first", view[at],
                  base.bits(view[at:at + 1]), "got", got[at], base.bits(got[at:at + 1]), "want",
                  base.bits(want[at:at + 1]))
    got = kernels.elementwise("copy", target, [values[1]], np.empty((5, 7), target))
    check((got == values[1].astype(target)).all() or got[0, 0] != got[0, 0], "fill", source, target)
    # with the cast on the way out
    got = kernels.elementwise("copy", source, [values], np.empty(values.shape, target))
    check((base.bits(got) == base.bits(contiguous_astype(values, target))).all(), "cast of the result", source, target)


def check_mixed(kernels, check):
    mixed = np.arange(-600, 600, dtype=np.int32)
    got = kernels.elementwise("add", np.dtype("f8"), [mixed, np.float32(0.1)], np.empty(1200, np.float32))
    want = (mixed.astype("f8") + np.float64(np.float32(0.1))).astype("f4")
    check.same_bits(got, want, [mixed], "add int32, float32 constant in float64, to float32")
    half = np.arange(-1200, 1200, dtype=np.int16)
    got = kernels.elementwise("add", np.dtype("e"), [half * 37, np.float16(0.1)], np.empty(2400, np.float16))
    check.same_bits(got, (half * 37).astype("e") + np.float16(0.1), [half], "int16 in a float16 loop")
    got = kernels.elementwise("multiply", np.dtype("e"), [half.astype("e"), np.float16(3.3)], np.empty(2400))
    check.same_bits(got, (half.astype("e") * np.float16(3.3)).astype("f8"), [half], "float16 product to float64")
    bytes_ = np.array([0, 1, 2, 255] * 4, np.uint8).view(bool)
    got = kernels.elementwise("copy", np.dtype(bool), [bytes_], np.empty(16, bool))
    check.same_bits(got, bytes_.copy(), [bytes_], "copy of bool bytes that are neither 0 nor 1")
    got = kernels.elementwise("equal", np.dtype(bool), [bytes_, np.bool_(True)], np.empty(16, bool))
    check.same_bits(got, bytes_ == True, [bytes_, bytes_], "comparison of such bytes")  # noqa: E712
    got = kernels.elementwise("copy", np.dtype("i4"), [bytes_], np.empty(16, "i4"))
    check.same_bits(got, bytes_.astype("i4"), [bytes_], "cast of such bytes")


def check_casts(kernels, check, rng):
    for source, target in itertools.product(base.DTYPES, base.DTYPES):
        check_pair(kernels, check, rng, source, target)
    check_mixed(kernels, check)


def main():
    np.seterr(all="ignore")
    rng, check = np.random.default_rng(77), base.Check()
    with tempfile.TemporaryDirectory() as folder:
        check_casts(base.Kernels(folder), check, rng)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
