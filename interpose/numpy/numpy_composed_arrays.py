# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): operands that are lists, the flattened array, parts of complex arrays, integers in tens,
bytes and bits."""
import functools

# --- arrays of arrays, operands that are lists ------------------------------------------------------

def array(operand, dtype=None, copy=True, order=None, subok=False, ndmin=0):
    """Of an array, with ndmin=; or of arrays of one shape, in lists of lists."""
    if type(ndmin) is not int or not 0 <= ndmin <= 16:
        return NotImplemented
    if type(operand) is m.ndarray:
        if operand.size == 0 or not is_plain(operand) or not is_cast_silent(operand, as_dtype(dtype, operand)):
            return NotImplemented
        made = m.array(operand, dtype, copy=copy, order=order)
    elif order in (None, 'K', 'A', 'C') and copy is not False:
        made = joined(operand, dtype)
    else:
        return NotImplemented
    if made is NotImplemented or ndmin <= made.ndim:
        return made
    if made.size == 0 or not made.flags.forc:
        return NotImplemented
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape, order='F' if made.flags.fnc or order == 'F' else 'C')


def as_dtype(dtype, *arrays):
    """The one that is given, or that of a result of the arrays."""
    return m.result_type(*[array.dtype for array in arrays]) if dtype is None else m.dtype(dtype)


def joined(operand, dtype):
    shape, arrays = arrays_in(operand)
    if not arrays or not all(map(is_plain, arrays)):
        return NotImplemented
    dtype = functools.reduce(m.promote_types, [array.dtype for array in arrays]) if dtype is None else m.dtype(dtype)
    if not arrays[0].shape or 0 in arrays[0].shape or dtype.char not in NUMERIC:
        return NotImplemented
    if not all(is_cast_silent(array, dtype) for array in arrays):
        return NotImplemented
    made = m.empty(shape, dtype)
    rows = made.reshape((-1,) + arrays[0].shape)
    for place, array in enumerate(arrays):
        rows[place] = array
    return made


def arrays_in(operand):
    """(shape, arrays): what lists of lists make, and the arrays there in order; none of what NumPy may refuse, or ask for more."""
    if type(operand) is m.ndarray:
        return operand.shape, [operand]
    parts = [arrays_in(part) for part in operand] if type(operand) in (list, tuple) else []
    if not parts or any(not arrays or shape != parts[0][0] for shape, arrays in parts):
        return (), []
    return (len(parts),) + parts[0][0], [array for _, arrays in parts for array in arrays]


def asarray(operand, dtype=None, order=None):
    return array(operand, dtype, True, order) if type(operand) in (list, tuple) else NotImplemented


def listed(operands):
    """Arrays in place of lists and tuples. None: there are none."""
    found = [m.array(operand) if type(operand) in (list, tuple) else operand for operand in operands]
    return None if all(map(lambda one, other: one is other, found, operands)) else found


def concatenate(arrays, *operands, dtype=None, out=None, **keywords):
    arrays = listed(arrays)
    if arrays is None or out is not None or len(operands) > 1 or not all(map(is_plain, arrays)):
        return NotImplemented
    dtype = as_dtype(dtype, *arrays)
    if not all(is_cast_silent(array, dtype) for array in arrays):
        return NotImplemented
    return m.concatenate(arrays, *operands, dtype=dtype, **keywords)


def where(condition, *operands):
    operands = listed((condition,) + operands)
    return NotImplemented if operands is None else m.where(*operands)


# --- instances of subclasses ------------------------------------------------------------------------

def copy_of_kin(operand, plain, order):
    """As ndarray.copy. `plain`: a view of the operand. __array_finalize__ runs once, before the elements are copied, as NumPy calls
    it."""
    if not is_plain(plain) or plain.size == 0:
        return NotImplemented
    made = m.empty_like(operand, order=order)
    m.copyto(m.ndarray.view(made, m.ndarray), plain)
    return made


# --- the flattened array, parts of complex numbers --------------------------------------------------

def flat_get(array, key):
    if not is_plain(array):
        return NotImplemented
    if type(key) is slice:
        return array.reshape(-1)[key].copy()
    index = as_index(key) if type(key) is m.ndarray and key.dtype.kind in 'iu' else None
    if index is None or index.ndim == 0 or index.size == 0:
        return NotImplemented
    return array.reshape(-1).take(index)


def flat_set(array, key, value):
    """NumPy repeats the values, and reads them while it writes."""
    if type(value) is m.ndarray and m.may_share_memory(value, array):
        return NotImplemented
    if type(key) is slice:
        key = m.arange(*key.indices(array.size))
    if type(key) is not m.ndarray or key.dtype.kind not in 'iu' or key.ndim == 0:
        return NotImplemented
    return put(array, key, value)


def flat(array, value):
    """array.flat = value"""
    if not is_written(array) or (type(value) is m.ndarray and m.may_share_memory(value, array)):
        return NotImplemented
    values = values_for(value, array, False)
    if values is None:
        return NotImplemented
    values = cycled(values, array.size)
    array[...] = values if values.size == 1 else values.reshape(array.shape)


def imag_get(array):
    """Of a real array: zeros that are not writeable."""
    if not is_plain(array) or array.dtype.kind == 'c':
        return NotImplemented
    zeros = m.zeros(array.shape, array.dtype, 'F' if array.flags.fnc else 'C')
    zeros.flags.writeable = False
    return zeros


def real(array, value):
    return set_part(array, array.real, value)


def imag(array, value):
    return set_part(array, array.imag, value) if array.dtype.kind == 'c' else NotImplemented


def set_part(array, part, value):
    """NumPy 2.5 makes an array of the part's dtype and number of dimensions first, others one of any."""
    found = known_values(value)
    if found is None or not is_written(array) or not is_plain(part) or not is_plain(found) or found.ndim > part.ndim:
        return NotImplemented
    if not is_storable(value, part.dtype, found) or not is_cast_silent(found, part.dtype):
        return NotImplemented
    part[...] = found


# --- integers in tens -------------------------------------------------------------------------------

def round_to_tens(array, decimals, out=None):
    """round of integers to decimals below 0, without out=: as doubles. A cast of numbers that the dtype does not have warns."""
    if not is_plain(array) or array.dtype.kind not in 'iu':
        return NotImplemented
    unit, rounded = 10.0 ** -int(decimals), m.empty(array.shape, 'd', 'F' if array.flags.fnc else 'C')
    m.multiply(m.rint(m.divide(array, unit, rounded), rounded), unit, rounded)
    return rounded.astype(array.dtype) if is_cast_silent(rounded, array.dtype) else NotImplemented


# --- bytes and bits ---------------------------------------------------------------------------------

def bytes_of(array, size):
    """A view of a contiguous array: groups of `size` bytes, in memory order."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1)
    return flat.view('u1').reshape(-1, size)


def byteswap(array, inplace=False):
    if not is_plain(array) or array.size == 0 or type(inplace) is not bool:
        return NotImplemented
    size = array.dtype.itemsize // (2 if array.dtype.kind == 'c' else 1)
    if not array.flags.forc or (inplace and not array.flags.writeable):
        return NotImplemented
    swapped = array.copy('A')
    if size > 1:
        m.copyto(bytes_of(swapped, size), bytes_of(array, size)[:, ::-1])
    if not inplace:
        return swapped
    m.copyto(array, swapped)
    return array


def setfield(array, value, dtype, offset=0):
    if not is_written(array):
        return NotImplemented
    field, found = array.getfield(dtype, offset), known_values(value)
    if found is None or not is_plain(field) or not is_plain(found):
        return NotImplemented
    if not is_storable(value, field.dtype, found) or not is_cast_silent(found, field.dtype):
        return NotImplemented
    field[...] = found


WEIGHTS = {'big': [128, 64, 32, 16, 8, 4, 2, 1], 'little': [1, 2, 4, 8, 16, 32, 64, 128]}


def swapped_empty(shape, axis, is_fortran):
    """Bytes of that shape but for the axis, which changes places with the last one."""
    shape = list(shape)
    shape[axis], shape[-1] = shape[-1], shape[axis]
    return m.empty(shape, 'u1', 'F' if is_fortran else 'C')


def packbits(array, axis=None, bitorder='big'):
    if not is_plain(array) or array.dtype.kind not in 'biu' or array.ndim == 0 or array.size == 0:
        return NotImplemented
    if axis is None:
        array, axis = array.reshape(-1), 0
    axis = axis_of(axis, array.ndim)
    if axis is None or bitorder not in WEIGHTS:
        return NotImplemented
    is_fortran, array = array.flags.fnc, array.swapaxes(axis, -1)
    count = array.shape[-1]
    bits = m.zeros(array.shape[:-1] + ((count + 7) // 8 * 8,), '?')
    bits[..., :count] = m.not_equal(array, 0)
    weighted = m.multiply(bits.view('u1').reshape(array.shape[:-1] + (-1, 8)), m.array(WEIGHTS[bitorder], 'u1'))
    result = swapped_empty(weighted.shape[:-1], axis, is_fortran)
    m.bitwise_or.reduce(weighted, -1, out=result.swapaxes(axis, -1))
    return result


def unpackbits(array, axis=None, count=None, bitorder='big'):
    if not is_plain(array) or array.dtype.char != 'B' or array.ndim == 0 or array.size == 0:
        return NotImplemented
    if axis is None:
        array, axis = array.reshape(-1), 0
    axis = axis_of(axis, array.ndim)
    if axis is None or bitorder not in WEIGHTS or count is not None:
        return NotImplemented
    is_fortran, array = array.flags.fnc, array.swapaxes(axis, -1)
    bits = m.not_equal(m.bitwise_and(array[..., None], m.array(WEIGHTS[bitorder], 'u1')), False)
    bits = bits.view('u1').reshape(array.shape[:-1] + (-1,))
    result = swapped_empty(bits.shape, axis, is_fortran)
    m.copyto(result.swapaxes(axis, -1), bits)
    return result
