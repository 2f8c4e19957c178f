# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy composed of other functions of NumPy, each of which runs on the device or the host by itself. The library
contains this text and those of numpy_composed_*.py, runs them in one namespace, and calls a function there with the arguments
of NumPy's own.

A function returns what NumPy's does, within the numerical contract of its parts (verify/contract.h), or NotImplemented, before
anything is changed; an exception of its own or of NumPy's says the same. NumPy's own function is then called, and raises its own errors. So what is changed is changed by the last
statement. `m` is NumPy's C module: but for errstate and einsum_path, nothing is taken from the package numpy, where a program
may have replaced it. Contracts: NumPy 1.22 - 2.5.
"""

NUMERIC = frozenset('?bhilqBHILQefdFD')
NAMED_MODES = {0: 'clip', 1: 'wrap', 2: 'raise', 'clip': 'clip', 'wrap': 'wrap', 'raise': 'raise'}


def find(name):
    while name not in globals() and texts[1]:
        exec(compile(texts[1].pop(0), '<frozen gpushim>', 'exec'), globals())
    return globals()[name]


def compose(name, *operands, **keywords):
    """What the library calls. An exception of the program's, as of a signal's handler, is raised."""
    try:
        return find(name)(*operands, **keywords)
    except Exception as error:
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        module = place.tb_frame.f_globals.get('__name__', '')
        if place.tb_frame.f_globals is not globals() and not str(module).startswith('numpy.'):
            raise
        return NotImplemented


def quiet():
    """Products and sums of squares report no floating-point errors."""
    import numpy
    return numpy.errstate(all='ignore')


def is_plain(array):
    return type(array) is m.ndarray and array.dtype.char in NUMERIC and array.dtype.isnative and array.flags.aligned


def is_written(array):
    return is_plain(array) and array.flags.writeable and array.size > 0


def as_array(operand):
    return operand if type(operand) is m.ndarray else m.array(operand)


def as_index(operand):
    """As int64. None: NumPy may refuse it."""
    index = as_array(operand)
    if not is_plain(index) or index.dtype.kind not in 'biu' or index.dtype.char in 'LQ':
        return None
    return index.astype('l', copy=False)


def is_within(index, extent):
    return index.size == 0 or (index.min() >= 0 and index.max() < extent)


def into_bounds(index, extent, mode):
    """The index for a mode of take and put; None: unknown, or out of bounds."""
    mode = NAMED_MODES.get(mode)
    if mode == 'wrap':
        return m.remainder(index, extent)
    if mode == 'clip':
        return m.minimum(m.maximum(index, 0), extent - 1)
    return index if mode == 'raise' and is_within(index, extent) else None


def axis_of(axis, ndim):
    """In 0 .. ndim - 1; None: no such axis."""
    if type(axis) is not int or not -ndim <= axis < ndim:
        return None
    return axis % ndim


def is_storable(value, dtype):
    """Whether every version of NumPy stores what is no array in elements of integers alike: others refuse, warn or wrap around."""
    value = m.array(value)
    if dtype.kind not in 'iu' or value.size == 0:
        return True
    bits = 8 * dtype.itemsize
    low, high = (0, 2 ** bits) if dtype.kind == 'u' else (-2 ** (bits - 1), 2 ** (bits - 1))
    return value.dtype.kind in 'biuf' and low <= int(value.min()) <= int(value.max()) < high


def values_for(values, array, is_cast_safely):
    """Flat, to be stored in elements of the array. None: NumPy may refuse them, or warn."""
    if type(values) is not m.ndarray:
        if not is_storable(values, array.dtype):
            return None
        values = m.array(values, array.dtype)
    if not is_plain(values) or values.size == 0 or (values.dtype.kind == 'c') > (array.dtype.kind == 'c'):
        return None
    if is_cast_safely and not m.can_cast(values.dtype, array.dtype):
        return None
    return values.copy().reshape(-1) if m.may_share_memory(values, array) else values.reshape(-1)


def cycled(values, count):
    """As many, or one."""
    if values.size == 1 or values.size == count:
        return values
    return values[:count] if values.size > count else values.take(m.remainder(m.arange(count), values.size))
