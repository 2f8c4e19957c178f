# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): the transforms of scipy.fft's C module that the device has no routine for, of those that it has.
Cosine transforms of N numbers are Fourier transforms of N numbers in another order (J. Makhoul, A fast cosine transform in one and
two dimensions, 1980). SciPy 1.17 (pypocketfft) and 1.18 (pyduccfft)."""
import math
import sys


def fft_module():
    return sys.modules.get('scipy.fft._duccfft.pyduccfft') or sys.modules['scipy.fft._pocketfft.pypocketfft']


def fft_c2r(a, axes=None, lastsize=0, forward=True, inorm=0, out=None, nthreads=1):
    """Forward: of the conjugate, backward."""
    if out is not None or forward is not True or not is_plain(a):
        return NotImplemented
    return fft_module().c2r(m.conjugate(a), axes, lastsize, False, inorm, None, nthreads)


def fft_r2c(a, axes=None, forward=True, inorm=0, out=None, nthreads=1):
    """Backward: the conjugate of the forward one."""
    if out is not None or forward is not False or not is_plain(a):
        return NotImplemented
    return m.conjugate(fft_module().r2c(a, axes, True, inorm, None, nthreads))


def wave(count, size, dtype):
    """cos and sin of k / (2 size) of a turn's half, for k below count."""
    angle = m.multiply(m.arange(count), math.pi / (2 * size))
    return m.cos(angle).astype(dtype, copy=False), m.sin(angle).astype(dtype, copy=False)


def dct2(array):
    """Along the last axis: twice the sums of x[n] cos(pi k (2 n + 1) / (2 N))."""
    size = array.shape[-1]
    half, count = (size + 1) // 2, size // 2 + 1
    shuffled = m.empty(array.shape, array.dtype)
    shuffled[..., :half] = array[..., ::2]
    shuffled[..., half:] = array[..., 1::2][..., ::-1]
    spectrum = fft_module().r2c(shuffled, (array.ndim - 1,), True, 0, None, 1)
    cosine, sine = wave(count, size, array.dtype)
    made = m.empty(array.shape, array.dtype)
    real, imag = m.multiply(spectrum.real, 2.0), m.multiply(spectrum.imag, 2.0)
    made[..., :count] = m.add(m.multiply(real, cosine), m.multiply(imag, sine))
    rest = size - count
    if rest:
        tail = m.subtract(m.multiply(real, sine), m.multiply(imag, cosine))
        made[..., count:] = tail[..., 1:rest + 1][..., ::-1]
    return made


def dct3(array):
    """Along the last axis: x[0] and twice the sums of x[n] cos(pi n (2 k + 1) / (2 N)), n > 0."""
    size = array.shape[-1]
    half, count = (size + 1) // 2, size // 2 + 1
    cosine, sine = wave(count, size, array.dtype)
    other = m.zeros(array.shape[:-1] + (count,), array.dtype)
    other[..., 1:] = array[..., :size - count:-1] if size > 1 else 0
    one = array[..., :count]
    spectrum = m.empty(other.shape, 'F' if array.dtype.char == 'f' else 'D')
    spectrum.real[...] = m.add(m.multiply(one, cosine), m.multiply(other, sine))
    spectrum.imag[...] = m.subtract(m.multiply(one, sine), m.multiply(other, cosine))
    shuffled = fft_module().c2r(spectrum, (array.ndim - 1,), size, False, 0, None, 1)
    made = m.empty(array.shape, array.dtype)
    made[..., ::2] = shuffled[..., :half]
    made[..., 1::2] = shuffled[..., half:][..., ::-1]
    return made


def alternating(array):
    """The odd ones with the other sign."""
    made = array.copy()
    m.negative(made[..., 1::2], out=made[..., 1::2])
    return made


def scaled_at(array, place, factor):
    made = array.copy()
    m.multiply(made[..., place], factor, out=made[..., place])
    return made


def real_transform(array, kind, is_sine, is_ortho):
    """One axis, the last."""
    end = -1 if is_sine else 0
    if kind == 2:
        made = dct2(alternating(array))[..., ::-1] if is_sine else dct2(array)
        return scaled_at(made, end, math.sqrt(0.5)) if is_ortho else made
    array = scaled_at(array, end, math.sqrt(2.0)) if is_ortho else array
    return alternating(dct3(array[..., ::-1])) if is_sine else dct3(array)


def real_transforms(a, kind, axes, inorm, out, ortho, is_sine):
    if not is_plain(a) or a.dtype.char not in 'fd' or kind not in (2, 3) or inorm not in (0, 1, 2) or out is not None:
        return NotImplemented
    axes = [axis_of(axis, a.ndim) for axis in (range(a.ndim) if axes is None else axes)]
    if not axes or None in axes or len(set(axes)) < len(axes) or a.size == 0 or ortho not in (None, True, False):
        return NotImplemented
    points = math.prod(2 * a.shape[axis] for axis in axes)
    is_ortho = inorm == 1 if ortho is None else ortho
    with quiet():
        made = a
        for axis in axes:
            made = real_transform(made.swapaxes(axis, -1), kind, is_sine, is_ortho).swapaxes(axis, -1)
        factor = (1.0, 1 / math.sqrt(points), 1.0 / points)[inorm]
        made = m.multiply(made, factor) if inorm else made
    return made if made.flags.c_contiguous else made.copy()


def real_dct(a, type, axes=None, inorm=0, out=None, nthreads=1, ortho=None):
    return real_transforms(a, type, axes, inorm, out, ortho, False)


def real_dst(a, type, axes=None, inorm=0, out=None, nthreads=1, ortho=None):
    return real_transforms(a, type, axes, inorm, out, ortho, True)
