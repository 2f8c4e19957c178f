# SPDX-License-Identifier: Apache-2.0
"""Whether a program's two runs agree; a text that says where not.

Any NaN equals any other. Bounds of observed results: fuzz_program.Run.observe.
"""
import numpy as np


def first_difference(statements, plain, answer, with_warnings, in_order=True):
    """None, or a text. `plain` is a fuzz_program.Run, `answer` (steps, observed, data). Not `in_order`: the device
    joins in an order of its own."""
    steps, observed, data = answer
    for at, statement in enumerate(statements):
        if at >= len(steps):
            return "statement %d: no answer" % at
        (want, want_warnings), (got, got_warnings) = plain.steps[at], steps[at]
        if want != got and want != without_data(got, want):
            return "%s\n  plain: %s\n  shim:  %s" % (statement, want, got)
        if with_warnings and want_warnings != got_warnings and not anything_goes(plain, at + 1):
            return "%s\n  plain warns: %s\n  shim warns:  %s" % (statement, want_warnings, got_warnings)
        if at in plain.observed:
            text = compare(observed[at][0], plain.observed[at][0], plain.observed[at][1], in_order)
            if text:
                return "%s\n  %s" % (statement, text)
    for name, want in plain.data().items():
        text = compare_bytes(data.get(name), want)
        if text:
            made = [line for line in statements if line.startswith(name + " = ")]
            return "%s; %s at the end\n  %s" % (made[0], name, text)
    return None


def without_data(got, want):
    """`got`, said not to own its data where `want` does not: a view of nothing else is as good."""
    if got[0] == "tuple" == want[0] and len(got) == len(want):
        return ("tuple",) + tuple(map(without_data, got[1:], want[1:]))
    return got[:-1] + (False,) if got[0] == "array" == want[0] and want[-1] is False else got


def anything_goes(plain, at):
    """Whether the result that this statement observes may have been made with other warnings: it may
    overflow on one side only, or it says so."""
    bounds = plain.observed[at][1] if at in plain.observed else {"of": None, "warns": True}
    return not bounds["warns"] or bounds["of"] is not None and bool(np.isinf(bounds["of"]).any())


def compare_bytes(got, want):
    if got == want:
        return None
    if type(got) is not type(want) or isinstance(want, str) or len(got) != len(want):
        return "plain: %.200r\n  shim:  %.200r" % (want, got)
    if not isinstance(want[0], str):
        return next(filter(None, map(compare_bytes, got, want)), None)
    if got[0] != want[0]:
        return "plain: %s\n  shim:  %s" % (want[0], got[0])
    return compare(np.frombuffer(got[1], got[0]), np.frombuffer(want[1], want[0]), {})


def compare(got, want, bounds, in_order=True):
    """None, or how `got` lies outside the bounds round `want`."""
    if isinstance(want, tuple):
        return next(filter(None, (compare(g, w, bounds, in_order) for g, w in zip(got, want))), None)
    bounds = {name: value for name, value in bounds.items() if name != "warns"}
    steps = bounds.pop("steps", 0)
    if steps and not in_order:
        bounds["ulps"] += steps
    if got.dtype != want.dtype or got.shape != want.shape:
        return "plain %s %s, shim %s %s" % (want.dtype, want.shape, got.dtype, got.shape)
    if bounds.get("of") is not None:
        bounds = dict(bounds, of=np.broadcast_to(bounds["of"], want.shape).reshape(-1))
    bad = outside(got.reshape(-1), want.reshape(-1), **bounds)
    if not bad.any():
        return None
    at = int(np.flatnonzero(bad)[0])
    return "%d of %d elements differ, first at %d: plain %r, shim %r" % (
        bad.sum(), bad.size, at, want.reshape(-1)[at], got.reshape(-1)[at])


def outside(got, want, ulps=0, of=None, like=None, zeros=False, nans=False):
    """Which elements are too far apart."""
    if want.dtype.kind == "c":
        excused = np.isnan(got) & np.isnan(want) if nans else np.zeros(want.shape, bool)
        return outside_complex(got, want, ulps, of, like, zeros) & ~excused
    same = bits(got) == bits(want)
    if want.dtype.kind != "f":
        return ~same & ~np.isposinf(0 if of is None else of)
    same |= np.isnan(got) & np.isnan(want)
    if zeros:
        same |= (got == 0) & (want == 0)
    if ulps == 0:
        return ~same
    if of is not None or like is not None:
        return ~(same | within(got, want, ulps, np.abs(want) if of is None else of, like))
    with np.errstate(all="ignore"):
        far = np.abs(ordered(got).astype("g") - ordered(want).astype("g"))
        near = ~np.isnan(got) & ~np.isnan(want) & ~((got == 0) & (want == 0)) & (far <= ulps)
    return ~(same | near)


def outside_complex(got, want, ulps, of, like, zeros):
    """Parts agree, or differ by ulps of the larger one."""
    real, imag = (outside(getattr(got, part), getattr(want, part), zeros=zeros) for part in ("real", "imag"))
    if ulps == 0:
        return real | imag
    if of is None:
        with np.errstate(all="ignore"):
            of = np.fmax(np.abs(want.real), np.abs(want.imag))
    near_real = ~real | within(got.real, want.real, ulps, of, like)
    near_imag = ~imag | within(got.imag, want.imag, ulps, of, like)
    return ~(near_real & near_imag)


def within(got, want, ulps, of, like):
    """No further apart than ulps of the magnitude `of`, in numbers of the dtype `like`."""
    limits = np.finfo(like or want.dtype)
    with np.errstate(all="ignore"):
        of = of.astype("g")
        far = np.abs(got.astype("g") - want.astype("g"))
        return np.isposinf(of) | (far <= ulps * (of * limits.eps + np.longdouble(limits.tiny) * limits.eps))


def bits(array):
    return np.ascontiguousarray(array).view("u%d" % array.dtype.itemsize)


def ordered(array):
    """Floats as integers in the same order: a difference of 1 is one ulp."""
    value = np.ascontiguousarray(array).view("i%d" % array.dtype.itemsize).astype("i8")
    lowest = -2 ** (8 * array.dtype.itemsize - 1)
    return np.where(value < 0, lowest - value, value)
