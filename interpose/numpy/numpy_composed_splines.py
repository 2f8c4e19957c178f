# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.ndimage's interpolation in its order of operations (SciPy 1.17 and 1.18:
ni_interpolation.c, ni_splines.c), and the spline filter, whose recursion is computed by doubling."""

GRID_WRAP, GRID_CONSTANT = 5, 6
MOST_OF_A_COORDINATE = 2.0 ** 52
MOST_FILTERED = 2.0 ** 900
# How what lies beyond the border is found for the taps, by the mode of the coordinates.
BORDERS = {NEAREST: NEAREST, WRAP: MIRROR, REFLECT: REFLECT, MIRROR: MIRROR, CONSTANT: MIRROR, GRID_WRAP: WRAP, GRID_CONSTANT: CONSTANT}
POLES = {2: (-0.171572875253809902396622551580603843,),
         3: (-0.267949192431122706472553658494127633,),
         4: (-0.361341225900220177092212841325675255, -0.013725429297339121360331226939128204),
         5: (-0.430575347099973791851434783493520110, -0.043096288203264653822712376822550182)}
TERMS = 64  # of a sum of a pole's powers: the next one is below 2**-77
LEAST_REFLECTED = 32  # numbers of a line: SciPy 1.17 starts shorter ones otherwise than 1.18


# --- coordinates ------------------------------------------------------------------------------------

def whole(quotient, period):
    """As many periods as the quotient has whole ones."""
    return period * m.trunc(quotient)


def mirrored(place, extent):
    period = 2.0 * extent - 2.0
    low = whole(-place / period, period) + place
    high = place - whole(place / period, period)
    return m.where(low <= 1.0 - extent, low + period, -low), m.where(high >= extent, period - high, high)


def reflected(place, extent):
    period = 2.0 * extent
    low = m.where(place < -period, whole(-place / period, period) + place, place)
    high = place - whole(place / period, period)
    return (m.where(low < -extent, low + period, m.where(low > -1e-15, 1e-15, -low) - 1.0),
            m.where(high >= extent, period - high - 1.0, high))


def wrapped(place, extent):
    period = extent - 1.0
    return place + period * (m.trunc(-place / period) + 1.0), place - whole(place / period, period)


def wrapped_on_grid(place, extent):
    return place + extent * (m.trunc((-1.0 - place) / extent) + 1.0), place - whole(place / extent, extent)


def left_constant(place, _):
    return -1.0, -1.0


INTO_EXTENT = {MIRROR: mirrored, REFLECT: reflected, WRAP: wrapped, GRID_WRAP: wrapped_on_grid, CONSTANT: left_constant}


def into_extent(place, extent, mode):
    """The coordinates within the axis, or -1 where the constant is meant."""
    if mode in (NEAREST, GRID_CONSTANT):
        return place
    if extent == 1 and mode != CONSTANT:
        return place * 0.0
    low, high = INTO_EXTENT[mode](place, float(extent))
    return m.where(place < 0.0, low, m.where(place > extent - 1.0, high, place))


def affine_places(matrix, offsets, shape):
    """Coordinates of each output element: offset + matrix @ index, added up in the order of the axes."""
    made, count = [], len(shape)
    for row, offset in enumerate(offsets):
        place = offset
        for axis, extent in enumerate(shape):
            place = m.add(place, m.multiply(along(m.arange(float(extent)), axis, count), matrix[row * count + axis]))
        made.append(place)
    return made


def scaled_places(zooms, offsets, shape, on_grid):
    made = []
    for axis, extent in enumerate(shape):
        place = m.arange(float(extent))
        if offsets is not None:
            place = place + offsets[axis]
        if zooms is not None:
            place = (place + 0.5) * zooms[axis] - 0.5 if on_grid else place * zooms[axis]
        made.append(along(place, axis, len(shape)))
    return made


def along(line, axis, ndim):
    """A line as an array of ndim axes."""
    return line.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1))


# --- weights ----------------------------------------------------------------------------------------

def quadratic(x, y, z):
    y = 0.5 - x
    return [0.5 * y * y, 0.75 - x * x]


def cubic(x, y, z):
    return [z * z * z / 6.0, (y * y * (y - 2.0) * 3.0 + 4.0) / 6.0, (z * z * (z - 2.0) * 3.0 + 4.0) / 6.0]


def quartic(x, y, z):
    def outer(y):
        return y * (y * (y * (5.0 - y) / 6.0 - 1.25) + 5.0 / 24.0) + 55.0 / 96.0
    t, y = x * x, 0.5 - x
    last = y * y
    return [last * last / 24.0, outer(1.0 + x), t * (t * 0.25 - 0.625) + 115.0 / 192.0, outer(z)]


def quintic(x, y, z):
    def inner(y):
        t = y * y
        return t * (t * (0.25 - y / 12.0) - 0.5) + 0.55

    def outer(y):
        return y * (y * (y * (y * (y / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425
    last = 1.0 - x
    t = last * last
    return [last * t * t / 120.0, outer(y + 1.0), inner(y), inner(z), outer(z + 1.0)]


SPLINE_WEIGHTS = {0: lambda x, y, z: [], 1: lambda x, y, z: [z], 2: quadratic, 3: cubic, 4: quartic, 5: quintic}


def middle_of(place, order):
    return m.floor(place) if order % 2 else m.floor(place + 0.5)


def weights_of(place, order):
    """Of the order + 1 taps around each coordinate."""
    x = place - middle_of(place, order)
    made = SPLINE_WEIGHTS[order](x, x, 1.0 - x)
    last = 1.0
    for weight in made:
        last = last - weight
    return made + [last]


# --- the sum over the taps --------------------------------------------------------------------------

def widened(array, order, mode, value):
    """(the array with what the taps meet beyond its borders, how much before it). None: borders wider than a line."""
    is_clipped = mode in (NEAREST, GRID_CONSTANT)
    before = order + 1 if is_clipped else order // 2 + 1
    after = order + 1 if is_clipped else order - order // 2 + 1
    for axis in range(array.ndim):
        border = NEAREST if array.shape[axis] == 1 and mode != GRID_CONSTANT else BORDERS[mode]
        array = None if array is None else extended(array, axis, before, after, border, value)
    return array, before


def first_taps(places, shape, order, mode, before, widths):
    """The index of each element's first tap in the flat widened array."""
    index = 0
    for place, extent, width in zip(places, shape, widths):
        start = middle_of(place, order) - float(order // 2)
        if mode in (NEAREST, GRID_CONSTANT):
            start = m.maximum(m.minimum(start, float(extent)), -order - 1.0)
        index = m.add(m.multiply(index, width), (start + float(before)).astype('l'))
    return index


def is_transform(array, output, order, mode, value):
    """Numbers that SciPy would read after it has written them are left to it."""
    return (is_image(array) and is_written(output) and is_image(output) and not m.may_share_memory(array, output)
            and 0 <= order <= 5 and mode in BORDERS and (order + 1) ** array.ndim <= MOST_TAPS and type(value) in (int, float))


def interpolated_at(array, places, output, order, mode, value):
    """`places`: for each axis of the array, coordinates that broadcast to the output's shape."""
    padded, before = widened(array, order, mode, float(value))
    if padded is None:
        return NotImplemented
    places = [into_extent(place, extent, mode) for place, extent in zip(places, array.shape)]
    index, flat = first_taps(places, array.shape, order, mode, before, padded.shape), padded.reshape(-1)
    weights = [weights_of(place, order) for place in places] if order else []
    total = 0.0
    for tap in places_of((order + 1,) * array.ndim):
        offset = 0
        for number, width in zip(tap, padded.shape):
            offset = offset * width + number
        term = flat[offset:].take(index, mode='clip')
        for number, weight in zip(tap, weights):
            term = m.multiply(term, weight[number])
        total = m.add(total, term)
    if mode == CONSTANT:
        for place in places:
            total = m.where(place > -1.0, total, float(value))
    return store_rounded(output, total)


def store_rounded(output, values):
    """Integers nearest to the values, halves away from zero, and within the dtype's range; a bool is what is left of 0 and 1."""
    if output.dtype.kind == 'b':
        if not (float(values.min()) > -1.0 and float(values.max()) < 2.0):
            return NotImplemented
        return store(output, m.not_equal(m.trunc(values), 0.0))
    if output.dtype.kind in 'iu':
        values = m.where(values > 0.0, values + 0.5, values - 0.5 if output.dtype.kind == 'i' else 0.0)
        if output.dtype.itemsize < 8:
            low, high = LIMITS[output.dtype.char]
            values = m.maximum(m.minimum(values, high), low)
    return store(output, values)


def is_near(places):
    """Whether C's cast of all of them to an integer is certain."""
    return all(float(place.min()) > -MOST_OF_A_COORDINATE and float(place.max()) < MOST_OF_A_COORDINATE for place in places)


def reach(matrix, offsets, shape):
    """A bound of all coordinates; NaN where one may be."""
    count = len(shape)
    return max(abs(offset) + sum(abs(factor) * extent for factor, extent in zip(matrix[row * count:], shape))
               for row, offset in enumerate(offsets))


def nd_geometric_transform(array, mapping, coordinates, matrix, offsets, output, order, mode, value, pad, arguments, keywords):
    if mapping is not None or not is_transform(array, output, order, mode, value):
        return NotImplemented
    if coordinates is not None:
        if not is_plain(coordinates) or coordinates.dtype.kind not in 'biuf' or coordinates.shape[1:] != output.shape:
            return NotImplemented
        if m.may_share_memory(coordinates, output) or not is_near(coordinates):
            return NotImplemented
        places = [place.astype('d', copy=False) for place in coordinates]
    else:
        numbers = numbers_of(matrix), numbers_of(offsets)
        if len(numbers[0]) != array.ndim * output.ndim or not reach(*numbers, output.shape) < MOST_OF_A_COORDINATE:
            return NotImplemented
        places = affine_places(*numbers, output.shape)
    with quiet():
        return interpolated_at(array, [place + float(pad) for place in places], output, order, mode, value)


def nd_zoom_shift(array, zooms, offsets, output, order, mode, value, pad, on_grid):
    if not is_transform(array, output, order, mode, value) or output.ndim != array.ndim:
        return NotImplemented
    zooms, offsets = (None if numbers is None else numbers_of(numbers) for numbers in (zooms, offsets))
    with quiet():
        places = scaled_places(zooms, offsets, output.shape, on_grid)
        if not is_near(places):
            return NotImplemented
        return interpolated_at(array, [place + float(pad) for place in places], output, order, mode, value)


# --- the spline filter ------------------------------------------------------------------------------

def power_sum(array, axis, start, stop, step, pole):
    """The sum of pole**(k + 1) times the k-th number of the slice, along the axis; the first TERMS of them."""
    part = span(array, axis, start, stop, step)
    part = span(part, axis, 0, TERMS)
    powers = m.power(pole, m.arange(1.0, part.shape[axis] + 1.0))
    return m.add.reduce(m.multiply(part, along(powers, axis, array.ndim)), axis, keepdims=True)


def first_of_mirror(line, axis, pole):
    count = line.shape[axis]
    power = pole ** (count - 1)
    total = span(line, axis, 0, 1) + power * span(line, axis, count - 1, None)
    if count > 2:
        total = total + power_sum(line, axis, 1, count - 1, 1, pole) + power * power_sum(line, axis, count - 2, 0, -1, pole)
    return total / (1.0 - power * power)


def last_of_mirror(line, axis, pole):
    count = line.shape[axis]
    return (pole * span(line, axis, count - 2, count - 1) + span(line, axis, count - 1, None)) * pole / (pole * pole - 1.0)


def first_of_wrap(line, axis, pole):
    return (span(line, axis, 0, 1) + power_sum(line, axis, None, 0, -1, pole)) / (1.0 - pole ** line.shape[axis])


def last_of_wrap(line, axis, pole):
    count = line.shape[axis]
    return (span(line, axis, count - 1, None) + power_sum(line, axis, 0, count - 1, 1, pole)) * (pole / (pole ** count - 1.0))


def first_of_reflect(line, axis, pole):
    count = line.shape[axis]
    power = pole ** count
    total = (span(line, axis, 0, 1) + power * span(line, axis, count - 1, None) + power_sum(line, axis, 1, None, 1, pole)
             + power * power_sum(line, axis, count - 2, None, -1, pole))
    return span(line, axis, 0, 1) + total * pole / (1.0 - power * power)


def last_of_reflect(line, axis, pole):
    return span(line, axis, line.shape[axis] - 1, None) * (pole / (pole - 1.0))


ENDS = {MIRROR: (first_of_mirror, last_of_mirror), WRAP: (first_of_wrap, last_of_wrap), REFLECT: (first_of_reflect, last_of_reflect)}
# By the filter's mode.
FILTER_BORDERS = {NEAREST: REFLECT, WRAP: MIRROR, REFLECT: REFLECT, MIRROR: MIRROR, CONSTANT: MIRROR, GRID_WRAP: WRAP,
                  GRID_CONSTANT: MIRROR}


def recursion(line, axis, pole):
    """y[i] = line[i] + pole * y[i - 1] along the axis: sums of 2, 4, 8 ... terms."""
    count, width = line.shape[axis], 1
    while width < min(count, TERMS):
        made = m.empty(line.shape, 'd')
        span(made, axis, 0, width)[...] = span(line, axis, 0, width)
        span(made, axis, width, None)[...] = m.add(span(line, axis, width, None), m.multiply(span(line, axis, 0, -width), pole ** width))
        line, width = made, 2 * width
    return line


def turned(line, axis):
    return span(line, axis, None, None, -1)


def filtered_by(line, axis, pole, ends):
    line = line.copy()
    span(line, axis, 0, 1)[...] = ends[0](line, axis, pole)
    line = recursion(line, axis, pole)
    last = ends[1](line, axis, pole)
    line = m.multiply(line, -pole)
    span(line, axis, line.shape[axis] - 1, None)[...] = last
    return turned(recursion(turned(line, axis), axis, pole), axis)


def nd_spline_filter1d(array, order, axis, output, mode):
    """Of floating-point numbers only: of integers come integers, which are rounded."""
    if not is_image_pair(array, output) or array.dtype.kind != 'f' or output.dtype.kind != 'f' or order not in POLES:
        return NotImplemented
    if FILTER_BORDERS.get(mode) == REFLECT and array.shape[axis] < LEAST_REFLECTED:
        return NotImplemented
    if mode not in FILTER_BORDERS or not float(m.absolute(array).max()) < MOST_FILTERED:
        return NotImplemented
    with quiet():
        gain = 1.0
        for pole in POLES[order]:
            gain *= (1.0 - pole) * (1.0 - 1.0 / pole)
        line = array.astype('d')
        if line.shape[axis] > 1:
            line = m.multiply(line, gain)
            for pole in POLES[order]:
                line = filtered_by(line, axis, pole, ENDS[FILTER_BORDERS[mode]])
        return store(output, line)
