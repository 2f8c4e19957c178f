# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): products of two sparse matrices (SciPy 1.17 and 1.18: csr.h). SciPy adds the products of a row
one after the other to sums by columns, and writes the columns that were met last first; so do these."""

MOST_PRODUCTS = 2 ** 26


def product_places(one, other):
    """(row of the first matrix, place in its numbers, place in the other's) of each product, in SciPy's order. None: too many, or
    none. `one`, `other`: (starts, columns)."""
    size = int(one[0][-1])
    columns = one[1][:size]
    counts = m.subtract(other[0][1:], other[0][:-1]).take(columns).astype('l', copy=False)
    total = int(counts.sum()) if size else 0
    if not 0 < total <= MOST_PRODUCTS or int(counts.min()) < 0:
        return None
    place = m.arange(size).repeat(counts)
    before = m.subtract(m.add.accumulate(counts), counts)
    within = m.subtract(m.arange(total), before.take(place))
    return rows_of(one[0], size).take(place), place, m.add(other[0].take(columns).take(place), within)


def product_keys(shape, one, other):
    """As product_places, and a number for the place of each in the result."""
    if not is_matrix(other[1], *one, *other) or one[0].size != shape[0] + 1 or shape[0] * shape[1] >= 2 ** 62 or one[1].size == 0:
        return None
    places = product_places(one, other)
    return None if places is None else places + (m.add(m.multiply(places[0], shape[1]), other[1].take(places[2])),)


def csr_matmat_maxnnz(rows, columns, *arrays):
    found = product_keys((rows, columns), arrays[:2], arrays[2:])
    if found is None:
        return NotImplemented
    keys = found[3].copy()
    keys.sort()
    return int(m.count_nonzero(m.not_equal(keys[1:], keys[:-1]))) + 1


def csr_matmat(rows, columns, starts, indices, data, other_starts, other_indices, other_data, *outputs):
    if not is_matrix(data) or not is_matrix(other_data) or not all(map(is_written, outputs)) or data.dtype.kind not in 'iuf':
        return NotImplemented
    if not data.dtype == other_data.dtype == outputs[2].dtype or not outputs[1].size == outputs[2].size:
        return NotImplemented
    found = product_keys((rows, columns), (starts, indices), (other_starts, other_indices))
    if found is None:
        return NotImplemented
    row, place, other_place, keys = found
    order = keys.argsort(kind='stable')
    keys = keys.take(order)
    is_first = m.empty(keys.size, '?')
    is_first[:1] = True
    is_first[1:] = m.not_equal(keys[1:], keys[:-1])
    first = order[is_first]
    sums = m.zeros(first.size, data.dtype)
    with quiet():
        products = m.multiply(data.take(place), other_data.take(other_place)).take(order)
        m.add.at(sums, m.subtract(m.add.accumulate(is_first, dtype='l'), 1), products)
    last_first = m.subtract(m.multiply(row.take(first) + 1, keys.size), first).argsort(kind='stable')
    kept = last_first[m.not_equal(sums.take(last_first), 0)]
    if kept.size > outputs[1].size:
        return NotImplemented
    first = first.take(kept)
    values = m.remainder(keys[is_first].take(kept), columns), sums.take(kept)
    for output, part in zip(outputs[1:], values):
        if part.size < output.size:
            output[...] = 0  # SciPy leaves the rest as it was
        output[:part.size] = part
    outputs[0][...] = starts_of(row.take(first), rows)
