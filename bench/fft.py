# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms: gpushim against CuPy and NumPy on resident operands.

    .venv/bin/python bench/fft.py [--cases fft,rfft2,...] [--contenders numpy,gpushim,cupy]

Operands and results stay on the device; each call is synchronised; the processes take turns; warm medians. gpushim runs in
mode force.
"""
import sys

import numpy as np

import common

# (function of np.fft, shape, dtype, keywords)
CASES = [("fft", (1 << power,), "c16", {}) for power in range(16, 25, 2)]
CASES += [("ifft", (1 << power,), "c16", {}) for power in (16, 20, 24)]
CASES += [("fft", (1 << power,), "c8", {}) for power in (16, 20, 24)]
CASES += [("fft", (1 << 20,), "f8", {}), ("rfft", (1 << 22,), "f8", {}), ("irfft", ((1 << 21) + 1,), "c16", {}),
          ("fft", (1000003,), "c16", {}), ("fft", (1000, 4096), "c16", {}), ("fft", (1000, 4096), "c8", {}),
          ("rfft", (1000, 4096), "f8", {}), ("irfft", (1000, 2049), "c16", {}), ("fft", (4096, 1000), "c16", {"axis": 0}),
          ("fft", (1000, 4000), "c16", {"n": 4096}), ("fft2", (4096, 4096), "c16", {}), ("rfft2", (4096, 4096), "f8", {}),
          ("rfft2", (4096, 4096), "f4", {}), ("irfft2", (4096, 2049), "c16", {}), ("fftn", (256, 256, 256), "c16", {}),
          ("rfftn", (256, 256, 256), "f8", {}), ("irfftn", (256, 256, 129), "c16", {}), ("ifft2", (4096, 4096), "c16", {}),
          ("fft2", (256, 256, 256), "c16", {}), ("fft2", (256, 256, 256), "c16", {"axes": (0, 2)}), ("fft", (256, 256, 256), "c16", {"axis": 1})]


def operand(shape, dtype):
    """The same values for every contender."""
    generator = np.random.default_rng(7)
    a = generator.standard_normal(shape, "f4").astype(dtype)
    if np.dtype(dtype).kind == "c":
        a += 1j * generator.standard_normal(shape, "f4").astype(dtype)
    return a


def digest(result):
    result = result.get() if hasattr(result, "get") else np.asarray(result)
    return [float(np.linalg.norm(result)), float(abs(result.sum())), float(abs(result.ravel()[-1]))]


def question(contender, name, shape, dtype, keywords, budget):
    xp = contender.xp
    a = operand(tuple(shape), dtype)
    a = xp.asarray(a) if contender.name == "cupy" else a + a.dtype.type(0)
    function = getattr(xp.fft, name)

    def once():
        result = function(a, **keywords)
        contender.synchronize()
        return result
    return common.answer_with_numbers(contender, once, digest, budget)


def label_of(name, shape, dtype, keywords):
    return "%s %s %s" % (name, "x".join(map(str, shape)), dtype) + "".join(" %s=%s" % item for item in keywords.items())


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(contenders="numpy,gpushim,cupy", budget=0.2)
    parser.add_argument("--cases", help="names of functions")
    options = parser.parse_args()
    if options.worker:
        common.serve(common.Contender(options.worker), {"fft": question})
        return 0
    asked = [case for case in CASES if not options.cases or case[0] in options.cases.split(",")]
    rows = [(label_of(*case), dict(zip(("name", "shape", "dtype", "keywords"), case))) for case in asked]
    return common.compare_beside_cupy(__file__, options, "fft", "transform", rows)


if __name__ == "__main__":
    sys.exit(main())
