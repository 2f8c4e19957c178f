# SPDX-License-Identifier: Apache-2.0
"""Functions of SciPy's C modules that are composed of NumPy's (numpy_composed_images.py and others), against plain SciPy: bit for
bit where SciPy's order of operations is kept. Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, moved_by, on_device
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")

def make(shape, dtype="f8", spread=1000.0):
    count = int(np.prod(shape))
    a = (np.arange(count) * 7919 % 1009) / 1009 * spread
    return on_device((a - (0 if np.dtype(dtype).kind in "ub" else spread / 3)).astype(dtype).reshape(shape))

def stays(name, function, *operands, **keywords):
    """The result, and whether the operands stayed on the device."""
    values = []
    moved = moved_by(lambda: values.append(function(*operands, **keywords)))
    dump(name, values[0])
    dump("stays " + name, moved["download_bytes"] < 32768)
'''
SPARSE = '''
import scipy.sparse as sparse
def matrix(kind, counts, columns=500, dtype="f8"):
    starts = np.concatenate([[0], np.cumsum(counts)]).astype("i4")
    rows = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(starts[-1]) - starts[rows]
    indices = ((places * 7 + rows) % columns).astype("i4")
    made = sparse.csr_matrix((make(len(indices), dtype, 8.0), indices, starts), shape=(len(counts), columns))
    made.sum_duplicates()
    made = made.asformat(kind)
    for part in ("data", "indices", "indptr", "row", "col"):
        if isinstance(getattr(made, part, None), np.ndarray):
            setattr(made, part, on_device(getattr(made, part)))
    return made
def mixed(a):
    """The matrix with each row's numbers in another order."""
    rows = np.repeat(np.arange(a.shape[0]), np.diff(np.asarray(a.indptr)))
    order = np.lexsort((np.arange(rows.size) * 7919 % 1009, rows))
    made = sparse.csr_matrix((on_device(a.data[order]), on_device(a.indices[order]), a.indptr), shape=a.shape)
    made.has_sorted_indices = made.has_canonical_format = False
    return made
def parts(a):
    a = a.tocoo()
    return a.shape, a.row, a.col, a.data
'''
OF_GAUSSIANS = "^(gaussian|laplace|magnitude|into itself|itself|volume|short lines)"  # their weights are those of np.exp


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyComposed(shim_runner.TestCase):
    def test_filters_along_an_axis(self):
        self.assert_same(PRELUDE + '''
import scipy.ndimage as nd
WEIGHTS = {"even": [1.0, 2, 3, 4], "alike": [0.1, 0.7, 0.1], "opposite": [-0.3, 0.0, 0.3], "any": [0.3, 0.1, 0.9, 2, 7], "one": [3.0]}
for dtype in ("f8", "f4", "u1", "i4", "i8", "?"):
    a = make((90, 70), dtype, 50.0)
    for mode in MODES:
        for axis in (0, 1):
            name = "%s %s %d " % (dtype, mode, axis)
            for kind, weights in WEIGHTS.items():
                attempt(name + kind, nd.correlate1d, a, weights, axis, mode=mode, cval=2.5)
                attempt(name + kind + " f8", nd.convolve1d, a, weights, axis, output="f8", mode=mode, cval=-1, origin=(len(weights) - 1) // 2)
            for size in (1, 2, 3, 5, 8):
                attempt("%s min %d" % (name, size), nd.minimum_filter1d, a, size, axis, mode=mode, cval=1)
                attempt("%s max %d" % (name, size), nd.maximum_filter1d, a, size, axis, mode=mode, cval=1)
a = make((200, 300))
for sigma in (0.5, 2, (1, 3)):
    stays("gaussian %s" % (sigma,), nd.gaussian_filter, a, sigma)
stays("weights there", nd.correlate1d, a, a[0, :9])
stays("laplace", nd.gaussian_laplace, a, 2)
stays("magnitude", nd.gaussian_gradient_magnitude, a, 2)
stays("sobel", nd.sobel, a)
stays("prewitt", nd.prewitt, a, axis=0)
stays("into itself", nd.gaussian_filter, a.copy(), 1, output=a)
dump("itself", a)
stays("volume", nd.gaussian_filter, make((30, 40, 50)), 1.5)
both = make((101, 80))
attempt("beside itself", nd.correlate1d, both[1:], [1.0, 2, 3], 0, output=both[:-1])
dump("beside", both)
attempt("short lines", nd.gaussian_filter, make((3, 4000)), 5)
attempt("error", nd.correlate1d, a, [], 0)
attempt("complex", nd.correlate1d, make((200, 300)) + 1j, [1, 2.0, 1])
''', rtol={OF_GAUSSIANS: 1e-12}, atol={OF_GAUSSIANS: 1e-11})

    def test_windows(self):
        self.assert_same(PRELUDE + '''
import scipy.ndimage as nd
FOOTPRINT = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0]], bool)
for dtype in ("f8", "f4", "u1", "i4", "?"):
    a = make((60, 70), dtype, 50.0)
    for mode in MODES:
        name = "%s %s " % (dtype, mode)
        attempt(name + "correlate", nd.correlate, a, np.arange(12.0).reshape(3, 4), mode=mode, cval=2.5)
        attempt(name + "convolve", nd.convolve, a, np.arange(15.0).reshape(5, 3) - 7, output="f8", mode=mode, origin=1)
        attempt(name + "min", nd.minimum_filter, a, footprint=FOOTPRINT, mode=mode)
        attempt(name + "max", nd.maximum_filter, a, footprint=FOOTPRINT, mode=mode, origin=(1, 0))
        attempt(name + "median", nd.median_filter, a, 3, mode=mode)
        attempt(name + "rank", nd.rank_filter, a, 2, footprint=FOOTPRINT, mode=mode, cval=7)
        attempt(name + "percentile", nd.percentile_filter, a, 30, (4, 3), mode=mode)
        attempt(name + "line", nd.median_filter, a[5].copy(), 5, mode=mode)
a = make((200, 300))
for function in (nd.grey_closing, nd.grey_opening, nd.black_tophat, nd.white_tophat, nd.morphological_gradient, nd.grey_dilation):
    stays(function.__name__, function, a, 5)
stays("median", nd.median_filter, a, 5)
stays("correlate", nd.correlate, a, a[:3, :3])
stays("line", nd.rank_filter, a.ravel(), 2, 5)
a[3, 7], a[50, 60] = np.nan, -0.0
attempt("NaN", nd.median_filter, a, 3)
attempt("NaN min", nd.minimum_filter, a, 3)
attempt("NaN correlate", nd.correlate, a, np.ones((3, 3)))
attempt("error", nd.correlate, a, np.ones(3))
''')

    def test_running_means(self):
        self.assert_same(PRELUDE + '''
import scipy.ndimage as nd
for dtype in ("f8", "f4", "i4"):
    a = make((200, 300), dtype)
    for mode in MODES:
        stays("%s %s" % (dtype, mode), nd.uniform_filter, a, 5 if dtype == "i4" else (3, 4), mode=mode, output="f8")
    stays("%s 1" % dtype, nd.uniform_filter1d, a, 7, 0, output="f8", origin=2)
''', rtol=1e-11, atol=1e-11)

    def test_binary_morphology(self):
        self.assert_same(PRELUDE + '''
import scipy.ndimage as nd
a = make((300, 400)) > 100
STRUCTURES = {"cross": None, "square": np.ones((3, 3)), "even": np.array([[1, 0], [1, 1]]), "no centre": np.array([[1, 0, 1]])}
for kind, structure in STRUCTURES.items():
    for border in (0, 1):
        for function in (nd.binary_erosion, nd.binary_dilation):
            name = "%s %s %d" % (function.__name__, kind, border)
            stays(name, function, a, structure, border_value=border)
            attempt(name + " 3", function, a, structure, 3, border_value=border)
            attempt(name + " brute", function, a, structure, 2, border_value=border, brute_force=True)
            attempt(name + " mask", function, a, structure, 1, a[::-1].copy(), border_value=border)
    stays("opening " + kind, nd.binary_opening, a, structure)
    stays("closing " + kind, nd.binary_closing, a, structure)
stays("hit", nd.binary_hit_or_miss, a)
attempt("fill", nd.binary_fill_holes, a)
attempt("numbers", nd.binary_erosion, make((300, 400), "i4", 5), output="i4")
''')

    def test_signal(self):
        self.assert_same(PRELUDE + '''
import scipy.signal as signal
for dtype in ("f8", "f4", "i4", "u1", "c16"):
    a, b = make((70, 60), dtype, 50), make((4, 5), dtype, 30).copy()
    for mode in ("full", "same", "valid"):
        for boundary in ("fill", "wrap", "symm"):
            for function in (signal.convolve2d, signal.correlate2d):
                attempt("%s %s %s %s" % (function.__name__, dtype, mode, boundary), function, a, b, mode, boundary, 2)
                attempt("%s %s %s %s odd" % (function.__name__, dtype, mode, boundary), function, a, b[:3, :3], mode, boundary)
    attempt("fill " + dtype, signal.convolve2d, a, b, "same", "fill", 2.5)
    attempt("mixed " + dtype, signal.convolve2d, a, np.ones((3, 3), "f4"), "same")
for dtype in ("f8", "f4", "u1", "i4"):
    a = make((100, 120), dtype)
    attempt("medfilt2d " + dtype, signal.medfilt2d, a, (3, 5))
    attempt("medfilt " + dtype, signal.medfilt, a[7].copy(), 5)
a = make((200, 300))
stays("convolve2d", signal.convolve2d, a, a[:3, :3])
stays("medfilt2d", signal.medfilt2d, a, 5)
stays("order", signal.order_filter, a, np.ones((3, 3)), 3)
stays("savgol", signal.savgol_filter, a.ravel(), 11, 3, mode="mirror")
''', rtol={"^savgol": 1e-11}, atol={"^savgol": 1e-9})  # its weights are those of np.linalg

    def test_distances(self):
        self.assert_same(PRELUDE + '''
from scipy.spatial import distance
for dtype in ("f8", "f4", "i4"):
    a, b = make((150, 30), dtype), make((170, 30), dtype)[::-1]
    for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev"):
        stays("cdist %s %s" % (metric, dtype), distance.cdist, a, b, metric)
        stays("pdist %s %s" % (metric, dtype), distance.pdist, a, metric)
        attempt("weights %s %s" % (metric, dtype), distance.cdist, a, b, metric, w=np.arange(30.0))
    stays("cdist cosine " + dtype, distance.cdist, a, b, "cosine")
    stays("pdist cosine " + dtype, distance.pdist, a, "cosine")
a = make((150, 30))
a[7] = 0.0
attempt("no direction", distance.cdist, a, b * 1.0, "cosine")
a[3, 4] = np.nan if a.dtype.kind == "f" else 5
attempt("out", distance.cdist, a, b, out=np.empty((150, 170)))
attempt("error", distance.cdist, a, b[:, 1:])
''', rtol={"cosine|direction": 1e-12}, atol={"cosine|direction": 1e-14})

    def test_sparse_matrices(self):
        self.assert_same(PRELUDE + SPARSE + '''
COUNTS = {"even": np.full(400, 30), "uneven": np.arange(400) % 60, "steep": np.array([400] + [0] * 399)}
for dtype in ("f8", "f4", "i4", "c16"):
    x, many = make(500, dtype, 4.0), make((500, 3), dtype, 4.0)
    for name, counts in COUNTS.items():
        for kind in ("csr", "csc", "coo"):
            a, text = matrix(kind, counts, dtype=dtype), "%s %s %s " % (dtype, name, kind)
            attempt(text + "vector", lambda: a @ x)
            attempt(text + "table", lambda: a @ many)
            attempt(text + "transposed", lambda: a.T @ x[:400])
            attempt(text + "dense", a.toarray)
            attempt(text + "F", a.toarray, "F")
            attempt(text + "diagonal", a.diagonal)
            attempt(text + "below", a.diagonal, -3)
            for other in ("csr", "csc", "coo"):
                attempt(text + "to " + other, lambda: parts(a.asformat(other)))
            if kind == "csr":
                attempt(text + "rows", lambda: parts(a[20:300]))
                attempt(text + "every second", lambda: parts(a[20:300:2]))
                b = matrix("csr", counts[::-1].copy(), dtype=dtype)
                for other, with_what in (("itself", a), ("another", b), ("none", a * 0)):
                    attempt(text + "plus " + other, lambda: parts(a + with_what))
                    attempt(text + "minus " + other, lambda: parts(a - with_what))
                    attempt(text + "times " + other, lambda: parts(a.multiply(with_what)))
                attempt(text + "part", lambda: parts(a[5:200, 20:90]))
                attempt(text + "columns", lambda: parts(a[:, 100:101]))
                turned = matrix("csr", counts, dtype=dtype)
                turned.indices[:20] = turned.indices[:20][::-1].copy()
                turned.has_sorted_indices = turned.has_canonical_format = False
                attempt(text + "unsorted plus", lambda: parts(turned + a))
                for which, one, another in ("both", mixed(a), mixed(b)), ("one", mixed(a), b), ("other", a, mixed(b)), (
                        "alike", mixed(a), mixed(a)):
                    attempt(text + which + " unsorted, plus", lambda: parts(one + another))
                    attempt(text + which + " unsorted, minus", lambda: parts(one - another))
                    attempt(text + which + " unsorted, times", lambda: parts(one.multiply(another)))
                attempt(text + "sorting", lambda: (turned.sort_indices(), parts(turned)))
                twice = sparse.coo_matrix((on_device(a.data), (a.tocoo().row // 2 * 0, a.indices)), shape=a.shape)
                attempt(text + "one place twice", lambda: parts(twice.tocsr()))
                attempt(text + "sum", a.sum)
    places = np.random.default_rng(5).integers(0, 40, (2, 3000))  # 1600 of them, most of which have several numbers
    for shape in (40, 40), (50, 45):
        again = sparse.coo_matrix((make(3000, dtype, 4.0), (on_device(places[0]), on_device(places[1]))), shape=shape)
        attempt(dtype + " places of several numbers %d" % shape[0], lambda: parts(again.tocsr()))
    added = sparse.csr_matrix((make(6, dtype, 4.0), on_device(np.array([1, 1, 3, 1, 1, 1], "i4")), on_device(np.array([0, 4, 4, 6], "i4"))))
    attempt(dtype + " neighbours", lambda: (added.sum_duplicates(), parts(added)))
a = matrix("csr", np.full(3000, 50))
x = make(500)
many = sparse.coo_matrix((make(60000), (on_device(np.arange(60000) * 31 % 100), on_device(np.arange(60000) * 77 % 90))), shape=(100, 90))
stays("places of several numbers", lambda: many.tocsr().data)
stays("plus", lambda: (a + a).data)
turned = mixed(a)
stays("unsorted plus", lambda: (turned + a).data)
stays("rows", lambda: a[100:2000].data)
stays("vector", lambda: a @ x)
z = make(3000)
stays("transposed", lambda: a.T @ z)
stays("dense", a.toarray)
stays("sorted", lambda: a.T.tocsr().data)
''', rtol=1e-5, atol=1e-5)

    def test_products_of_sparse_matrices(self):
        self.assert_same(PRELUDE + SPARSE + '''
COUNTS = {"even": np.full(400, 9), "uneven": np.arange(400) % 30, "steep": np.array([300] + [0] * 399), "few": np.arange(400) % 11 == 3}
for dtype in ("f8", "f4", "i4", "u1", "c16"):
    for name, counts in COUNTS.items():
        for other_name, other_counts in COUNTS.items():
            a, b = matrix("csr", counts.astype(int), 400, dtype), matrix("csr", other_counts.astype(int), 300, dtype)
            text = "%s %s %s " % (dtype, name, other_name)
            product = lambda a, b: (lambda c: (c.shape, c.indptr, c.indices[:c.indptr[-1]], c.data[:c.indptr[-1]]))(a @ b)
            attempt(text + "csr", product, a, b)
            attempt(text + "csc", product, a.tocsc(), b.tocsc())
            attempt(text + "itself", product, a, a)
            attempt(text + "turned", lambda: product(a, a.T.tocsr()))
            attempt(text + "vanishing", product, sparse.hstack([a, a]).tocsr(), sparse.vstack([b, -b]).tocsr())
a, b = matrix("csr", np.full(400, 9), 400), matrix("csr", np.full(400, 9), 400, "f4")
attempt("two types", lambda: parts(a @ b))
a.indices = a.indices[::-1].copy()
attempt("unsorted", lambda: parts(a @ a))
a.data[5] = np.nan
attempt("NaN", lambda: parts(a @ a))
a = matrix("csr", np.full(2000, 12), 2000)
stays("stays", lambda: (a @ a).data)
''')

    def test_ranks(self):
        self.assert_same(PRELUDE + '''
import scipy.stats as stats
a = on_device(np.arange(50000) * 7919 % 997 * 0.5)
for method in ("average", "min", "max", "dense", "ordinal"):
    stays(method, stats.rankdata, a, method)
    attempt("rows " + method, stats.rankdata, a.reshape(50, 1000), method, axis=1)
''')

    def test_transforms(self):
        self.assert_same(PRELUDE + '''
import scipy.fft as fft
for dtype in ("f8", "f4", "c16", "i4"):
    for shape in ((1, 1), (2, 3), (30, 40), (31, 45)):
        a = make(shape, dtype, 1.0) * 7
        for norm in (None, "ortho", "forward"):
            for function in (fft.dct, fft.idct, fft.dst, fft.idst):
                for kind in (1, 2, 3, 4):
                    for axis in (0, 1):
                        attempt("%s %s %s %s %d %d" % (function.__name__, dtype, shape, norm, kind, axis), function, a, kind, None, axis, norm)
            for function in (fft.dctn, fft.idctn, fft.dstn, fft.idstn):
                attempt("%s %s %s %s" % (function.__name__, dtype, shape, norm), function, a, norm=norm)
                attempt("%s %s %s %s ortho" % (function.__name__, dtype, shape, norm), function, a, norm=norm, orthogonalize=True)
            attempt("overwritten %s %s %s" % (dtype, shape, norm), fft.dct, a.copy(), norm=norm, overwrite_x=True)
a = make(50000, spread=1.0)
for function in (fft.dct, fft.idct, fft.dst, fft.idst, fft.ihfft):
    stays(function.__name__, function, a)
stays("hfft", fft.hfft, a + 1j * a[::-1])
stays("hfft2", fft.hfft2, (a + 1j * a[::-1]).reshape(200, 250))
stays("ihfftn", fft.ihfftn, a.reshape(200, 250))
''', rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
