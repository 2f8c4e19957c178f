# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy composed of other functions of NumPy, each of which runs on the device or the host by itself. The library
contains this text and those of numpy_composed_*.py, runs them in one namespace, and calls a function there with the arguments
of NumPy's own.

A function returns what NumPy's does, within the numerical contract of its parts (verify/contract.h), or NotImplemented, before
anything is changed; an exception of its own or of NumPy's says the same. NumPy's own function is then called, and raises its own errors. So what is changed is changed by the last
statement. `m` is NumPy's C module: but for errstate, geterr and einsum_path, nothing is taken from the package numpy, where a program
may have replaced it. Contracts: NumPy 1.22 - 2.5.
"""

NUMERIC = frozenset('?bhilqBHILQefdFD')
SCALARS = frozenset(m.dtype(char).type for char in NUMERIC)
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


def known_values(values):
    """As an array. None: of a type of which NumPy may ask more than its elements."""
    if isinstance(values, m.ndarray) or type(values) in (bool, int, float, complex, list, tuple) or type(values) in SCALARS:
        return as_array(values)
    return None


def is_storable(values, dtype, found):
    """Whether every version of NumPy stores what is no array in elements of integers alike: others refuse, warn or wrap around.
    `found`: the values as an array."""
    if isinstance(values, m.ndarray) or dtype.kind not in 'iu' or found.size == 0:
        return True
    return found.dtype.kind in 'biuf' and is_in_range(found, dtype)


def is_in_range(values, dtype):
    """Whether all are near numbers that an integer of the dtype has."""
    bits = 8 * dtype.itemsize
    low, high = (0.0, 2.0 ** bits) if dtype.kind == 'u' else (-2.0 ** (bits - 1), 2.0 ** (bits - 1))
    return low <= float(values.min()) and float(values.max()) < high  # a NaN is in no range


def is_cast_silent(values, dtype):
    """Whether NumPy's cast does not warn: the warning would name a line of this text."""
    if m.can_cast(values.dtype, dtype) or values.size == 0:
        return True
    if values.dtype.kind == 'c':
        part = m.empty(0, dtype).real.dtype
        return dtype.kind == 'c' and is_cast_silent(values.real, part) and is_cast_silent(values.imag, part)
    if dtype.kind == 'b' or (values.dtype.kind in 'biu' and dtype.char != 'e'):
        return True
    if dtype.kind in 'iu':
        return is_in_range(values, dtype)
    import numpy
    with quiet():
        is_lost = m.logical_and(m.isinf(values.astype(dtype)), m.isfinite(values))
    return numpy.geterr()['under'] == 'ignore' and not is_lost.any()


def values_for(values, array, is_cast_safely):
    """Flat, to be stored in elements of the array. None: NumPy may refuse them, or warn."""
    found = known_values(values)
    if found is None or not is_plain(found) or found.size == 0 or not is_storable(values, array.dtype, found):
        return None
    is_array = isinstance(values, m.ndarray)
    if is_cast_safely and (is_array or type(values) in SCALARS) and not m.can_cast(found.dtype, array.dtype):
        return None
    if not is_cast_silent(found, array.dtype):
        return None
    found = found if is_array else m.array(values, array.dtype)
    return found.copy().reshape(-1) if m.may_share_memory(found, array) else found.reshape(-1)


def cycled(values, count):
    """As many, or one."""
    if values.size == 1 or values.size == count:
        return values
    return values[:count] if values.size > count else values.take(m.remainder(m.arange(count), values.size))
