# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.spatial.distance (SciPy's distance_pybind.cpp), which adds term after term in float64.
It reports no floating-point errors."""

MOST_COORDINATES = 256
MOST_PAIRS = 2 ** 30


def points_of(operand):
    """None: no points."""
    if not is_plain(operand) or operand.ndim != 2 or operand.dtype.kind == 'c' or not 0 < operand.shape[1] <= MOST_COORDINATES:
        return None
    return operand.astype('d', copy=False)


def distances(x, y, term, join, w=None, out=None):
    x, y = points_of(x), points_of(y)
    if w is not None or out is not None or x is None or y is None or x.shape[1] != y.shape[1]:
        return NotImplemented
    if not 0 < x.shape[0] * y.shape[0] <= MOST_PAIRS or not (join is m.add or (is_finite(x) and is_finite(y))):
        return NotImplemented
    total = None
    with quiet():
        for place in range(x.shape[1]):
            terms = term(m.subtract(x[:, place, None], y[None, :, place]))
            total = terms if total is None else join(total, terms)
    return total


def rooted(squares):
    return squares if squares is NotImplemented else m.sqrt(squares)


def cdist_sqeuclidean(x, y, w=None, out=None):
    return distances(x, y, m.square, m.add, w, out)


def cdist_euclidean(x, y, w=None, out=None):
    return rooted(distances(x, y, m.square, m.add, w, out))


def cdist_cityblock(x, y, w=None, out=None):
    return distances(x, y, m.absolute, m.add, w, out)


def cdist_chebyshev(x, y, w=None, out=None):
    return distances(x, y, m.absolute, m.maximum, w, out)


def of_pairs(table):
    """What lies above the diagonal, row after row."""
    if table is NotImplemented or table.shape[0] < 2:
        return NotImplemented
    place = m.arange(table.shape[0])
    return table[m.less(place[:, None], place[None, :])]


def pdist_sqeuclidean(x, w=None, out=None):
    return of_pairs(distances(x, x, m.square, m.add, w, out))


def pdist_euclidean(x, w=None, out=None):
    return rooted(of_pairs(distances(x, x, m.square, m.add, w, out)))


def pdist_cityblock(x, w=None, out=None):
    return of_pairs(distances(x, x, m.absolute, m.add, w, out))


def pdist_chebyshev(x, w=None, out=None):
    return of_pairs(distances(x, x, m.absolute, m.maximum, w, out))


def norms_of(points):
    return m.sqrt(m.add.reduce(m.square(points), 1))


def cosine_distances(x, y):
    """Of products of matrices. None: no points."""
    x, y = points_of(x), points_of(y)
    if x is None or y is None or x.shape[1] != y.shape[1] or not 0 < x.shape[0] * y.shape[0] <= MOST_PAIRS:
        return None
    with quiet():
        cosine = m.divide(m.matmul(x, y.T), m.multiply(norms_of(x)[:, None], norms_of(y)[None, :]))
        cosine = m.where(m.greater(m.absolute(cosine), 1.0), m.copysign(1.0, cosine), cosine)
        return m.subtract(1.0, cosine)


def cdist_cosine(x, y, out):
    made = cosine_distances(x, y)
    if made is None or not is_written(out) or out.shape != made.shape or out.dtype.char != 'd':
        return NotImplemented
    out[...] = made


def pdist_cosine(x, out):
    made = cosine_distances(x, x)
    made = NotImplemented if made is None else of_pairs(made)
    if made is NotImplemented or not is_written(out) or out.shape != made.shape or out.dtype.char != 'd':
        return NotImplemented
    out[...] = made
