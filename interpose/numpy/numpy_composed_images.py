# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): functions of scipy.ndimage's and scipy.signal's C modules, which compute in float64, in their
order of operations (SciPy 1.17 and 1.18: ni_filters.c, ni_morphology.c, firfilter.cc). They report no floating-point errors."""

MOST_TAPS = 512
MOST_RANKED = 2 ** 24  # numbers of all windows that are sorted at once
EPSILON = 2.0 ** -52
NEAREST, WRAP, REFLECT, MIRROR, CONSTANT = range(5)
LIMITS = {'b': (-2.0 ** 7, 2.0 ** 7 - 1), 'h': (-2.0 ** 15, 2.0 ** 15 - 1), 'i': (-2.0 ** 31, 2.0 ** 31 - 1), 'B': (0.0, 255.0),
          'H': (0.0, 65535.0), 'I': (0.0, 2.0 ** 32 - 1), 'l': (-2.0 ** 53, 2.0 ** 53), 'q': (-2.0 ** 53, 2.0 ** 53),
          'L': (0.0, 2.0 ** 53), 'Q': (0.0, 2.0 ** 53)}

# Integers of which each is a number of the dtype, and of float64.
HELD = {**{char: limits for char, limits in LIMITS.items() if char not in 'lqLQ'}, '?': (0, 1), 'f': (-2 ** 24, 2 ** 24)}


def is_image(array):
    return is_plain(array) and array.dtype.char in '?bhilqBHILQfd' and array.ndim > 0 and array.size > 0


def is_image_pair(array, output):
    """Or one array: SciPy reads a line before it writes it."""
    if not is_image(array) or not is_written(output) or not is_image(output) or array.shape != output.shape:
        return False
    return array is output or not m.may_share_memory(array, output)


def numbers_of(array):
    """In C order; of a copy, because the array may be a part of a large one on the device."""
    return array.copy().reshape(-1).tolist()


def span(array, axis, start, stop, step=1):
    """A part of the array along one axis."""
    return array[(slice(None),) * axis + (slice(start, stop, step),)]


def edges(array, axis, before, after, mode):
    """What lies before and behind a line, as views. None: more than the line itself has."""
    extent = array.shape[axis]
    if mode == NEAREST:
        return span(array, axis, 0, 1), span(array, axis, extent - 1, extent)
    if max(before, after) > extent - (mode == MIRROR):
        return None
    if mode == WRAP:
        return span(array, axis, extent - before, extent), span(array, axis, 0, after)
    skipped = int(mode == MIRROR)
    last = extent - 1 - skipped
    left = span(array, axis, before - 1 + skipped, skipped - 1 if skipped else None, -1)
    return left, span(array, axis, last, last - after if last >= after else None, -1)


def extended(array, axis, before, after, mode, value, dtype='d'):
    """A new array, longer along the axis. None: not for this mode."""
    if min(before, after) < 0 or mode not in (NEAREST, WRAP, REFLECT, MIRROR, CONSTANT):
        return None
    extent = array.shape[axis]
    found = (value, value) if mode == CONSTANT else edges(array, axis, before, after, mode)
    if found is None:
        return None
    shape = list(array.shape)
    shape[axis] += before + after
    made = m.empty(shape, dtype)
    span(made, axis, before, before + extent)[...] = array
    if before:
        span(made, axis, 0, before)[...] = found[0]
    if after:
        span(made, axis, before + extent, None)[...] = found[1]
    return made


def store(output, values):
    """The last statement of a filter: as C's cast, which leaves open what becomes of numbers out of range."""
    if output.dtype.kind in 'biu' and values.dtype.kind != 'b':
        low, high = LIMITS.get(output.dtype.char, (1.0, 0.0))
        if not (float(values.min()) >= low and float(values.max()) <= high):
            return NotImplemented
    with quiet():
        output[...] = values


def has_plain_order(array):
    """Whether all comparisons of its numbers give an order, and equal numbers have equal bits."""
    if array.dtype.kind != 'f':
        return True
    return not m.logical_or(m.isnan(array), m.logical_and(m.equal(array, 0), m.signbit(array))).any()


def is_ordered(value):
    """The same of the value around an array."""
    return value == value and (value != 0 or str(float(value)) == '0.0')


# --- along one axis ---------------------------------------------------------------------------------

def nd_correlate1d(array, weights, axis, output, mode, value, origin):
    if not is_image_pair(array, output) or not is_plain(weights) or not 0 < weights.size <= MOST_TAPS:
        return NotImplemented
    factors, length, extent = numbers_of(weights), weights.size, array.shape[axis]
    first = length // 2
    line = extended(array, axis, first + origin, length - first - 1 - origin, mode, value)
    if line is None:
        return NotImplemented
    pairs = [(factors[first - k], factors[first + k]) for k in range(1, first + 1)] if length % 2 else [(0.0, 1.0)]

    def at(place):
        return span(line, axis, place, place + extent)
    with quiet():
        if all(abs(right - left) <= EPSILON for left, right in pairs):
            return store(output, folded(m.add, at, factors, first))
        if all(abs(right + left) <= EPSILON for left, right in pairs):
            return store(output, folded(m.subtract, at, factors, first))
        total = m.multiply(at(length - 1), factors[-1])
        for place in range(length - 1):
            total = m.add(total, m.multiply(at(place), factors[place]))
    return store(output, total)


def folded(join, at, factors, first):
    """Weights that are alike, or opposite, on both sides of the middle."""
    total = m.multiply(at(first), factors[first])
    for place in range(first):
        total = m.add(total, m.multiply(join(at(place), at(2 * first - place)), factors[place]))
    return total


def nd_min_or_max_filter1d(array, length, axis, output, mode, value, origin, minimum):
    if not is_image_pair(array, output) or not 0 < length or not has_plain_order(array):
        return NotImplemented
    line = extended(array, axis, length // 2 + origin, length - length // 2 - 1 - origin, mode, value)
    if line is None or not is_ordered(value):
        return NotImplemented
    choose_one, width, extent = m.minimum if minimum else m.maximum, 1, array.shape[axis]
    while 2 * width <= length:
        line = choose_one(span(line, axis, 0, -width), span(line, axis, width, None))
        width *= 2
    if width < length:
        line = choose_one(span(line, axis, 0, extent), span(line, axis, length - width, length - width + extent))
    return store(output, line)


def nd_uniform_filter1d(array, length, axis, output, mode, value, origin):
    """The sum of the first window, to which differences are added one after the other."""
    if not is_image_pair(array, output) or not 0 < length <= MOST_TAPS:
        return NotImplemented
    line = extended(array, axis, length // 2 + origin, length - length // 2 - 1 - origin, mode, value)
    if line is None:
        return NotImplemented
    with quiet():
        total = span(line, axis, 0, 1)
        for place in range(1, length):
            total = m.add(total, span(line, axis, place, place + 1))
        steps = m.empty(array.shape, 'd')
        span(steps, axis, 0, 1)[...] = total
        span(steps, axis, 1, None)[...] = m.subtract(span(line, axis, length, None), span(line, axis, 0, -length))
        return store(output, m.divide(m.add.accumulate(steps, axis), float(length)))


# --- windows of all dimensions ----------------------------------------------------------------------

def chosen(footprint):
    """Places of the true ones, in C order. None: too many."""
    if not is_plain(footprint) or footprint.size > 16 * MOST_TAPS:
        return None
    return [place for place, value in zip(places_of(footprint.shape), numbers_of(footprint)) if value]


def places_of(shape):
    places = [()]
    for extent in shape:
        places = [place + (number,) for place in places for number in range(extent)]
    return places


def extended_all(array, shape, origins, mode, value, dtype='d'):
    """For windows of that shape. None: not for this mode."""
    origins = list(origins.tolist() if type(origins) is m.ndarray else origins)
    if len(shape) != array.ndim or len(origins) != array.ndim:
        return None
    for axis, (length, origin) in enumerate(zip(shape, origins)):
        array = None if array is None else extended(array, axis, length // 2 + origin, length - length // 2 - 1 - origin, mode, value, dtype)
    return array


def window(padded, place, shape):
    return padded[tuple(slice(start, start + extent) for start, extent in zip(place, shape))]


def nd_correlate(array, weights, output, mode, value, origins):
    if not is_image_pair(array, output) or not is_plain(weights) or weights.size > MOST_TAPS:
        return NotImplemented
    padded = extended_all(array, weights.shape, origins, mode, value)
    if padded is None:
        return NotImplemented
    total = 0.0
    with quiet():
        for place, factor in zip(places_of(weights.shape), numbers_of(weights)):
            if abs(factor) > EPSILON:
                total = m.add(total, m.multiply(window(padded, place, array.shape), factor))
    return NotImplemented if type(total) is float else store(output, total)


def nd_min_or_max_filter(array, footprint, structure, output, mode, value, origins, minimum):
    if not is_image_pair(array, output) or structure is not None or not has_plain_order(array) or not is_ordered(value):
        return NotImplemented
    places, padded = chosen(footprint), extended_all(array, footprint.shape, origins, mode, value)
    if not places or len(places) > MOST_TAPS or padded is None:
        return NotImplemented
    found, choose_one = window(padded, places[0], array.shape), m.minimum if minimum else m.maximum
    for place in places[1:]:
        found = choose_one(found, window(padded, place, array.shape))
    return store(output, found)


def ranked(padded, places, rank, made):
    """Into `made`, of the same dtype: of each window's numbers, the one of that rank."""
    steps = [step // padded.itemsize for step in padded.strides]
    if select_ranked(padded, [sum(start * step for start, step in zip(place, steps)) for place in places], rank, made):
        return
    shape, count = made.shape, len(places)
    rows = max(MOST_RANKED * shape[0] // (made.size * count), 1)
    for first in range(0, shape[0], rows):
        part = made[first:first + rows]
        table = m.empty(part.shape + (count,), padded.dtype)
        for number, place in enumerate(places):
            table[..., number] = window(padded, (place[0] + first,) + place[1:], part.shape)
        table.reshape(-1, count).partition(rank, -1)
        part[...] = table[..., rank]


def dtype_of_windows(array, mode, value):
    """The array's, where its numbers and the value around it are those that SciPy compares in float64."""
    low, high = HELD.get(array.dtype.char, (1, 0))
    is_held = mode != CONSTANT or (type(value) in (int, float) and low <= value <= high and value == int(value))
    return array.dtype if low < high and is_held else m.dtype('d')


def nd_rank_filter(array, rank, footprint, output, mode, value, origins):
    if not is_image_pair(array, output) or not has_plain_order(array) or not is_ordered(value):
        return NotImplemented
    dtype = dtype_of_windows(array, mode, value)
    places, padded = chosen(footprint), extended_all(array, footprint.shape, origins, mode, value, dtype)
    if padded is None or not places or not 0 <= rank < len(places) or len(places) > MOST_TAPS:
        return NotImplemented
    made = output if output.dtype == dtype and output is not array else m.empty(array.shape, dtype)
    ranked(padded, places, rank, made)
    return None if made is output else store(output, made)


def nd_rank_filter_of_line(array, rank, length, output, mode, value, origin):
    """In the array's dtype."""
    if not is_image_pair(array, output) or array.ndim != 1 or array.dtype.char not in 'fdl' or output.dtype != array.dtype or not 0 <= rank < length <= MOST_TAPS:
        return NotImplemented
    if not has_plain_order(array) or not is_ordered(value):
        return NotImplemented
    line = extended(array, 0, length // 2 + origin, length - length // 2 - 1 - origin, mode, value, array.dtype)
    if line is None:
        return NotImplemented
    made = output if output is not array else m.empty(array.shape, array.dtype)
    ranked(line, [(place,) for place in range(length)], rank, made)
    return None if made is output else store(output, made)


def medfilt2d(array, lengths):
    """Zeros lie around the image."""
    lengths = lengths.tolist() if type(lengths) is m.ndarray else list(lengths)
    if not is_image(array) or array.ndim != 2 or array.dtype.char not in 'Bfd' or len(lengths) != 2:
        return NotImplemented
    if not all(type(length) is int and length % 2 for length in lengths) or not has_plain_order(array):
        return NotImplemented
    places, padded = places_of(lengths), extended_all(array, lengths, [0, 0], CONSTANT, 0, array.dtype)
    if not 0 < len(places) <= MOST_TAPS:
        return NotImplemented
    made = m.empty(array.shape, array.dtype)
    ranked(padded, places, len(places) // 2, made)
    return made


def binary_erosion(array, structure, mask, output, border, origins, invert, center_is_true, has_list):
    """With `invert`, true numbers are false ones and the reverse, also beyond the border."""
    if has_list or mask is not None or not is_image_pair(array, output) or m.may_share_memory(array, output):
        return NotImplemented
    places = chosen(structure)
    is_true = m.not_equal(array, 0)
    padded = extended_all(is_true, structure.shape, origins, CONSTANT, float(bool(border)))
    if not places or len(places) > MOST_TAPS or padded is None:
        return NotImplemented
    found, join = None, m.logical_or if invert else m.logical_and
    for place in places:
        part = m.not_equal(window(padded, place, array.shape), 0)
        found = part if found is None else join(found, part)
    changed = bool(m.not_equal(found, is_true).any())
    output[...] = found
    return int(changed)


# --- scipy.signal's convolution ---------------------------------------------------------------------

BOUNDARIES = {0: CONSTANT, 4: REFLECT, 8: WRAP}
VALID, SAME, FULL = range(3)


def offsets_of(length, mode, is_convolved):
    """Which number beside each one the weights meet, first to last."""
    first = {VALID: 0, SAME: (length - 1) // 2, FULL: length - 1}[mode]
    if is_convolved:
        return [length - 1 - {VALID: 0, SAME: length // 2, FULL: length - 1}[mode] - k for k in range(length)]
    return [k - first for k in range(length)]


def convolve2d(array, weights, is_convolved, mode, boundary, fill):
    """In the arrays' dtype. Of each row of weights four products are added up, then to the sum; the last ones one by one."""
    if not (is_image(array) and is_plain(weights)) or not array.ndim == weights.ndim == 2 or mode not in (VALID, SAME, FULL):
        return NotImplemented
    dtype = m.result_type(array.dtype, weights.dtype)
    if dtype.kind not in 'iuf' or not 0 < weights.size <= MOST_TAPS or type(fill) not in (int, float):
        return NotImplemented
    if dtype.kind != 'f' and type(fill) is float:
        return NotImplemented
    padded, shape, places = array, [], []
    for axis, length in enumerate(weights.shape):
        offsets, extent = offsets_of(length, mode, is_convolved), array.shape[axis]
        shape.append(extent + {VALID: 1 - length, SAME: 0, FULL: length - 1}[mode])
        before, after = max(-min(offsets), 0), max(max(offsets) + shape[axis] - extent, 0)
        padded = None if padded is None else extended(padded, axis, before, after, BOUNDARIES.get(boundary), fill, dtype)
        places.append([before + offset for offset in offsets])
    if padded is None or min(shape) < 1:
        return NotImplemented
    total = m.zeros(shape, dtype)
    with quiet():
        for row, factors in zip(places[0], weights.astype(dtype).tolist()):
            terms = [m.multiply(window(padded, (row, column), shape), factor) for column, factor in zip(places[1], factors)]
            last = len(terms) // 4 * 4
            for place in range(0, last, 4):
                total = m.add(total, m.add(m.add(m.add(terms[place], terms[place + 1]), terms[place + 2]), terms[place + 3]))
            for term in terms[last:]:
                total = m.add(total, term)
    return total
