# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): what rests on searches and counts."""
import builtins as python
import math

MOST_BINS = 2 ** 20
SAMPLE = 1000  # weights that tell whether others may be integers
MOST_COLUMNS = 32  # of rows that are sorted, one after the other
EXACT_BITS = 52  # of a sum of weights: a double has 53
MOST_SHIFT = 900  # 2.0 ** MOST_SHIFT * 2.0 ** EXACT_BITS is finite
OWN_BLOCK, BLOCK = 65536, 2 ** 24  # elements of a histogram at a time: NumPy's, and those that few launches are for
BINNED = 2 ** 26  # elements whose bins are computed at a time
blocked = {}  # function of NumPy: the same with BLOCK
interpolates_alike = {}  # dtype of the heights: whether NumPy's code gives what interpolated does

# --- numpy.interp (arr_interp of NumPy's compiled_base.c) -------------------------------------------


def line_as(operand, dtype):
    """As doubles, or complex numbers. None: NumPy may refuse it."""
    line = as_array(operand)
    if not is_plain(line) or line.ndim != 1 or (line.dtype.kind == 'c' and dtype == 'd'):
        return None
    return line.astype(dtype, copy=False)


def interp(x, xp, fp, left=None, right=None):
    return interp_as('d', (int, float), x, xp, fp, left, right)


def interp_complex(x, xp, fp, left=None, right=None):
    return interp_as('D', (int, float, complex), x, xp, fp, left, right)


def interp_as(dtype, types, x, xp, fp, left, right):
    x, points, heights = as_array(x), line_as(xp, 'd'), line_as(fp, dtype)
    if not is_plain(x) or x.dtype.kind == 'c' or x.ndim == 0 or x.size == 0 or points is None or heights is None:
        return NotImplemented
    if points.size != heights.size or points.size < 2 or not m.less_equal(points[:-1], points[1:]).all():
        return NotImplemented
    left, right = [heights[end] if given is None else given for end, given in ((0, left), (-1, right))]
    if not (isinstance(left, types) and isinstance(right, types)) or not agrees(dtype):
        return NotImplemented
    return interpolated(x.astype('d', 'C', copy=False), points, heights, left, right)


def agrees(dtype):
    """Whether NumPy rounds each product and each sum, as the device does; of lists, which no hook takes."""
    if dtype not in interpolates_alike:
        points, heights = [i * 0.7 + i % 3 / 9 for i in range(20)], [i % 7 / 3 - i * 1.1 for i in range(20)]
        x = [i / 13 - 1 for i in range(200)]
        heights, function = (heights, m.interp) if dtype == 'd' else ([h + h * 0.3j for h in heights], m.interp_complex)
        made = interpolated(m.array(x), m.array(points), m.array(heights), heights[0], heights[-1])
        interpolates_alike[dtype] = made.tobytes() == function(x, points, heights).tobytes()
    return interpolates_alike[dtype]


def interpolated(x, points, heights, left, right):
    """Of doubles; x is contiguous, the points do not descend. NumPy reports no floating-point errors."""
    place = m.maximum(m.subtract(points.searchsorted(x, 'right'), 1), 0)  # of the last point that is not above
    low = m.minimum(place, points.size - 2)
    start, end = points.take(low), points.take(m.add(low, 1))
    is_point = m.equal(points.take(place), x)
    is_below, is_above, is_nan = m.less(x, points[0]), m.greater(x, points[-1]), m.isnan(x)
    with quiet():
        def part(values, left, right, of_nan):
            """Of the real or imaginary parts, or the numbers."""
            first, second = values.take(low), values.take(m.add(low, 1))
            rise = m.subtract(second, first)
            slope = m.multiply(rise, inverse) if is_complex else m.divide(rise, m.subtract(end, start))
            forth = m.add(m.multiply(slope, m.subtract(x, start)), first)
            back = m.add(m.multiply(slope, m.subtract(x, end)), second)
            back = m.where(m.logical_and(m.isnan(back), m.equal(first, second)), first, back)
            made = m.where(is_point, values.take(place), m.where(m.isnan(forth), back, forth))
            return m.where(is_nan, of_nan, m.where(is_below, left, m.where(is_above, right, made)))

        is_complex = heights.dtype.kind == 'c'
        if not is_complex:
            return part(heights, float(left), float(right), x)
        inverse, left, right = m.divide(1.0, m.subtract(end, start)), complex(left), complex(right)
        result = m.empty(x.shape, 'D')
        result.real[...] = part(heights.real, left.real, right.real, x)
        result.imag[...] = part(heights.imag, left.imag, right.imag, 0.0)
    return result


# --- histograms -------------------------------------------------------------------------------------

def histogram(dispatcher, a, bins=10, range=None, density=None, weights=None):
    """By NumPy's own function, with larger blocks: counts are the same for blocks of any size, sums of weights are not. Of bools
    and complex numbers it warns in each block."""
    if not is_plain(a) or a.dtype.kind not in 'iuf' or a.size <= OWN_BLOCK:
        return NotImplemented
    if weights is not None and not (is_plain(weights) and weights.dtype.kind in 'iuf' and weights.dtype.itemsize <= 8 and
                                    weights.shape == a.shape):
        return NotImplemented
    function = dispatcher._implementation
    if OWN_BLOCK not in function.__code__.co_consts:
        return NotImplemented
    found = equal_bins(function, a, bins, range) if type(bins) is int and bins < MOST_BINS else None
    if found is NotImplemented or (found is None and weights is not None):
        return NotImplemented
    if found is None:
        return with_blocks(function)(a, bins, range, density)
    edges, count, place_of = found
    with quiet():
        counts = counts_of(a.reshape(-1), count, place_of) if weights is None else \
            sums_of(a.reshape(-1), weights.reshape(-1), count, place_of)
    if counts is NotImplemented:
        return counts
    if density:
        widths = m.array(m.subtract(edges[1:], edges[:-1]), 'd')
        return m.divide(m.divide(counts, widths), counts.sum()), edges
    return counts, edges


def equal_bins(function, a, bins, range):
    """(edges, number of bins, function), which gives the bins of elements, by the steps of NumPy's function; those out of range have
    a bin of their own, the last. None: not of this version. NotImplemented: an element may meet a floating-point error."""
    import numpy
    own, is_old = function.__globals__, 'norm' in function.__code__.co_varnames
    if not is_old and 'norm_numerator' not in function.__code__.co_varnames:
        return None
    if numpy.geterr()['under'] != 'ignore':
        return NotImplemented
    with quiet():
        edges, (first, last, count) = own['_get_bin_edges'](a.reshape(-1), bins, range, None)
        width = own['_unsigned_subtract'](last, first)
        scale = m.divide(count, width)
        if not (width > 0 and m.isfinite(width) and m.isfinite(scale)):
            return NotImplemented
        edge = edge_at(edges, first, last, count)

    def place_of(part):
        is_in = None if range is None else m.logical_and(m.greater_equal(part, first), m.less_equal(part, last))
        part = part.astype(edges.dtype, copy=False)
        place = own['_unsigned_subtract'](part, first)
        place = m.multiply(place, scale) if is_old else m.multiply(m.divide(place, width), count)
        place = m.minimum(place.astype('i'), count - 1)
        place = place if is_in is None else m.maximum(place, 0)
        is_below = m.less(part, edge(place))
        is_above = m.logical_and(m.greater_equal(part, edge(m.add(place, 1))), m.not_equal(place, count - 1))
        place = m.subtract(m.add(place, is_above), is_below.astype('i')).astype('l')
        return place if is_in is None else m.where(is_in, place, count)
    return edges, count, place_of


def counts_of(a, count, place_of):
    counts = m.zeros(count + 1, 'l')
    for start in python.range(0, a.size, BINNED):
        m.add.at(counts, place_of(a[start:start + BINNED]), 1)
    return counts[:count]


def sums_of(a, weights, count, place_of):
    """Sums of weights: of each of NumPy's blocks in float64, one element after another, and then of the blocks. NotImplemented: the
    blocks have more bins than elements."""
    sums, row = m.zeros(count, weights.dtype), count + 1
    if row > OWN_BLOCK:
        return NotImplemented
    for start in python.range(0, a.size, BINNED):
        place, part = place_of(a[start:start + BINNED]), weights[start:start + BINNED].astype('d')
        blocks = -(-part.size // OWN_BLOCK)
        of_blocks = m.zeros(blocks * row)
        m.add.at(of_blocks, m.add(place, m.multiply(m.floor_divide(m.arange(part.size), OWN_BLOCK), row)), part)
        of_blocks = of_blocks.reshape(blocks, row)[:, :count].astype(sums.dtype).reshape(-1)
        m.add.at(sums, m.remainder(m.arange(blocks * count), count), of_blocks)
    return sums


def edge_at(edges, first, last, count):
    """Gives the edges of so many places, the last edge apart, which may be any number: computed as numpy.linspace does where that gives
    the same, because arithmetic is cheaper than to look them up."""
    for dtype in ('d', edges.dtype.char):
        number = m.dtype(dtype).type
        low, high = number(first), number(last)
        step = m.divide(m.subtract(high, low), number(count))

        def computed(place):
            return m.add(m.multiply(place.astype(dtype), step), low).astype(edges.dtype, copy=False)
        if m.equal(computed(m.arange(count)), edges[:count]).all():
            return computed
    return edges.take


def with_blocks(function):
    if function not in blocked:
        code = function.__code__
        constants = tuple(BLOCK if type(one) is int and one == OWN_BLOCK else one for one in code.co_consts)
        blocked[function] = type(function)(code.replace(co_consts=constants), function.__globals__, function.__name__,
                                           function.__defaults__, function.__closure__)
    return blocked[function]


# --- distinct rows ----------------------------------------------------------------------------------

def unique(dispatcher, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, **others):
    """With axis=. Rows that are equal have equal bits: none with NaN or -0.0."""
    if axis is None or not {type(return_index), type(return_inverse), type(return_counts)} <= {bool} or others:
        return NotImplemented
    if return_inverse and not has_flat_inverse(dispatcher):
        return NotImplemented
    if not is_plain(ar) or ar.dtype.kind not in 'biuf' or ar.ndim < 2 or ar.size == 0 or axis_of(axis, ar.ndim) is None:
        return NotImplemented
    axes = list(range(ar.ndim))
    axes.insert(0, axes.pop(axis))
    turned = ar.transpose(axes)
    table = m.ascontiguousarray(turned.reshape(turned.shape[0], -1))
    if table.shape[1] > MOST_COLUMNS or not has_one_form(table):
        return NotImplemented
    order = m.lexsort([table[:, column] for column in reversed(range(table.shape[1]))])
    rows = table.take(order, 0)
    is_first = m.empty(len(rows), '?')
    is_first[:1] = True
    m.logical_or.reduce(m.not_equal(rows[1:], rows[:-1]), 1, out=is_first[1:])
    made = rows[is_first].reshape((-1,) + turned.shape[1:]).transpose([axes.index(d) for d in range(ar.ndim)])
    found = (made,) + ((order[is_first],) if return_index else ())
    if return_inverse:
        inverse = m.empty(len(rows), 'l')
        inverse[order] = m.subtract(is_first.cumsum(), 1)
        found += (inverse,)
    if return_counts:
        starts = m.concatenate((is_first.nonzero()[0], m.array([len(rows)])))
        found += (m.subtract(starts[1:], starts[:-1]),)
    return found if len(found) > 1 else made


def has_flat_inverse(dispatcher):
    """Whether NumPy's inverse with axis= has one dimension: versions differ."""
    return dispatcher._implementation(m.zeros((1, 1)), return_inverse=True, axis=0)[1].ndim == 1


def has_one_form(table):
    """Whether elements that are equal have equal bits, and each equals itself."""
    if table.dtype.kind != 'f':
        return True
    is_zero = m.logical_and(m.equal(table, 0), m.signbit(table))
    return not m.logical_or(is_zero, m.isnan(table)).any()


# --- the order of bins, for numpy.digitize ----------------------------------------------------------

def _monotonicity(bins):
    """1: they do not descend. -1: they do not rise. As float64, in which large integers may be equal, as NumPy compares them."""
    if not is_plain(bins) or bins.dtype.kind == 'c' or bins.ndim != 1 or bins.size < 2:
        return NotImplemented
    bins = bins.astype('d', copy=False)
    if m.less_equal(bins[:-1], bins[1:]).all():
        return 1
    return -1 if m.greater_equal(bins[:-1], bins[1:]).all() else NotImplemented


# --- sums of weights --------------------------------------------------------------------------------

def bincount(x, weights=None, minlength=0):
    """With weights. Where no sum of theirs is rounded, they are added as integers times a power of two; else in NumPy's order.
    minlength: an int or an np.int64, not below 0."""
    numbers, weights = as_index(x), as_array(weights)
    if numbers is None or numbers.ndim != 1 or not is_plain(weights) or weights.dtype.kind == 'c':
        return NotImplemented
    if numbers.size == 0 or weights.shape != numbers.shape:
        return NotImplemented
    bins = max(int(numbers.max()) + 1, int(minlength))
    if numbers.min() < 0 or bins > max(numbers.size, MOST_BINS):
        return NotImplemented
    return sums_of(numbers, weights.astype('d', copy=False), bins)


def sums_of(numbers, weights, bins):
    scaled, scale = None, 0
    if as_integers(weights[:SAMPLE])[0] is not None:
        scaled, scale = as_integers(weights)
    sums = m.zeros(bins, 'd' if scaled is None else 'l')
    with quiet():
        m.add.at(sums, numbers, weights if scaled is None else scaled)
    return sums if scaled is None else m.divide(sums, scale)


def as_integers(weights):
    """(integers, the number that they are divided by). (None, 0): a sum of the weights may be rounded."""
    with quiet():
        total = float(m.add.reduce(m.absolute(weights)))
        shift = EXACT_BITS - math.frexp(total)[1] if math.isfinite(total) else -1  # total: about the sum, below 2 ** EXACT_BITS
        if not 0 <= shift <= MOST_SHIFT:
            return None, 0
        scaled = m.multiply(weights, 2.0 ** shift)
        integers = scaled.astype('l')
    return (integers, 2.0 ** shift) if m.equal(integers, scaled).all() else (None, 0)
