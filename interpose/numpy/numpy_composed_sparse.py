# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.sparse's C module (SciPy 1.17 and 1.18: csr.h, csc.h, coo.h). It adds a row's products one
after the other; here a row's sum is one of NumPy's. Matrices whose rows are of too different lengths are left to SciPy."""

MOST_VECTORS = 64


def is_matrix(data, *indices):
    """Numbers, and integers of which none is out of bounds, as SciPy has checked."""
    return is_plain(data) and data.dtype.kind in 'iufc' and data.size > 0 and all(
        is_plain(index) and index.ndim == 1 and index.dtype.kind == 'i' for index in indices)


def is_vector_pair(data, x, y):
    return is_plain(x) and is_written(y) and x.dtype == y.dtype == data.dtype and x.ndim == y.ndim == 1 and y.flags.c_contiguous


def table_of_rows(starts, count):
    """(places of each row's numbers, which of them are there); the latter None: all are, in order. None: rows too uneven."""
    lengths = m.subtract(starts[1:], starts[:-1])
    rows, longest = lengths.size, int(lengths.max()) if lengths.size else 0
    if longest == 0 or longest * rows > 4 * count + 65536:
        return None
    if int(lengths.min()) == longest and longest * rows == count:
        return (rows, longest), None
    places = m.add(starts[:-1, None], m.arange(longest))
    return m.minimum(places, count - 1), m.less(places, starts[1:, None])


def row_sums(table, values):
    places, is_there = table
    if is_there is None:
        return m.add.reduce(values.reshape(places), 1, values.dtype)
    return m.add.reduce(values.take(places), 1, values.dtype, where=is_there)


def rows_of(starts, size):
    """The row of each number."""
    rows = m.arange(starts.size - 1).repeat(m.subtract(starts[1:], starts[:-1]).astype('l', copy=False))
    if rows.size != size:
        raise ValueError  # the first row does not begin at 0
    return rows


def starts_of(rows, count):
    """Where each row begins, of sorted or unsorted rows' numbers."""
    made = m.zeros(count + 1, 'l')
    made[1:] = m.bincount(rows, minlength=count).cumsum()
    return made


def multiplied(starts, columns, data, x, y):
    """y += the products of rows with each x; x and y: lists of vectors."""
    table = table_of_rows(starts, data.size)
    if table is None:
        return NotImplemented
    with quiet():
        sums = [m.add(target, row_sums(table, m.multiply(data, vector.take(columns)))) for vector, target in zip(x, y)]
    for target, total in zip(y, sums):
        target[...] = total


def vectors_of(flat, count):
    table = flat.reshape(-1, count)
    return [table[:, place] for place in range(count)]


def csr_matvecs(rows, columns, count, starts, indices, data, x, y):
    if not is_matrix(data, starts, indices) or not is_vector_pair(data, x, y) or count > MOST_VECTORS:
        return NotImplemented
    size = int(starts[-1])
    return multiplied(starts, indices[:size], data[:size], vectors_of(x, count), vectors_of(y, count))


def csc_matvec(rows, columns, starts, indices, data, x, y):
    return csc_matvecs(rows, columns, 1, starts, indices, data, x, y)


def csc_matvecs(rows, columns, count, starts, indices, data, x, y):
    if not is_matrix(data, starts, indices) or not is_vector_pair(data, x, y) or count > MOST_VECTORS:
        return NotImplemented
    size = int(starts[-1])
    return by_rows(rows, indices[:size], rows_of(starts, size), data[:size], vectors_of(x, count), vectors_of(y, count))


def by_rows(count, rows, columns, data, x, y):
    """Numbers in any order, sorted by their rows."""
    order = rows.argsort(kind='stable')
    return multiplied(starts_of(rows, count), columns.take(order), data.take(order), x, y)


def coo_matvec(count, rows, columns, data, x, y):
    if not is_matrix(data, rows, columns) or not is_vector_pair(data, x, y) or not count == data.size == rows.size == columns.size:
        return NotImplemented
    return by_rows(y.size, rows, columns, data, [x], [y])


def is_sorted_in_rows(starts, indices, compare=m.greater):
    """Whether the columns rise within each row; starts do not descend."""
    rises = compare(indices[1:], indices[:-1])
    begins = starts[1:-1]
    begins = begins[m.logical_and(m.greater(begins, 0), m.less(begins, indices.size))]
    if begins.size:
        rises[m.subtract(begins, 1)] = True
    return bool(rises.all()) and bool(m.less_equal(starts[:-1], starts[1:]).all())


def csr_has_canonical_format(rows, starts, indices):
    if not is_matrix(indices, starts) or starts.size != rows + 1:
        return NotImplemented
    return int(is_sorted_in_rows(starts, indices[:int(starts[-1])]))


def csr_has_sorted_indices(rows, starts, indices):
    if not is_matrix(indices, starts) or starts.size != rows + 1:
        return NotImplemented
    return int(is_sorted_in_rows(starts, indices[:int(starts[-1])], m.greater_equal))


def keys_of(starts, indices, columns):
    """A number for each place of the matrix that rises with rows, then columns."""
    return m.add(m.multiply(rows_of(starts, indices.size), columns), indices)


def rises(keys):
    return bool(m.less(keys[:-1], keys[1:]).all())


def csr_sort_indices(rows, starts, indices, data):
    if not is_matrix(data, starts, indices) or not is_written(indices) or not is_written(data) or starts.size != rows + 1:
        return NotImplemented
    size = int(starts[-1])
    if size == 0:
        return NotImplemented
    keys = keys_of(starts, indices[:size], int(indices[:size].max()) + 1)
    order = keys.argsort(kind='stable')  # SciPy leaves the order of equal ones open
    values = indices.take(order), data.take(order)
    indices[:size] = values[0]
    data[:size] = values[1]


def csr_sum_duplicates(rows, columns, starts, indices, data):
    """Neighbours of one row and column become the first of them, whose number is the sum."""
    if not is_matrix(data, starts, indices) or starts.size != rows + 1 or not (is_written(starts) and is_written(indices) and is_written(data)):
        return NotImplemented
    size = int(starts[-1])
    if size < 2:
        return NotImplemented
    keys = keys_of(starts, indices[:size], columns)
    is_first = m.empty(size, '?')
    is_first[0] = True
    m.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    firsts = is_first.nonzero()[0]
    if firsts.size == size:
        return None
    values = indices.take(firsts), m.add.reduceat(data[:size], firsts)
    begins = firsts.searchsorted(starts)
    indices[:firsts.size], data[:firsts.size] = values
    starts[...] = begins


def get_csr_submatrix(rows, columns, starts, indices, data, first_row, last_row, first, last):
    if not is_matrix(data, starts, indices) or not (0 <= first_row < last_row <= rows and 0 <= first < last <= columns):
        return NotImplemented
    begin, end = int(starts[first_row]), int(starts[last_row])
    if begin >= end:
        return NotImplemented
    starts = m.subtract(starts[first_row:last_row + 1], starts[first_row])
    indices, data = indices[begin:end], data[begin:end]
    if first > 0 or last < columns:
        kept = m.logical_and(m.greater_equal(indices, first), m.less(indices, last))
        row = rows_of(starts, indices.size)[kept]
        starts = starts_of(row, last_row - first_row).astype(starts.dtype)
        return starts, m.subtract(indices[kept], first).astype(indices.dtype, copy=False), data[kept]
    return starts, indices.copy(), data.copy()


def joined_matrices(function, shape, one, other, outputs):
    """function(a, b) of all places that one of two matrices has, but for those where it is 0. No matrix has a place twice."""
    arrays = one + other
    if not is_matrix(one[2], *one[:2], *other[:2]) or not is_matrix(other[2]) or not all(map(is_written, outputs)):
        return NotImplemented
    if not one[2].dtype == other[2].dtype == outputs[2].dtype or any(part.size != shape[0] + 1 for part in arrays[::3]):
        return NotImplemented
    sizes = int(one[0][-1]), int(other[0][-1])
    if min(sizes) == 0 or shape[0] * max(shape[1], sum(sizes) + 1) >= 2 ** 62:
        return NotImplemented
    keys = [keys_of(part[0], part[1][:size], shape[1]) for part, size in zip((one, other), sizes)]
    values = [part[2][:size] for part, size in zip((one, other), sizes)]
    seen = None
    if not all(map(rises, keys)):
        orders = [part.argsort(kind='stable') for part in keys]
        keys, values = ([part.take(order) for part, order in zip(parts, orders)] for parts in (keys, values))
        if not all(map(rises, keys)):
            return NotImplemented
        first, second = merged(keys, [m.add(orders[0], 1), m.add(orders[1], 1 + sizes[0])])[1]
        seen = m.where(m.greater(first, 0), first, second)
    if sizes[0] == sizes[1] and m.equal(*keys).all():
        keys = keys[0]
    else:
        keys, values = merged(keys, values)
    with quiet():
        made = function(*values)
        kept = m.not_equal(made, 0).nonzero()[0]
    keys, made = keys.take(kept), made.take(kept)
    rows = m.floor_divide(keys, shape[1])
    if seen is not None:  # of unsorted matrices SciPy gives in each row the place first that it has seen last
        order = m.subtract(m.multiply(rows, sum(sizes) + 1), seen.take(kept)).argsort(kind='stable')
        keys, made = keys.take(order), made.take(order)
    starts = starts_of(rows, shape[0])
    outputs[1][:keys.size] = m.remainder(keys, shape[1])
    outputs[2][:keys.size] = made
    outputs[0][...] = starts


def merged(keys, values):
    """All keys, sorted, and for each its values in both matrices; 0 where it has none."""
    order = m.concatenate(keys).argsort(kind='stable')
    keys = m.concatenate(keys).take(order)
    zeros = [m.zeros(part.size, part.dtype) for part in values]
    one = m.concatenate((values[0], zeros[1])).take(order)
    other = m.concatenate((zeros[0], values[1])).take(order)
    is_twice = m.equal(keys[1:], keys[:-1])  # the first matrix's comes first
    m.copyto(other[:-1], other[1:].copy(), where=is_twice)
    is_first = m.empty(keys.size, '?')
    is_first[:1] = True
    is_first[1:] = m.logical_not(is_twice)
    place = is_first.nonzero()[0]
    return keys.take(place), (one.take(place), other.take(place))


def csr_plus_csr(rows, columns, *arrays):
    return joined_matrices(m.add, (rows, columns), arrays[:3], arrays[3:6], arrays[6:])


def csr_minus_csr(rows, columns, *arrays):
    return joined_matrices(m.subtract, (rows, columns), arrays[:3], arrays[3:6], arrays[6:])


def csr_elmul_csr(rows, columns, *arrays):
    return joined_matrices(m.multiply, (rows, columns), arrays[:3], arrays[3:6], arrays[6:])


def csr_todense(rows, columns, starts, indices, data, out):
    if not is_matrix(data, starts, indices) or not is_written(out) or out.dtype != data.dtype or not out.flags.c_contiguous:
        return NotImplemented
    size = int(starts[-1])
    if size == 0 or out.size != rows * columns:
        return NotImplemented
    place = keys_of(starts, indices[:size], columns)
    if not rises(place) and not rises(place.take(place.argsort(kind='stable'))):  # numbers of one place are added up
        return NotImplemented
    flat = out.reshape(-1)
    flat[place] = m.add(flat.take(place), data[:size])


def csr_diagonal(number, rows, columns, starts, indices, data, out):
    if not is_matrix(data, starts, indices) or not is_written(out) or out.dtype != data.dtype or out.ndim != 1:
        return NotImplemented
    size = int(starts[-1])
    row = rows_of(starts, size)
    hit = m.equal(indices[:size], m.add(row, number)).nonzero()[0]
    place = m.subtract(row.take(hit), max(0, -number))
    if not rises(place):
        return NotImplemented
    made = m.zeros(out.shape, out.dtype)
    if hit.size:
        made[place] = data.take(hit)
    out[...] = made


def csr_row_slice(first, last, step, starts, indices, data, out_indices, out_data):
    if step != 1 or not is_matrix(data, starts, indices) or not is_written(out_indices) or not is_written(out_data):
        return NotImplemented
    part = slice(int(starts[first]), int(starts[last]))
    if not part.stop - part.start == out_data.size == out_indices.size:
        return NotImplemented
    out_indices[...] = indices[part]
    out_data[...] = data[part]


def expandptr(rows, starts, out):
    if not is_matrix(starts) or not is_written(out) or starts.size != rows + 1:
        return NotImplemented
    out[...] = rows_of(starts, out.size)


def coo_tocsr(rows, columns, count, row, column, data, out_starts, out_indices, out_data):
    outputs = (out_starts, out_indices, out_data)
    if not is_matrix(data, row, column) or not all(map(is_written, outputs)) or not count == row.size == column.size == data.size:
        return NotImplemented
    return store_sorted(row, rows, column, data, outputs)


def csr_tocsc(rows, columns, starts, indices, data, out_starts, out_indices, out_data):
    outputs = (out_starts, out_indices, out_data)
    if not is_matrix(data, starts, indices) or not all(map(is_written, outputs)):
        return NotImplemented
    size = int(starts[-1])
    return store_sorted(indices[:size], columns, rows_of(starts, size), data[:size], outputs)


def store_sorted(keys, count, others, data, outputs):
    """Starts of the keys' runs, then the rest in the order of the keys."""
    if outputs[0].size != count + 1 or not keys.size or not outputs[1].size == outputs[2].size == keys.size:
        return NotImplemented
    order = keys.argsort(kind='stable')
    values = starts_of(keys, count), others.take(order), data.take(order)
    for output, value in zip(outputs, values):
        output[...] = value
