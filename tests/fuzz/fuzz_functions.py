# SPDX-License-Identifier: Apache-2.0
"""The fuzzer's statements that are not ufunc calls: functions, indexing, assignment, copies. See
fuzz_grammar.py."""
import numpy as np

import fuzz_grammar
import fuzz_program
from fuzz_grammar import LARGEST, SCALARS, axis_text, too_big

# Functions of one array and an axis whose results are exact.
EXACT = ("np.argmax({}, axis={a})", "np.argmin({}, axis={a})", "np.count_nonzero({}, axis={a})", "np.any({}, axis={a})",
         "np.all({}, axis={a})", "np.diff({}, axis={s})", "np.ptp({}, axis={a})", "np.flip({}, axis={a})",
         "np.roll({}, 2, axis={a})", "np.repeat({}, 2, axis={a})", "np.nanmax({}, axis={a})", "np.max({}, axis={a})",
         "np.nanargmin({}, axis={a})", "np.sort({}, axis={s}, kind='stable')", "np.argsort({}, axis={s}, kind='stable')",
         "np.expand_dims({}, {s})", "np.nan_to_num({})",
         "np.tile({}, 2)", "np.pad({}, 1)", "np.pad({}, 1, constant_values=2)", "np.tril({})", "np.triu({}, 1)",
         "np.transpose({}).copy()", "{}.copy(order='F')", "np.ascontiguousarray({})", "np.asfortranarray({})",
         "np.round({}, 1)", "np.isclose({}, 1)", "np.ravel({})", "{}.flatten('F')", "np.zeros_like({})",
         "np.ones_like({})", "np.full_like({}, 3)", "np.trim_zeros(np.ravel({})[:50])", "np.signbit({}).sum()",
         "np.meshgrid(np.ravel({})[:4], np.arange(3.0))[0]", "np.nonzero({})[0]", "np.where({})[0]", "np.argwhere({})",
         "np.flatnonzero({})", "np.real({})", "np.imag({})", "np.iscomplex({})", "{}.byteswap()",
         "np.array_equal({0}, {0})", "np.searchsorted(np.sort({0}.ravel(), kind='stable'), {0})",
         "np.searchsorted(np.sort({0}.ravel(), kind='stable'), {0}, 'right')", "np.digitize({}, np.array([-1, 0, 0, 2]))",
         "np.bincount(np.ravel({} != 0).astype('i8') * 3)", "np.bincount(np.signbit({}).ravel() + 1, minlength=5)",
         "np.interp({}, [-2, -1, 0.5, 3], [1, 5, 2.5, 7])", "np.interp({}, [-2, 0, 0, 3], [1, 5j, 2.5, np.inf], left=-1)",
        "np.bincount((np.real({0}) > 0).ravel() * 1, weights={0}.ravel(), minlength=3)", "np.histogram({}, [-1, 0, 0.5, 2])[0]",
        "np.isin({}, [0, 1, 2.5])",
        "np.searchsorted(np.ravel({0}), np.ravel({0})[:9], sorter=np.argsort(np.ravel({0}), kind='stable'))",
         "np.histogram(np.isfinite(np.real({})) * 2.5, 5)[0]")
# Functions whose sums NumPy adds in another order.
SUMS = ("np.mean({}, axis={a})", "np.sum({}, axis={a})", "np.nansum({}, axis={a})", "np.nanmean({}, axis={a})",
        "np.cumsum({}, axis={s})", "np.trace({})", "np.average({}, axis={a})")
SPREADS = ("np.var({}, axis={a})", "np.std({}, axis={a})", "np.nanvar({}, axis={a})")


def exact_function(builder):
    name = builder.viewed(accept=lambda array: array.size < LARGEST // 4)
    value = builder.value(name)
    if value.size < LARGEST // 4:
        text = builder.pick(EXACT)
        result = builder.new(text.format(name, a=axis_text(builder, value.ndim),
                                         s=axis_text(builder, value.ndim, single=True)))
        if result and ("max(" in text or "ptp(" in text) and fuzz_grammar.chars_of(builder.value(result))[0] in "FD":
            builder.add("%s = observe(%s, nans=True)" % (result, result))  # which of several NaNs is the first one


def sum_function(builder):
    """Of small integers, whose sums are exact whatever the order; or of anything, within the bound."""
    name = builder.viewed()
    value = builder.value(name)
    function = builder.pick(SUMS)
    axes = {"a": axis_text(builder, value.ndim), "s": axis_text(builder, value.ndim, single=True)}
    result = builder.new(function.format(name, **axes))
    char = fuzz_grammar.chars_of(builder.value(result))[0] if result else "O"
    if char in "efdFD":
        total = "np.sum(m, axis=%s)" % axes["a"] if "{a}" in function else "np.sum(m)"
        of = "reach(lambda m: %s, 0, %s, %r)" % (total, name, char.lower())
        if "cumsum" in function:
            of = "np.max(%s, initial=0), steps=%d" % (of, max(value.shape, default=1))
        # which of a complex number's infinities and NaNs meet first is the order of joining
        rest = ", warns=False" if char in "FD" else ""
        builder.add("%s = observe(%s, ulps=32, of=lambda: %s%s)" % (result, result, of, rest))


def spread_function(builder):
    """Variance of moderate numbers: judged by the square of the largest."""
    dtype = builder.pick("dfFDle")
    name = builder.view(builder.make(dtype, kind=builder.pick(("small", "unit"))))
    value = builder.value(name)
    if isinstance(value, np.ndarray):
        function = builder.pick(SPREADS)
        result = builder.new(function.format(name, a=axis_text(builder, value.ndim)))
        if result:
            builder.add("%s = observe(%s, ulps=64, of=lambda: 1e-30 + 100.0, like='%s')" % (
                result, result, "e" if dtype == "e" else "f" if dtype in "fF" else "d"))


def combine(builder):
    """where, concatenate, stack, clip, copyto, choose: several arrays."""
    name = builder.viewed(accept=lambda array: array.size < LARGEST // 8)
    value = builder.value(name)
    if value.size >= LARGEST // 8:
        return
    other, third = builder.partner(name), builder.partner(name)
    if too_big(builder, fuzz_grammar.shapes_of(builder, [name, other, third])):
        return
    mask = builder.mask(builder.partner_shape(value.shape))
    same = builder.make(builder.pick(fuzz_program.DTYPES), value.shape)
    axis = axis_text(builder, value.ndim, single=True)
    text = builder.pick((
        "np.where(%s, %s, %s)" % (mask, name, other), "np.where(%s, %s, %s)" % (mask, other, third),
        "np.concatenate([%s, %s], axis=%s)" % (name, same, axis), "np.stack([%s, %s], axis=%s)" % (name, same, axis),
        "np.vstack([%s, %s])" % (name, same), "np.hstack((%s, %s, %s))" % (name, same, name),
        "np.clip(%s, %s, %s)" % (name, other, third), "np.concatenate([%s, %s], axis=None)" % (name, other),
        "np.append(%s, %s)" % (name, other), "np.column_stack([%s, %s])" % (name, same),
        "np.dot(%s, 2)" % name, "np.array([%s, %s])" % (name, same), "np.select([%s], [%s], 7)" % (mask, name)))
    result = builder.new(text)
    if result and "clip" in text and fuzz_grammar.chars_of(builder.value(result))[0] in "efdFD":
        builder.add("%s = observe(%s, zeros=True)" % (result, result))


def take(builder):
    name = builder.viewed(accept=lambda array: array.ndim > 0 and array.size < LARGEST // 8)
    value = builder.value(name)
    if not value.ndim or not value.shape[0] or value.size >= LARGEST // 8:
        return
    places = builder.new("rows(%d, %d, %d)" % (value.shape[0], builder.integer(0, 9), builder.integer(0, 99)))
    mask = builder.mask(value.shape[:builder.integer(1, value.ndim)])
    builder.new(builder.pick((
        "%s[%s]" % (name, places), "%s[%s]" % (name, mask), "np.take(%s, %s, axis=0)" % (name, places),
        "np.take(%s, %s, axis=0, mode='wrap')" % (name, places), "%s[%s.reshape(-1, 1)]" % (name, places),
        "np.compress(%s.reshape(-1)[:3], %s, axis=0)" % (mask, name), "%s[..., 0]" % name,
        "%s[%s, ..., None]" % (name, places),
        "np.take_along_axis(%s, np.argsort(%s, axis=0, kind='stable'), axis=0)" % (name, name),
        "%s[%s[::2]]" % (name, places), "%s.flat[%s]" % (name, places), "%s.flat[::3]" % name,
        "%s.repeat(np.arange(%d) %% 3, axis=0)" % (name, value.shape[0]),
        "np.packbits(%s, axis=0)" % mask, "%s.imag" % name, "np.array(%s, ndmin=%d)" % (name, builder.integer(1, 5)),
        "np.unravel_index(%s, (%d, 1))[0]" % (places, value.shape[0]), "np.choose(%s %% 2, [%s, 7.5])" % (places, places),
        "np.choose(%s %% 2, [%s, %s * 3])" % (places, places, places),
        "np.ravel_multi_index((%s, %s), (%d, 9), mode='wrap')" % (places, places, value.shape[0]))))
    if value.ndim > 1:
        take_of_several_axes(builder, name, value, places)


def take_of_several_axes(builder, name, value, places):
    """Indexes beside ints, None and slices, of any layout."""
    last = builder.pick(("-1", "0", "np.int64(0)", "rows(%d, 3, 7)[:, None]" % max(value.shape[-1], 1), "..., None", "::-1"))
    key = builder.pick(("%s, " + last, "%s[::-1], " + last, "%s.reshape(-1, 1).T, " + last, "None, %s, " + last,
                        "%s[:, None], None, " + last, "..., 0, %s" if value.ndim == 2 else "%s, ..., 0")) % places
    builder.new("%s[%s]" % (name, key))
    if value.flags.writeable:
        builder.add("%s[%s] = %s" % (name, key, builder.pick(SCALARS)))


def assign(builder):
    """Assignment to slices, through masks and through index arrays; fill; copyto."""
    name = builder.viewed(accept=lambda array: array.flags.writeable)
    value = builder.value(name)
    mask = builder.mask(value.shape)
    part = builder.new("%s[%s]" % (name, builder.index(value.shape)))
    shape = np.shape(builder.value(part)) if part else value.shape
    source = builder.pick(SCALARS) if builder.chance(40) else builder.make(
        value.dtype.char if builder.chance(50) else None, builder.partner_shape(shape))
    statements = ["%s[...] = %s" % (name, source), "%s.fill(%s)" % (name, builder.pick(SCALARS)),
                  "np.copyto(%s, %s)" % (name, source), "np.copyto(%s, %s, casting='unsafe')" % (name, source),
                  "np.copyto(%s, %s, where=%s)" % (name, builder.partner(name), mask), "%s[%s] = %s" % (
                      name, mask, builder.pick(SCALARS)), "np.putmask(%s, %s, %s)" % (name, mask, source)]
    if part and isinstance(builder.value(part), np.ndarray):
        statements += ["%s[...] = %s" % (part, source)] * 3
    if value.ndim and value.shape[0]:
        places = "rows(%d, 3, %d)" % (value.shape[0], builder.integer(0, 99))
        statements += ["%s[%s] = %s" % (name, places, builder.pick(SCALARS)),
                       "%s[:] = %s[::-1]" % (name, name), "%s[1:] = %s[:-1]" % (name, name),
                       "%s.put(%s, %s)" % (name, places, source), "%s.flat[%s] = %s" % (name, places, source),
                       "%s[%s[:0]] += 1" % (name, places), "np.add.at(%s, (%s,), 1)" % (name, places)]
    statements += ["%s.flat = %s" % (name, source), "%s.real = %s" % (name, source), "%s.flat[1::2] = %s" % (name, source),
                   "np.place(%s, %s, %s)" % (name, mask, source), "%s.byteswap(True).byteswap(True)" % name]
    builder.add(builder.pick(statements))


def cast(builder):
    name = builder.viewed()
    dtype = builder.pick(fuzz_program.DTYPES)
    if dtype == "I" and builder.value(name).dtype.kind in "fc":
        dtype = "L"  # beyond its range NumPy's own loops differ: contiguous ones from strided ones
    builder.new(builder.pick(("%s.astype(%r)", "%s.astype(%r, order='C')", "np.array(%s, dtype=%r)",
                              "%s.astype(%r, copy=False)", "%s.view(%r)")) % (name, dtype))


def create(builder):
    dtype, n = builder.pick(fuzz_program.DTYPES), builder.pick((5, 1, 0, 100, 3000))
    builder.new(builder.pick((
        "np.arange(%d, dtype=%r)" % (n, dtype), "np.arange(%d, 0, -2, dtype=%r)" % (n, dtype),
        "np.zeros((3, %d), %r)" % (n, dtype), "np.ones(%d, %r)" % (n, dtype), "np.full((2, %d), 7, %r)" % (n, dtype),
        "np.linspace(0, 1, %d)" % n, "np.eye(%d, 4, 1, %r)" % (min(n, 100), dtype), "np.arange(0.5, %d, 0.25)" % n)))


STATEMENTS = fuzz_grammar.STATEMENTS + [exact_function, exact_function, sum_function, spread_function, combine, take,
                                        assign, assign, cast, create]
