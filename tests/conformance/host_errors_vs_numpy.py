# SPDX-License-Identifier: Apache-2.0
"""The floating-point errors that the CPU's kernels find, against the ones that NumPy reports.

Usage: python host_errors_vs_numpy.py [--verbose]   (needs a C compiler as $CC or cc, and NumPy)

Element by element: where NumPy reports anything (divide by zero, overflow, invalid value) the kernel must have found
something, and its sample must be the element: asked about it, NumPy reports all there is. What the kernel finds beyond
costs a question, no more; it is counted. Complex numbers must be moderate or zero for that: others make NumPy's
formulas raise flags on their way that no result shows. Then blocks: masks hide errors, and late ones are found.
"""
import collections
import ctypes
import itertools
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base
from host_ops_vs_numpy import DTYPES

KINDS = ("divide", "over", "invalid")
TEXTS = {"divide by zero": "divide", "overflow": "over", "invalid value": "invalid"}


class Errors:
    def __init__(self, kernels):
        self.kernels = kernels
        self.seen = set()
        np.seterrcall(lambda text, flag: self.seen.add(TEXTS.get(text, text)))

    def of_numpy(self, function, *inputs):
        self.seen = set()
        with np.errstate(divide="call", over="call", invalid="call", under="ignore"):
            function(*inputs)
        return self.seen & set(KINDS)

    def of_kernel(self, op, loop, inputs, outs, mask=None):
        """{kind: bytes of the sample's inputs}"""
        self.kernels.describe(base.ELEMENTWISE, self.kernels.ops[op], loop, inputs, outs, outs[0].shape, mask=mask)
        return self.execute()

    def execute(self):
        self.kernels.shim.shim_check_errors()
        self.kernels.execute()
        found = {}
        for code, kind in enumerate(KINDS):
            sample = (ctypes.c_char * 48)()
            if self.kernels.shim.shim_met(code, sample):
                found[kind] = bytes(sample)
        return found


def sample_of(dtype, sample, k):
    return np.frombuffer(sample, dtype, 1, 16 * k)


def check_element(errors, check, extra, op, loop, function, element):
    dtype, inputs, outputs, _ = loop
    reported = errors.of_numpy(function, *element)
    found = errors.of_kernel(op, dtype, element, tuple(np.empty(1, d) for d in outputs))
    if is_judged(op, element):
        check(found or not reported, op, dtype, element, "NumPy reports", reported, "found", set(found))
    else:
        extra[op, dtype.name, "unseen"] += bool(reported) and not found
    for kind, sample in found.items():
        same = all((base.bits(sample_of(d, sample, k)) == base.bits(x)).all()
                   for k, (d, x) in enumerate(zip(inputs, element)))
        check(same, op, dtype, kind, "sample", sample, element)
        extra[op, dtype.name, "extra"] += kind not in reported


def is_judged(op, element):
    """Whether values show every error. NaN inputs that some loops report, powers of zero to -infinity, steps towards
    it, and what extreme complex numbers set off inside a formula are not seen."""
    values = np.array([x[0] for x in element])
    if op in ("power", "float_power", "nextafter") and np.isinf(values[1]):
        return False
    if op in ("logaddexp", "logaddexp2", "spacing") and (np.isnan(values).any() or (np.abs(values) > 1e37).any()):
        return False  # the difference of two such inputs overflows on the way
    parts = np.abs([values.real, values.imag]) if element[0].dtype.kind == "c" else np.ones(1)
    return bool(np.all((parts == 0) | (parts < 80) & (parts > 0.001)))


def check_elements(errors, check, rng, extra):
    kernels = errors.kernels
    for op in kernels.ops:
        function = base.numpy_function(op)
        if op in ("copy", "arange") or function is None:
            continue
        for loop in kernels.loops(op):
            flat = base.operands(op, loop[1], rng, 100)
            want = base.run_numpy(function, [x[:1] for x in flat])
            if not base.is_known_to_numpy(op, loop[0], want, loop[2]):
                continue
            for i in rng.permutation(flat[0].size)[:150]:
                check_element(errors, check, extra, op, loop, function, [x[i:i + 1].copy() for x in flat])


def check_casts(errors, check, rng, extra):
    for source, target in itertools.product(DTYPES, DTYPES):
        if source.kind == "c" and target.kind != "c":
            continue  # NumPy warns of the imaginary part
        values = np.concatenate([base.specials(source), base.random_values(source, 40, rng)])
        for i in range(0, values.size, 1 + values.size // 120):
            element = values[i:i + 1]
            reported = errors.of_numpy(lambda x: x.astype(target), element)
            found = errors.of_kernel("copy", target, [element], (np.empty(1, target),))
            check(reported <= set(found), "cast", source, target, element, "NumPy reports", reported, "found",
                  set(found))
            extra["copy", f"{source}->{target}", "extra"] += len(set(found) - reported)
            for sample in found.values():
                same = (base.bits(sample_of(source, sample, 0)) == base.bits(element)).all()
                check(same, "cast", source, target, "sample", sample, element)
    found = errors.of_kernel("multiply", np.dtype("d"), [np.array([1e30]), np.array([1e30])], (np.empty(1, "f"),))
    check(set(found) == {"over"}, "the cast of a product", found)
    found = errors.of_kernel("multiply", np.dtype("d"), [np.array([1e30]), np.array([1e30])], (np.empty(1, "i8"),))
    check(set(found) == {"invalid"}, "the cast of a product to an integer", found)
    found = errors.of_kernel("multiply", np.dtype("e"), [np.array([-1868], "e")] * 2, (np.empty(1, "i8"),))
    check(set(found) == {"over", "invalid"}, "the cast of an infinite product of float16 to an integer", found)


def check_blocks(errors, check):
    for n, at in ((1, 0), (511, 510), (513, 512), (100000, 77777)):
        for dtype in "efd":
            a, b = np.ones(n, dtype), np.ones(n, dtype)
            check(not errors.of_kernel("divide", np.dtype(dtype), [a, b], (np.empty_like(a),)), "no error", n)
            a[at], b[at] = 7, 0
            found = errors.of_kernel("divide", np.dtype(dtype), [a, b], (np.empty_like(a),))
            check(set(found) == {"divide"} and sample_of(a.dtype, found["divide"], 0)[0] == 7, "found", n, at, found)
            mask = np.ones(n, bool)
            mask[at] = False
            check(not errors.of_kernel("divide", a.dtype, [a, b], (a.copy(),), mask), "masked", n, at)
            again = a.copy()
            found = errors.of_kernel("divide", a.dtype, [again, b], (again,))
            check(set(found) == {"divide"} and np.isinf(again[at]), "in place", n, at, found)
    a, b = np.array([5, -2**63, 1]), np.array([0, -1, 1])
    found = errors.of_kernel("floor_divide", a.dtype, [a, b], (np.empty_like(a),))
    check(set(found) == {"divide", "over"}, "integers", found)
    check(sample_of(a.dtype, found["over"], 0)[0] == -2**63, "the sample of an overflow")


def check_reductions(errors, check):
    def found(name, array, axes, **more):
        kept = [d for d in range(array.ndim) if d not in axes]
        out = np.empty([array.shape[d] for d in kept], array.dtype)
        view = np.broadcast_to(out.reshape(out.shape + (1,) * len(axes)), array.transpose(kept + list(axes)).shape)
        errors.kernels.describe(base.REDUCE, errors.kernels.reductions[name], array.dtype,
                                [array.transpose(kept + list(axes))], [view], view.shape, len(axes), **more)
        return errors.execute()
    for axes in ((0,), (1,), (0, 1)):
        for dtype in "fd":
            array = np.ones((40, 700), dtype)
            check(not found("sum", array, axes), "no error", axes)
            array[:] = np.finfo(dtype).max / 4
            check(set(found("sum", array, axes)) == {"over"}, "overflow of a sum", axes)
            array[:] = 1
            array[3, 5], array[3, 6], array[4, 5] = np.inf, -np.inf, -np.inf
            check(set(found("sum", array, axes)) == {"invalid"}, "infinities of both signs", axes)
        for dtype, value in (("e", 300), ("f", 1e30), ("d", 1e300)):
            met = found("prod", np.full((40, 701), value, dtype), axes)
            factors = [sample_of(np.dtype(dtype), met.get("over", bytes(48)), k) for k in (0, 1)]
            check(set(met) == {"over"}, "overflow of a product", axes, dtype)
            check(errors.of_numpy(np.multiply, *factors) == {"over"}, "the sample of a product", axes, dtype, factors)
        for dtype, large in (("f", 2.0**100), ("d", 2.0**900)):
            place = np.indices((40, 700))[axes[-1]]
            balanced = np.where(place % 2, 1 / large, large).astype(dtype)
            check(not found("prod", balanced, axes), "a product that stays in the range", axes, dtype)
        array = np.full((40, 700), 6000, "e")
        check(set(found("sum", array, axes)) == {"over"}, "a sum too large for float16", axes)
        check(not found("sum", np.ones((40, 700), "e"), axes), "no error in float16", axes)
        check(not found("max", np.full((40, 700), np.inf), axes), "no error of a maximum", axes)
    for first, second in ((0, 9000), (1, 2), (700, 6001), (5, 8999), (8998, 9000)):
        for axis in (0, 1):
            array = np.zeros((3, 9001) if axis else (9001, 3))
            line = array[1] if axis else array[:, 1]
            line[first] = np.inf
            check(not found("sum", array, (axis,)), "an infinity alone", axis, first)
            line[second] = -np.inf
            check(set(found("sum", array, (axis,))) == {"invalid"}, "infinities apart", axis, first, second)


def main():
    rng, check, extra = np.random.default_rng(5), base.Check(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        errors = Errors(base.Kernels(folder))
        check_elements(errors, check, rng, extra)
        check_casts(errors, check, rng, extra)
        check_blocks(errors, check)
        check_reductions(errors, check)
    if "--verbose" in sys.argv:
        print({key: count for key, count in extra.items() if count})
    beyond, unseen = (sum(c for (_, _, kind), c in extra.items() if kind == k) for k in ("extra", "unseen"))
    print("NumPy", np.__version__, "- found beyond NumPy's reports:", beyond, "- not shown by values:", unseen)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
