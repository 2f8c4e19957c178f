# SPDX-License-Identifier: Apache-2.0
"""SciPy's functions on resident arrays: gpushim against cupyx.scipy and SciPy on the CPU.

    .venv/bin/python bench/scipy_functions.py [--cases erf,lfilter,...] [--contenders numpy,gpushim,cupy] [--rounds 2]

Operands and results stay on the device; each call is synchronised; the processes take turns; warm medians. gpushim runs in
mode force.
"""
import importlib
import sys

import numpy as np

import common


def _plane(module, asarray, rng):
    return [asarray(rng.random((4000, 4000)))]


def _lines(module, asarray, rng):
    """Lines, and the numbers of a filter of second order: numerator, denominator, and both as a section."""
    above, below = np.array([0.2, 0.3, 0.2]), np.array([1, -0.5, 0.2])
    return [asarray(a) for a in (rng.random((2000, 8000)), above, below, np.concatenate((above, below))[None])]


def _blobs(module, asarray, rng):
    return [asarray((rng.random((2000, 2000)) > 0.45).astype("i4"))]


def _matrix(sparse, asarray, rng):
    """A sparse matrix of 1e6 rows of ten numbers each, and a vector."""
    n, each = 10 ** 6, 10
    indices = np.sort(rng.integers(0, n, (n, each)), axis=1).ravel().astype("i4")
    indptr = np.arange(0, n * each + 1, each, dtype="i4")
    parts = tuple(asarray(part) for part in (rng.random(n * each), indices, indptr))
    return [sparse.csr_matrix(parts, shape=(n, n)), asarray(rng.random(n))]


def _points(module, asarray, rng):
    return [asarray(rng.random((4000, 16))), asarray(rng.random((3000, 16)))]


# name: (module of SciPy, what makes the operands with it, what is called with the module and the operands)
CASES = {
    "erf": ("special", _plane, lambda special, a: special.erf(a)),
    "gammaln": ("special", _plane, lambda special, a: special.gammaln(a)),
    "ndtri": ("special", _plane, lambda special, a: special.ndtri(a)),
    "j0": ("special", _plane, lambda special, a: special.j0(a)),
    "gaussian_filter": ("ndimage", _plane, lambda ndimage, a: ndimage.gaussian_filter(a, 2)),
    "uniform_filter": ("ndimage", _plane, lambda ndimage, a: ndimage.uniform_filter(a, 5)),
    "median_filter": ("ndimage", _plane, lambda ndimage, a: ndimage.median_filter(a, 5)),
    "sobel": ("ndimage", _plane, lambda ndimage, a: ndimage.sobel(a)),
    "maximum_filter": ("ndimage", _plane, lambda ndimage, a: ndimage.maximum_filter(a, 5)),
    "grey_erosion": ("ndimage", _plane, lambda ndimage, a: ndimage.grey_erosion(a, 3)),
    "label": ("ndimage", _blobs, lambda ndimage, a: ndimage.label(a)[0]),
    "zoom": ("ndimage", _plane, lambda ndimage, a: ndimage.zoom(a, 0.5, order=1)),
    "rotate": ("ndimage", _plane, lambda ndimage, a: ndimage.rotate(a, 30, order=1)),
    "lfilter": ("signal", _lines, lambda signal, a, above, below, section: signal.lfilter(above, below, a, axis=1)),
    "sosfilt": ("signal", _lines, lambda signal, a, above, below, section: signal.sosfilt(section, a, axis=1)),
    "convolve2d": ("signal", _plane, lambda signal, a: signal.convolve2d(a, a[:5, :5], mode="same")),
    "fftconvolve": ("signal", _plane, lambda signal, a: signal.fftconvolve(a, a[:65, :65], mode="same")),
    "medfilt2d": ("signal", _plane, lambda signal, a: signal.medfilt2d(a, 3)),
    "dctn": ("fft", _plane, lambda fft, a: fft.dctn(a)),
    "csr @ vector": ("sparse", _matrix, lambda sparse, matrix, x: matrix @ x),
    "cdist": ("spatial.distance", _points, lambda distance, a, b: distance.cdist(a, b)),
}


def digest(result):
    result = result.get() if hasattr(result, "get") else np.asarray(result)
    result = np.where(np.isfinite(result), result, 0).astype("f8")
    return [float(np.linalg.norm(result)), float(result.mean()), float(result.ravel()[result.size // 3])]


def question(contender, name, budget):
    place, maker, function = CASES[name]
    module = importlib.import_module(("cupyx.scipy." if contender.name == "cupy" else "scipy.") + place)
    operands = maker(module, contender.xp.asarray, np.random.default_rng(7))

    def once():
        result = function(module, *operands)
        contender.synchronize()
        return result
    return common.answer_with_numbers(contender, once, digest, budget)


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(contenders="numpy,gpushim,cupy", rounds=2, budget=0.2)
    parser.add_argument("--cases", help="names of cases", default=",".join(CASES))
    options = parser.parse_args()
    if options.worker:
        common.serve(common.Contender(options.worker), {"scipy_functions": question})
        return 0
    rows = [(name, {"name": name}) for name in options.cases.split(",")]
    return common.compare_beside_cupy(__file__, options, "scipy_functions", "function", rows)


if __name__ == "__main__":
    sys.exit(main())
