# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): the values of scipy.interpolate's piecewise polynomials, B-splines and regular grids, in its
order of operations (SciPy 1.17 and 1.18: _ppoly.pyx, __fitpack.cc, _rgi_cython.pyx). Breakpoints descend nowhere."""

MOST_POWERS = 32
NOT_A_NUMBER = float('nan')


def is_line(array):
    return is_plain(array) and array.ndim == 1 and array.dtype.char == 'd' and array.size > 0


def is_table(array, ndim):
    return is_plain(array) and array.ndim == ndim and array.dtype.char == 'd' and array.size > 0


def is_strictly_rising(line):
    return line.size > 1 and rises(line)


def intervals(breaks, places, first, last):
    """In first .. last: the last one that begins at or before the place."""
    return m.maximum(m.minimum(m.subtract(breaks.searchsorted(places, 'right'), 1), last), first)


def is_outside(places, low, high):
    """Also of a NaN."""
    return m.logical_not(m.logical_and(places >= low, places <= high))


def prefactor_of(power, derivative):
    """Of the derivative of x**power."""
    made = 1.0
    for factor in range(power, power - derivative, -1):
        made *= factor
    return made


def evaluate_piecewise(coefficients, breaks, places, derivative, extrapolate, out):
    if not is_table(coefficients, 3) or not is_line(breaks) or not is_line(places) or not is_table(out, 2) or not is_written(out):
        return NotImplemented
    terms, count, polynomials = coefficients.shape
    if out.shape != (places.size, polynomials) or count != breaks.size - 1 or not 0 <= derivative < terms <= MOST_POWERS:
        return NotImplemented
    if not is_strictly_rising(breaks) or m.may_share_memory(places, out):
        return NotImplemented
    with quiet():
        interval = intervals(breaks, places, 0, count - 1)
        distance = (places - breaks.take(interval)).reshape(-1, 1)
        total, power = 0.0, 1.0
        for term in range(derivative, terms):
            factors = m.multiply(coefficients[terms - term - 1].take(interval, 0), power)
            total = m.add(total, m.multiply(factors, prefactor_of(term, derivative)))
            power = m.multiply(power, distance)
        is_unknown = m.isnan(places) if extrapolate else is_outside(places, breaks[0], breaks[-1])
        out[...] = m.where(is_unknown.reshape(-1, 1), NOT_A_NUMBER, total)


def basis_of(knots, places, degree, interval, derivative):
    """The degree + 1 B-splines that are not zero in the interval, by de Boor's recursion."""
    around = {offset: knots.take(interval + offset) for offset in range(1 - degree, degree + 1)}
    made = [1.0]
    for level in range(1, degree + 1):
        is_last = level > degree - derivative
        lower, made = made, [0.0] + [None] * level
        for number in range(1, level + 1):
            right, left = around[number], around[number - level]
            is_empty = right == left
            weight = (float(level) * lower[number - 1] if is_last else lower[number - 1]) / (right - left)
            below = made[number - 1] - weight if is_last else made[number - 1] + weight * (right - places)
            made[number - 1] = m.where(is_empty, made[number - 1], below)
            made[number] = m.where(is_empty, 0.0, weight if is_last else weight * (places - left))
    return made


def evaluate_spline(knots, coefficients, degree, places, derivative, extrapolate):
    if not is_line(knots) or not is_table(coefficients, 2) or not is_line(places) or not 0 <= derivative <= degree <= MOST_POWERS:
        return NotImplemented
    count = knots.size - degree - 1
    if not degree < count <= coefficients.shape[0] or not m.less_equal(knots[:-1], knots[1:]).all():
        return NotImplemented
    with quiet():
        interval = intervals(knots, places, degree, count - 1)
        total = 0.0
        for number, weight in enumerate(basis_of(knots, places, degree, interval, derivative)):
            if type(weight) is m.ndarray:
                weight = weight.reshape(-1, 1)
            total = m.add(total, m.multiply(coefficients.take(interval + (number - degree), 0), weight))
        is_unknown = m.isnan(places) if extrapolate else is_outside(places, knots[degree], knots[count])
        return m.where(is_unknown.reshape(-1, 1), NOT_A_NUMBER, total)


# --- regular grids ----------------------------------------------------------------------------------

def find_indices(grid, places):
    """(the interval of each coordinate, -1 of a NaN; where in it, as a part of its length)"""
    if not is_table(places, 2) or len(grid) != places.shape[0]:
        return NotImplemented
    if not all(is_line(line) and (line.size == 1 or is_strictly_rising(line)) for line in grid):
        return NotImplemented
    indices, distances = m.empty(places.shape, 'l'), m.empty(places.shape, 'd')
    with quiet():
        for axis, line in enumerate(grid):
            if line.size == 1:
                indices[axis] = -1
                distances[axis] = 0.0
                continue
            place = places[axis]
            interval, is_unknown = intervals(line, place, 0, line.size - 2), m.isnan(place)
            low = line.take(interval)
            part = (place - low) / (line.take(interval + 1) - low)
            indices[axis] = m.where(is_unknown, -1, interval)
            distances[axis] = m.where(is_unknown, NOT_A_NUMBER, part)
    return indices, distances


def evaluate_linear_2d(values, indices, distances, grid, out):
    """SciPy leaves open what the values are where an index is -1."""
    if not is_table(values, 2) or not is_plain(indices) or not is_table(distances, 2) or not is_line(out) or not is_written(out):
        return NotImplemented
    if indices.dtype.char != 'l' or not indices.shape == distances.shape == (2, out.size) or min(values.shape) < 2:
        return NotImplemented
    if any(line.size != extent for line, extent in zip(grid, values.shape)):
        return NotImplemented
    width, flat = values.shape[1], values.reshape(-1)
    rows, columns = (m.maximum(line, 0) for line in indices)
    corner = m.add(m.multiply(rows, width), columns)
    with quiet():
        right, below = distances[1], distances[0]
        left, above = 1.0 - right, 1.0 - below
        total = 0.0
        for offset, row_part, column_part in ((0, above, left), (1, above, right), (width, below, left), (width + 1, below, right)):
            total = total + flat[offset:].take(corner, mode='clip') * row_part * column_part
        out[...] = total
    return out
