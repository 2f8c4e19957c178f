# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): sums of segments, and of products."""

# --- segments ---------------------------------------------------------------------------------------

def reduceat(ufunc, array, indices, axis=0):
    """Of many segments of an array of one dimension: as rows of a table, shorter ones filled up."""
    index = as_index(indices)
    if index is None or as_array(indices).dtype.kind == 'b' or index.ndim != 1 or index.size < 2:
        return NotImplemented
    if not is_plain(array) or array.ndim != 1 or axis != 0 or not is_within(index, array.size):
        return NotImplemented
    ends = m.maximum(m.concatenate((index[1:], m.array([array.size]))), m.add(index, 1))
    lengths = m.subtract(ends, index)
    longest = int(lengths.max())
    with quiet():
        if longest * index.size > 4 * array.size + 65536:
            result = scattered_segments(ufunc, array, index)
        elif int(lengths.min()) == longest and int(index[-1]) + longest == int(index[0]) + longest * index.size:
            result = ufunc.reduce(array[int(index[0]):].reshape(-1, longest), 1)
        else:
            result = joined_segments(ufunc, array, m.add(index[:, None], m.arange(longest)), ends[:, None])
    return result if result is NotImplemented or has_sure_bits(ufunc, array, index, result) else NotImplemented


def joined_segments(ufunc, array, places, ends):
    if ufunc in (m.add, m.multiply):
        table = array.take(m.minimum(places, array.size - 1))
        return ufunc.reduce(table, 1, where=m.less(places, ends))
    if ufunc in (m.maximum, m.minimum, m.bitwise_and, m.bitwise_or):  # the last one again changes nothing
        return ufunc.reduce(array.take(m.minimum(places, m.subtract(ends, 1))), 1)
    return NotImplemented


def scattered_segments(ufunc, array, index):
    """Of segments that follow each other and of which few are long, where the order does not matter."""
    if not m.less(index[:-1], index[1:]).all():
        return NotImplemented
    if ufunc is m.add and array.dtype.kind in 'biu':
        result = m.zeros(index.size, m.add.reduce(array[:1]).dtype)
    elif ufunc in (m.maximum, m.minimum, m.bitwise_and, m.bitwise_or) and array.dtype.kind != 'c':  # the first one again changes nothing
        result = array.take(index)
    else:
        return NotImplemented
    part = array[int(index[0]):]
    is_first = m.zeros(part.size, 'l')
    is_first[m.subtract(index, index[0])] = 1
    segment = m.subtract(is_first.cumsum(), 1)
    ufunc.at(result, segment, part.astype(result.dtype, copy=False))
    return result


def has_sure_bits(ufunc, array, index, result):
    """Nothing that NumPy warns of, and no zero whose sign depends on the version of NumPy. That of a sum does where all its elements
    are -0.0."""
    if result.dtype.kind not in 'fc':
        return True
    if result.dtype.kind == 'c' or not m.isfinite(result).all():
        return False
    is_zero = m.equal(result, 0)
    if not is_zero.any():
        return True
    if ufunc is not m.add:
        return not m.signbit(array).any()
    return not m.logical_and(is_zero, reduceat(m.bitwise_and, m.signbit(array), index)).any()


# --- products ---------------------------------------------------------------------------------------

def windows(array, length):
    """All runs of that many neighbours, a view; of a contiguous array of one dimension."""
    step = array.itemsize
    return m.ndarray((array.size - length + 1, length), array.dtype, array, 0, (step, step))


def is_finite(array):
    return array.dtype.kind not in 'fc' or bool(m.isfinite(array).all())


def correlated(array, weights, mode):
    """The correlation of arrays of one dtype, array.size >= weights.size. NumPy's sums begin with 0.0, so none is -0.0; those of
    a GPU's product of a column may be."""
    length = weights.size
    before = {0: 0, 1: length // 2, 2: length - 1}[mode]
    after = {0: 0, 1: length - length // 2 - 1, 2: length - 1}[mode]
    padded = m.ascontiguousarray(array)
    if mode != 0:
        padded = m.zeros(before + array.size + after, array.dtype)
        padded[before:before + array.size] = array
    sums = m.matmul(windows(padded, length), weights)
    return m.add(sums, 0, sums) if sums.dtype.kind in 'fc' else sums


def correlate(array, weights, mode=0):
    mode = {'valid': 0, 'same': 1, 'full': 2}.get(mode, mode)
    array, weights = as_array(array), as_array(weights)
    if not (is_plain(array) and is_plain(weights)) or mode not in (0, 1, 2) or not array.ndim == weights.ndim == 1:
        return NotImplemented
    dtype = m.result_type(array.dtype, weights.dtype)
    if not array.size >= weights.size > 0 or dtype.char in 'e?' or array.size * weights.size > 2 ** 40:
        return NotImplemented
    if not (is_finite(array) and is_finite(weights)):  # a product with a zero beyond the end would be NaN
        return NotImplemented
    return correlated(array.astype(dtype, copy=False), weights.astype(dtype, copy=False), mode)


def correlate2(array, weights, mode=0):
    array, weights = as_array(array), as_array(weights)
    if is_plain(weights) and weights.dtype.kind == 'c':
        weights = weights.conj()
    return correlate(array, weights, mode)


def c_einsum(subscripts, *operands):
    """More than two operands: pairwise, along the path that NumPy finds. Two that are no matrices: a sum of products."""
    import numpy
    if type(subscripts) is not str or len(operands) < 2 or not all(map(is_plain, operands)):
        return NotImplemented
    operands = of_one_dtype(operands)
    if operands is None or operands[0].dtype.char in 'e?':
        return NotImplemented
    operands, path = numpy.einsum_path(subscripts, *operands, optimize='greedy', einsum_call=True)
    operands = list(operands)
    if len(operands) == 2:
        return sum_of_products(next(part for part in path[0] if type(part) is str and '->' in part), *operands[::-1])
    if any(len(step[0]) > 2 for step in path):
        return NotImplemented
    for step in path:
        text = next(part for part in step if type(part) is str and '->' in part)
        operands.append(m.c_einsum(text, *[operands.pop(place) for place in step[0]]))
    return operands[0]


def of_one_dtype(operands):
    """The operands in the dtype in which NumPy multiplies them. None: it may depend on a value (NumPy 1)."""
    if all(operand.dtype == operands[0].dtype for operand in operands):
        return operands
    if any(operand.ndim == 0 for operand in operands):
        return None
    common = m.result_type(*operands)
    return [operand.astype(common, copy=False) for operand in operands]


def sum_of_products(text, x, y):
    """Of two operands without repeated labels; text names all labels."""
    inputs, _, output = text.partition('->')
    first, second = inputs.split(',')
    labels = output + ''.join(label for label in dict.fromkeys(first + second) if label not in output)
    if len(set(first)) < len(first) or len(set(second)) < len(second) or len(labels) == len(output):
        return NotImplemented
    with quiet():
        product = m.multiply(spread(x, first, labels), spread(y, second, labels))
        return m.add.reduce(product, tuple(range(len(output), len(labels))), x.dtype)


def spread(array, own, labels):
    """A view whose dimensions are those of all labels; of extent 1 where the array has none."""
    array = array.transpose([own.index(label) for label in labels if label in own])
    return array[tuple(slice(None) if label in own else None for label in labels)]


def squares(solved, first):
    """Sums of the squares in each column, from row `first` on."""
    rows = solved[first:]
    with quiet():
        if rows.dtype.kind == 'c':
            return m.add.reduce(m.add(m.square(rows.real), m.square(rows.imag)), 0)
        return m.add.reduce(m.square(rows), 0)


def last(array, axis):
    """A view with that axis last."""
    axes = list(range(array.ndim))
    axes.append(axes.pop(axis))
    return array.transpose(axes)


def vecdot(x, y, axis=-1):
    """With axis=."""
    if not (is_plain(x) and is_plain(y)) or axis_of(axis, x.ndim) is None or axis_of(axis, y.ndim) is None:
        return NotImplemented
    return m.vecdot(last(x, axis), last(y, axis))
