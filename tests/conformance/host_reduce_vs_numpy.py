# SPDX-License-Identifier: Apache-2.0
"""The CPU's reductions against NumPy's: every row x dtype x shape x axes, initial values, masks, empty ones.

Usage: python host_reduce_vs_numpy.py   (needs a C compiler as $CC or cc, and NumPy)

Rows whose bound is 0 must give equal numbers. Sums and their like must be as close to the exact result as the row says,
in units of the sum (product) of the magnitudes, and sums no further from it than NumPy's own, but for a factor of 1.5.
"""
import itertools
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base
from host_ops_vs_numpy import DTYPES

SUMS = ("sum", "prod", "hypot", "logaddexp", "logaddexp2")
REDUCED_BY_METHOD = ("argmax", "argmin")
SHAPES = [(), (1,), (2,), (7,), (511,), (513,), (5000,), (3, 5), (40, 300), (300, 40), (2000, 3), (3, 2000), (6, 7, 50),
          (4, 1, 9, 20)]


def numpy_reduce(kernels, name):
    """The function (array, axis, dtype=loop, **more) that reduces in NumPy."""
    ufunc = kernels.shim.shim_reduction_ufunc(kernels.reductions[name]).decode()
    if ufunc:
        return getattr(np, ufunc).reduce
    return lambda array, axis, dtype: getattr(np, name)(array, axis=axis)


def moderate_values(dtype, shape, rng):
    """Near 1 in magnitude where the dtype has a fraction, so that no order of multiplication leaves the range."""
    count = int(np.prod(shape))
    if dtype.kind not in "fc":
        return base.random_values(dtype, count + 2, rng)[:count].reshape(shape)
    near = (1 + rng.normal(0, 0.01, shape)) * rng.choice([-1, 1], shape)
    if dtype.kind == "c":
        near = near * np.exp(1j * rng.normal(0, 1, shape))
    return np.asarray(near, dtype)


def reduction_arrays(dtype, rng):
    for shape in SHAPES:
        array = moderate_values(dtype, shape, rng)
        yield array
        if array.ndim:
            yield array[::-1]
            yield np.asfortranarray(array)
            yield np.repeat(array, 2, axis=-1)[..., ::2]
            yield np.broadcast_to(array[..., :1], array.shape)


def axes_of(array, name):
    if name in REDUCED_BY_METHOD:
        return [(d,) for d in range(array.ndim)]
    return [c for r in range(array.ndim + 1) for c in itertools.combinations(range(array.ndim), r)]


def reduce_both(kernels, name, loop, array, axes):
    function = numpy_reduce(kernels, name)
    axis = axes[0] if name in REDUCED_BY_METHOD else axes
    want = np.asarray(function(array, axis, dtype=loop))
    return kernels.reduce(name, loop, array, axes, want.dtype), want


def exact_result(name, array, axes):
    """(the result in longdouble, the sum or product of magnitudes that errors are measured by)."""
    wide = array.astype(np.clongdouble if array.dtype.kind == "c" else np.longdouble)
    if name == "sum":
        return wide.sum(axis=axes), np.abs(wide).sum(axis=axes)
    if name == "prod":
        exact = wide.prod(axis=axes)
        return exact, np.abs(exact)
    if name == "hypot":
        exact = np.sqrt((wide * wide).sum(axis=axes))
        return exact, exact
    two = name == "logaddexp2"
    total = (np.exp2(wide) if two else np.exp(wide)).sum(axis=axes)
    exact = np.log2(total) if two else np.log(total)
    return exact, np.abs(exact) + np.abs(wide).max(axis=axes, initial=1)


def check_float_sum(kernels, check, name, dtype, array, axes, ratios):
    got, want = reduce_both(kernels, name, dtype, array, axes)
    exact, scale = exact_result(name, array, axes)
    eps = float(np.finfo(dtype).eps)
    bound = eps * scale * kernels.shim.shim_reduction_ulp(kernels.reductions[name])
    if name == "prod":
        bound = eps * scale * max(array.size, 1) * (4 if dtype.kind == "c" else 1)
    error = np.abs(got - exact)
    fine = (error <= bound + np.finfo(dtype).tiny) | (got == want) | ~np.isfinite(want)
    check(np.all(fine), name, dtype, array.shape, array.strides, axes, got, want)
    if name == "sum" and array.size > 1000 and np.size(scale):
        ratios.setdefault(dtype.name, []).append((np.max(error / scale), np.max(np.abs(want - exact) / scale)))


def same(got, want):
    nan = got.dtype.kind in "fc"
    return got.dtype == want.dtype and np.array_equal(got, want, equal_nan=nan)


def rows(kernels):
    for name, code in kernels.reductions.items():
        for d, dtype in enumerate(DTYPES):
            if kernels.shim.shim_reduction_dtypes(code) >> d & 1:
                yield name, dtype


def check_reductions(kernels, check, rng, ratios):
    for name, dtype in rows(kernels):
        for array in reduction_arrays(dtype, rng):
            for axes in axes_of(array, name):
                if name in SUMS and dtype.kind in "fc":
                    check_float_sum(kernels, check, name, dtype, array, axes, ratios)
                    continue
                got, want = reduce_both(kernels, name, dtype, array, axes)
                check(same(got, want), name, dtype, array.shape, array.strides, axes, got, want)


def check_specials(kernels, check, rng):
    """NaN, infinities, zeros of both signs, ties."""
    for name, dtype in rows(kernels):
        values = base.specials(dtype)
        for round in range(12):
            array = rng.permutation(np.concatenate([values] * 3))[:100 + 40 * round]
            if name in SUMS and dtype.kind in "fc":
                # large numbers would overflow in one order and not in another
                small = array[~(np.abs(array) > 100) | np.isinf(array)]
                array = small[:6] if round % 2 else small[np.isfinite(small)][:60]
                if name == "prod" or dtype.kind == "c" and not np.isfinite(array).all():
                    continue
                got, want = reduce_both(kernels, name, dtype, array, (0,))
                check(np.allclose(got, want, rtol=1e-2, equal_nan=True), name, dtype, array, got, want)
                continue
            got, want = reduce_both(kernels, name, dtype, array, (0,))
            check(same(got, want), name, dtype, "specials", array[:5], got, want)
    for dtype in (d for d in DTYPES if d.kind == "f"):
        for array in (np.array([-0.0], dtype), -np.zeros(900, dtype)):
            got, want = reduce_both(kernels, "sum", dtype, array, (0,))
            check(got == 0 and np.signbit(got) == np.signbit(want), "sum of -0.0", dtype)


def check_beginnings(kernels, check, rng):
    """Empty reductions, initial values, masks."""
    for name, dtype in rows(kernels):
        function = numpy_reduce(kernels, name)
        exact = not (name in SUMS and dtype.kind in "fc")
        array = moderate_values(dtype, (30, 50), rng)
        mask = rng.integers(0, 3, array.shape).astype(bool)
        mask[:, 7] = False
        if name in REDUCED_BY_METHOD:
            continue
        begins = name not in ("max", "min", "fmax", "fmin")
        for shape, axes in (((0,), (0,)), ((3, 0), (1,)), ((0, 30), (0,))):
            if begins:
                got, want = reduce_both(kernels, name, dtype, np.empty(shape, dtype), axes)
                check(same(got, want), name, dtype, shape, "empty", got, want)
        initial = moderate_values(dtype, (1,), rng)[0]
        out = np.bool_ if name in ("any", "all", "parity") else dtype
        for axes, where, first in itertools.product(((0,), (1,), (0, 1)), (None, mask), (None, initial)):
            if first is None and not begins:
                continue
            more = ({} if where is None else {"where": where}) | ({} if first is None else {"initial": first})
            want = np.asarray(function(array, axes, dtype=dtype, **more))
            got = kernels.reduce(name, dtype, array, axes, out, mask=where, initial=first)
            if not exact:  # NumPy's own float16 ones may be far off
                wide = np.dtype("D" if dtype.kind == "c" else "d")
                want = np.asarray(function(array.astype(wide), axes, dtype=wide, **more))
            close = {"rtol": 2e-3, "atol": 4e-3} if dtype.itemsize == 2 else {"rtol": 1e-4, "atol": 1e-4}
            fine = same(got, want) if exact else np.allclose(got, want, equal_nan=True, **close)
            check(fine, name, dtype, axes, "initial", first, "mask", where is not None, got.ravel()[:8],
                  want.ravel()[:8])


def check_raw_bools(kernels, check, rng):
    """Bools of any byte: a maximum or minimum of one element is its copy; what is joined becomes 0 or 1."""
    for name, shape in itertools.product(("max", "min", "fmax", "fmin"), ((900, 1), (900, 3), (1, 900), (3, 900), (30, 1, 1), (3, 40000))):
        array = rng.choice(np.array([0, 0, 1, 2, 128, 255], np.uint8), shape).view(bool)
        for view, axis in itertools.product((array, array.T, array[::-1]), (0, len(shape) - 1)):
            got, want = reduce_both(kernels, name, np.dtype(bool), view, (axis,))
            check(np.array_equal(got.view(np.uint8), want.view(np.uint8)), name, "raw bools", shape, view.strides, axis, got.view(np.uint8))
            numbers = kernels.reduce(name, np.dtype(bool), view, (axis,), np.dtype("i2"))
            check(np.array_equal(numbers, want.astype("i2")), name, "raw bools to integers", shape, view.strides, axis)


def is_decided(line):
    """Whether NumPy's running product stays in the range of numbers, at least up to a factor that is no number or zero, or
    leaves it on the side on which the exact one ends: else only NumPy's order has its result."""
    dtype = line.dtype
    exact = np.multiply.accumulate(line.astype(np.clongdouble if dtype.kind == "c" else np.longdouble))
    sizes = np.maximum(np.abs(exact.real), np.abs(exact.imag))
    under, over = sizes < np.finfo(dtype).tiny * 1e3, sizes > np.finfo(dtype).max / 1e3
    special = np.flatnonzero(~np.isfinite(line) | (line == 0))
    if len(special):
        return not (under | over)[:special[0]].any()
    return bool(not over.any() if under[-1] else not under.any() if over[-1] else not (under | over).any())


def products_out_of_range(dtype, rng, n=2300):
    """Lines of n factors whose products leave the range of numbers in some order."""
    large = float(np.finfo(dtype).max) ** 0.6
    line = lambda *parts: np.concatenate([np.resize(np.array(part, float), count or n) for part, count in parts])[:n]
    ones = ([1.0], 0)
    lines = [line(([0.0], 1), ([large], 0)), line(([-0.0], 1), ([-large], 0)), line(([large], 900), ([0.0], 1), ones),
             line(([large, 1 / large], 0)), line(([1 / large, large], 0)), line(([large, -1 / large, -1.0], 0)),
             line(([1 / large], 400), ([large], 0)), line(([large], 400), ([1 / large], 0)), line(([0.9], 0)),
             line((np.arange(1.0, 400), 399), ones), line((np.arange(400.0), 400), ones), line(([-1.5], 0)),
             line(([large], 3), ([-1.0], 1), ones), line(([large], 3), ([np.nan], 1), ones),
             line(([1 / large], 3), ([-1.0], 1600), ([np.inf], 1), ones), line(([1 / large], 3), ([-1.0], 1601), ones),
             line(ones, ([np.inf], 1), ones)[-n:], line(([np.inf], 1), ([-0.0], 1), ones)]
    while len(lines) < 40:
        wide = np.exp(np.clip(rng.normal(0, 20, n), -np.log(large), np.log(large))) * rng.choice([-1, 1], n)
        wide[rng.integers(0, n, 3)] = rng.choice([0.0, np.inf, np.nan, 1.0, 1.0], 3)
        if is_decided(wide.astype(dtype)):
            lines.append(wide)
    lines = [x.astype(dtype) for x in lines]
    if dtype.kind == "c":
        lines += [np.where(np.isfinite(x), x * dtype.type(np.exp(1j)), x) for x in lines]
    return lines


def check_products(kernels, check, rng):
    """Products whose value depends on the order, as NumPy's: in rows, in columns, masked, with an initial value."""
    def agree(got, want, *told):
        got, want = (np.atleast_1d(x).view(np.real(x).dtype) for x in (got, want))
        special = (~np.isfinite(want) | (want == 0)) & (dtype.kind == "f") # a complex zero's signs follow from its rounding
        least = np.nextafter(np.array(0, got.dtype), np.array(1, got.dtype))
        close = np.isclose(got, want, rtol=float(np.finfo(dtype).eps) * 1e4, atol=32 * least) | (got == want)
        fine = close & (~special | (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
        check(fine.all(), "product out of range", dtype, *told, got[~fine][:4], want[~fine][:4], np.flatnonzero(~fine)[:4])

    for dtype in (d for d in DTYPES if d.kind in "fc"):
        lines = [x for x in products_out_of_range(dtype, rng) if dtype != np.float16 or is_decided(x)]
        every = np.array([x for line in lines for x in (line, np.ones_like(line))])
        for n, line in enumerate(lines):
            agree(kernels.reduce("prod", dtype, line, (0,), dtype), np.multiply.reduce(line, dtype=dtype), "line", n)
        if dtype == np.float16:
            continue  # NumPy rounds the columns' at each step
        masked = rng.random(every.shape) < 0.5
        masked &= np.array([[is_decided(np.where(m, x, 1).astype(dtype))] for m, x in zip(masked, every)])
        for array, axis, where in ((every, 1, masked), (np.ascontiguousarray(every.T), 0, np.ascontiguousarray(masked.T))):
            agree(kernels.reduce("prod", dtype, array, (axis,), dtype), np.multiply.reduce(array, axis), "axis", axis)
            agree(kernels.reduce("prod", dtype, array, (axis,), dtype, mask=where), np.multiply.reduce(array, axis, where=where),
                  "masked", axis)
        first = dtype.type(float(np.finfo(dtype).max) ** 0.9)
        for line in (x for x in lines if is_decided(np.concatenate([[first], x]).astype(dtype))):
            agree(kernels.reduce("prod", dtype, line, (0,), dtype, initial=first), np.multiply.reduce(line, initial=first), "initial")


def check_casts(kernels, check, rng):
    """Inputs of another dtype than the loop's, results cast to a third."""
    array = rng.integers(0, 100, (40, 60))
    for source, loop, out in itertools.product("?bHife", "lfdeD", "lfd"):
        cast = array.astype(source)
        for axes in ((0,), (1,), (0, 1)):
            want = cast.astype(loop).astype("D").sum(axis=axes).real
            if loop == "e" and want.max() > 60000:
                continue
            if loop == "e":
                want = want.astype("e")
            got = kernels.reduce("sum", np.dtype(loop), cast, axes, np.dtype(out))
            check((got == want.astype(out)).all(), "sum of", source, "in", loop, "to", out, axes, got, want)


def check_large_sums(kernels, check, rng, ratios):
    for dtype, n in itertools.product([d for d in DTYPES if d.kind == "f"], (1 << 19, 1_500_001)):
        array = (rng.random(n) / (n if dtype == np.float16 else 1)).astype(dtype)
        check_float_sum(kernels, check, "sum", dtype, array, (0,), ratios)
        check_float_sum(kernels, check, "sum", dtype, array[:n // 1000 * 1000].reshape(-1, 1000), (0,), ratios)
        first = kernels.reduce("sum", dtype, array, (0,), dtype)
        repeated = [kernels.reduce("sum", dtype, array, (0,), dtype) for _ in range(3)]
        check(all((base.bits(x) == base.bits(first)).all() for x in repeated), "repeat")


def judge_sums(check, ratios):
    """`ratios`: for each dtype the errors of sums over their magnitudes, as pairs of ours and NumPy's."""
    for dtype, pairs in ratios.items():
        ours, theirs = (float(max(x)) for x in zip(*pairs))
        print(f"largest error of a {dtype} sum over its magnitudes: {ours:.2e}, NumPy's {theirs:.2e}")
        check(ours <= theirs * 1.5, "sums are less exact than NumPy's", dtype)


def main():
    np.seterr(all="ignore")
    rng, check, ratios = np.random.default_rng(20240), base.Check(), {}
    with tempfile.TemporaryDirectory() as folder:
        kernels = base.Kernels(folder)
        check_reductions(kernels, check, rng, ratios)
        check_specials(kernels, check, rng)
        check_beginnings(kernels, check, rng)
        check_raw_bools(kernels, check, rng)
        check_products(kernels, check, rng)
        check_casts(kernels, check, rng)
        check_large_sums(kernels, check, rng, ratios)
    judge_sums(check, ratios)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
