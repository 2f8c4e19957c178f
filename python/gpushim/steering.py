# SPDX-License-Identifier: Apache-2.0
"""What a program may say to gpushim where it knows better. Without gpushim all of it does nothing."""
import contextlib

from gpushim.loaded import library

FOREIGN = 0  # of gpushim_residency: memory that is not gpushim's


@contextlib.contextmanager
def disabled():
    """`with gpushim.disabled():` runs the calls of NumPy that this thread makes in NumPy's own code, on one core of the CPU or as
    NumPy's BLAS does; also a decorator. Nests; an exception ends it. Other threads go on as before. It belongs to the thread, not to
    the task: code of other asyncio tasks that runs meanwhile is meant too."""
    shim = library()
    if shim is None:
        yield
        return
    shim.gpushim_disable()
    try:
        yield
    finally:
        shim.gpushim_enable()


def extent(array):
    """(address of the lowest byte, number of bytes from there to the highest) of an array with elements."""
    spans = [(length - 1) * stride for length, stride in zip(array.shape, array.strides)]
    lowest = sum(span for span in spans if span < 0)
    highest = sum(span for span in spans if span > 0)
    return array.__array_interface__["data"][0] + lowest, highest - lowest + array.itemsize


def send(array):
    """Whether the device has the array now."""
    return array.size > 0 and not array.dtype.hasobject and library().gpushim_prefetch(*extent(array)) == 1


def device_array(a):
    """An array with the contents of `a` that the device has too when this returns: `a` itself, or, where its memory is not gpushim's, a
    copy. Starts the device where it has not been. Where the device cannot have it (no gpushim, no device, objects, an array below
    GPUSHIM_ARENA_MIN, no room) it is np.asarray(a)."""
    import numpy
    array = numpy.asarray(a)
    if library() is None or send(array):
        return array
    if array.size == 0 or library().gpushim_residency(extent(array)[0]) != FOREIGN:
        return array
    copy = array.copy(order="K")
    return copy if send(copy) else array
