# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.ndimage.label (SciPy 1.17 and 1.18: _ni_label.pyx) and find_objects. Components are found by hooking and
pointer jumping: each element points to an earlier one of its component, at last to its first. SciPy numbers components in the order
of their first elements."""

MOST_ROUNDS = 32  # at most 10 were seen with 2**20 elements: in spirals and snakes
LEAST_LABELLED = 2 ** 20  # elements: of fewer SciPy takes some milliseconds, about as long as the rounds' calls
MOST_LABELLED = 2 ** 31  # so that an index is an int32


def neighbours(structure, shape):
    """How far away the structure's elements are. None: SciPy does not take the structure."""
    numbers = numbers_of(m.not_equal(structure, 0))
    if structure.shape != (3,) * len(shape) or numbers != numbers[::-1]:
        return None
    steps = steps_of(shape, 'C')[0]
    places = [place for place, is_there in zip(places_of(structure.shape), numbers) if is_there]
    return [offset for offset in (sum((number - 1) * step for number, step in zip(place, steps)) for place in places) if offset]


def run_begins(is_marked, index):
    """The first index of each run of marked elements."""
    begins = is_marked.copy()
    begins[1:] = m.logical_and(is_marked[1:], m.logical_not(is_marked[:-1]))
    return m.maximum.accumulate(m.where(begins, index, 0))


def first_elements(is_marked, index, offsets):
    """For each element the first one of its component; for others, an index beyond. None: in more than MOST_ROUNDS rounds."""
    size = is_marked.size
    first = m.empty(size + 1, index.dtype)
    first[size:] = size
    first[:size] = m.where(is_marked, run_begins(is_marked, index) if 1 in offsets else index, size)
    reach = max(offsets, default=0)
    for _ in range(MOST_ROUNDS if offsets else 0):
        lowest = first[reach - offsets[0]:size - reach - offsets[0]]
        for offset in offsets[1:]:
            lowest = m.minimum(lowest, first[reach - offset:size - reach - offset])
        own = first[reach:size - reach]
        place = m.logical_and(is_marked[reach:size - reach], lowest < own).nonzero()[0]
        if place.size == 0:
            return first
        m.minimum.at(first, own.take(place), lowest.take(place))
        first = first.take(first, mode='clip')
        first = first.take(first, mode='clip')
    return None if offsets else first


def label_components(array, structure, output):
    if not is_image(array) or not is_plain(structure) or not is_written(output) or not is_image(output) or array.shape != output.shape:
        return NotImplemented
    shape = tuple(extent + 2 for extent in array.shape)
    offsets, inner = neighbours(structure, shape), (slice(1, -1),) * array.ndim
    if array is not output and m.may_share_memory(array, output):
        return NotImplemented
    if offsets is None or not output.flags.c_contiguous or array.size < LEAST_LABELLED or steps_of(shape, 'C')[1] >= MOST_LABELLED:
        return NotImplemented
    is_marked = m.zeros(shape, '?')
    is_marked[inner] = m.not_equal(array, 0)
    is_marked = is_marked.reshape(-1)
    index = m.arange(is_marked.size, dtype='i')
    first = first_elements(is_marked, index, offsets)
    if first is None:
        return NotImplemented
    numbers = m.zeros(first.size, 'i')
    numbers[:-1] = m.add.accumulate(m.equal(first[:-1], index), dtype='i')
    count = int(numbers[-2])
    numbers[-1:] = 0
    if output.dtype.kind in 'biu' and count > (1 if output.dtype.kind == 'b' else LIMITS[output.dtype.char][1]):
        return NotImplemented
    output[...] = numbers.take(first[:-1], mode='clip').reshape(shape)[inner]
    return count


def find_objects(array, most):
    """For each label the slices of its bounding box, or None."""
    if not is_image(array) or array.dtype.kind not in 'iu' or most < 1:
        return NotImplemented
    flat = array.reshape(-1)
    place = m.logical_and(flat > 0, flat <= most).nonzero()[0]
    label, boxes = m.subtract(flat.take(place).astype('l', copy=False), 1), []
    for extent in array.shape[::-1]:
        coordinate = m.remainder(place, extent)
        place = m.floor_divide(place, extent)
        low, high = m.empty(most, 'l'), m.zeros(most, 'l')
        low[...] = extent
        m.minimum.at(low, label, coordinate)
        m.maximum.at(high, label, m.add(coordinate, 1))
        boxes.insert(0, zip(low.tolist(), high.tolist()))
    return [tuple(slice(*line) for line in box) if box[0][1] else None for box in zip(*boxes)]
