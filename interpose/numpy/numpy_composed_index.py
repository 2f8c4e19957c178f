# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): moves by an index."""


def repeat(array, repeats, axis=None):
    counts = as_index(repeats)
    if counts is None or counts.ndim != 1 or not is_plain(array) or array.ndim == 0:
        return NotImplemented
    if axis is None:
        array, axis = array.reshape(-1), 0
    axis = axis_of(axis, array.ndim)
    if axis is None or counts.size != array.shape[axis] or counts.size == 0 or counts.min() < 0:
        return NotImplemented
    ends = counts.cumsum()
    total = int(ends[-1])
    if total == 0:
        return NotImplemented
    passed = m.zeros(total + 1, 'l')
    m.add.at(passed, ends, 1)
    return array.take(passed[:-1].cumsum(), axis)


def put(array, indices, values, mode='raise'):
    index = as_index(indices)
    if index is None or index.size == 0 or not is_written(array) or not array.flags.c_contiguous:
        return NotImplemented
    index = index.reshape(-1)
    mode = NAMED_MODES.get(mode)
    if mode != 'raise':
        index = into_bounds(index, array.size, mode)
    elif index.min() < -array.size or index.max() >= array.size:
        return NotImplemented
    values = None if index is None else values_for(values, array, False)
    if values is None:
        return NotImplemented
    if m.may_share_memory(index, array):
        index = index.copy()
    values = cycled(values, index.size)
    array.reshape(-1)[index] = values


def mask_for(array, mask):
    if not is_written(array) or not is_plain(mask) or mask.size != array.size:
        return None
    mask = mask.reshape(array.shape).astype('?', copy=False)
    return mask.copy() if m.may_share_memory(mask, array) else mask


def _place(array, mask, values):
    mask = mask_for(array, mask)
    if mask is not None and type(values) is m.ndarray and is_plain(values) and values.size == 0 and not mask.any():
        return None
    values = None if mask is None else values_for(values, array, True)
    if values is None:
        return NotImplemented
    count = int(m.count_nonzero(mask))
    if count > 0:
        values = cycled(values, count)
        array[mask] = values


def putmask(array, mask, values):
    mask = mask_for(array, mask)
    values = None if mask is None else values_for(values, array, True)
    if values is None:
        return NotImplemented
    places = mask.reshape(-1).nonzero()[0]
    if places.size > 0:
        values = values.take(m.remainder(places, values.size))
        array[mask] = values


def choose(selector, choices, out=None, mode='raise'):
    selector, choices = as_index(selector), list(choices)
    if out is not None or selector is None or not 0 < len(choices) <= 32:
        return NotImplemented
    choices = [as_array(choice) for choice in choices]
    if not all(is_plain(choice) and choice.ndim > 0 for choice in choices):  # a number takes no part in promotion
        return NotImplemented
    selector = into_bounds(selector, len(choices), mode)
    if selector is None:
        return NotImplemented
    shape = m.broadcast(selector, *choices).shape
    if not shape or 0 in shape:
        return NotImplemented
    result = m.empty(shape, m.result_type(*choices))
    m.copyto(result, choices[0])
    for number in range(1, len(choices)):
        m.copyto(result, choices[number], where=m.equal(selector, number))
    return result


def steps_of(shape, order):
    """(elements from one place to the next along each dimension, elements of all)."""
    steps, size = [0] * len(shape), 1
    for dimension in range(len(shape)) if order == 'F' else reversed(range(len(shape))):
        steps[dimension] = size
        size *= shape[dimension]
    return steps, size


def shape_of(shape):
    shape = shape.tolist() if type(shape) is m.ndarray and shape.dtype.kind == 'i' else shape
    shape = (shape,) if type(shape) is int else tuple(shape)
    return shape if shape and all(type(extent) is int and extent > 0 for extent in shape) else None


def ravel_multi_index(multi_index, dims, mode='raise', order='C'):
    shape, indices = shape_of(dims), [as_index(index) for index in multi_index]
    modes = [mode] * len(indices) if type(mode) is str else list(mode)
    if shape is None or not len(shape) == len(indices) == len(modes) or order not in ('C', 'F'):
        return NotImplemented
    steps, size = steps_of(shape, order)
    if size >= 2 ** 63 or any(index is None for index in indices) or all(index.ndim == 0 for index in indices):
        return NotImplemented
    total = None
    for index, extent, step, one in zip(indices, shape, steps, modes):
        index = into_bounds(index, extent, one)
        if index is None:
            return NotImplemented
        term = m.multiply(index, step)
        total = term if total is None else m.add(total, term)
    return total


def unravel_index(indices, shape, order='C'):
    index, shape = as_index(indices), shape_of(shape)
    if index is None or index.ndim == 0 or index.size == 0 or shape is None or order not in ('C', 'F'):
        return NotImplemented
    steps, size = steps_of(shape, order)
    if size >= 2 ** 63 or not is_within(index, size) or (index.ndim > 1 and not index.flags.forc):
        return NotImplemented
    if index.flags.fnc:
        found = unravel_index(index.T, shape, order)
        return tuple(part.T for part in found)
    table = m.empty(index.shape + (len(shape),), 'l')
    for dimension, (extent, step) in enumerate(zip(shape, steps)):
        m.remainder(m.floor_divide(index, step), extent, out=table[..., dimension])
    return tuple(table[..., dimension] for dimension in range(len(shape)))


def at_of_tuple(ufunc, array, indices, *operands):
    """ufunc.at with an index for each dimension."""
    if not is_written(array) or not array.flags.c_contiguous or len(indices) != array.ndim or len(operands) > 1:
        return NotImplemented
    indices = [as_index(index) for index in map(as_array, indices) if index.dtype.kind != 'b']
    if len(indices) != array.ndim or any(index is None for index in indices):
        return NotImplemented
    if any(map(m.may_share_memory, indices, [array] * array.ndim)):
        return NotImplemented
    place = 0
    for index, extent, step in zip(indices, array.shape, steps_of(array.shape, 'C')[0]):
        if index.size == 0 or index.min() < -extent or index.max() >= extent:
            return NotImplemented
        place = m.add(place, m.multiply(m.remainder(index, extent), step))
    if not place.flags.c_contiguous or any(type(operand) in (list, tuple) for operand in operands):
        return NotImplemented
    if operands and type(operands[0]) is m.ndarray and operands[0].ndim > 0:
        filled = m.empty(place.shape, operands[0].dtype)  # NumPy's loop for one dimension reads beyond other shapes
        m.copyto(filled, operands[0])
        operands = (filled.reshape(-1),)
    return ufunc.at(array.reshape(-1), place.reshape(-1), *operands)
