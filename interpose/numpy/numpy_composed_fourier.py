# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.ndimage's filters of Fourier transforms, in its order of operations (SciPy 1.17 and 1.18:
ni_fourier.c)."""

PI = 3.14159265358979323846
FOURIER_GAUSSIAN, FOURIER_UNIFORM, FOURIER_ELLIPSOID = range(3)
LEAST_EXPONENT = -50.0  # a smaller one's factor is 0


def frequencies(array, count, axis):
    """For each axis: the frequencies of its elements, and the length of the transform. Those of the axis of a real transform of
    `count` numbers are all positive."""
    made = []
    for number, extent in enumerate(array.shape):
        if number == axis and count >= 0:
            made.append((m.arange(float(extent)), count))
        else:
            made.append((m.concatenate((m.arange(float((extent + 1) // 2)), m.arange(-float(extent // 2), 0.0))), extent))
    return made


def gaussian_factors(sigma, line, length):
    scale = sigma * PI / float(length)
    exponents = -2.0 * scale * scale * line * line
    return m.where(exponents < LEAST_EXPONENT, 0.0, m.exp(exponents))


def sine_quotient(angles):
    return m.where(angles == 0.0, 1.0, m.sin(angles) / m.where(angles == 0.0, 1.0, angles))


def uniform_factors(size, line, length):
    scale = PI * size / float(length)
    return sine_quotient(scale * line) if scale > 0.0 else m.where(line == 0.0, 1.0, 0.0)


def separable(factors_of, parameters, lines):
    """The product over the axes that are longer than 1."""
    made = 1.0
    for axis, (parameter, (line, length)) in enumerate(zip(parameters, lines)):
        if line.size > 1:
            made = m.multiply(made, along(factors_of(parameter, line, length), axis, len(lines)))
    return made


def ellipsoid(sizes, lines):
    angles = [along(line * (PI * size / float(length)), axis, len(lines)) for axis, (size, (line, length)) in enumerate(zip(sizes, lines))]
    if len(lines) == 1:
        return sine_quotient(angles[0])
    squares = 0.0
    for angle in angles:
        squares = m.add(squares, m.multiply(angle, angle))
    radius = m.sqrt(squares)
    is_zero = radius == 0.0
    divisor = m.where(is_zero, 1.0, radius)
    if len(lines) == 2:
        from scipy.special import j1
        return m.where(is_zero, 1.0, 2.0 * j1(radius) / divisor)
    return m.where(is_zero, 1.0, 3.0 * (m.sin(radius) - radius * m.cos(radius)) / (divisor * divisor * divisor))


def is_transformed(array, output):
    is_pair = is_plain(array) and is_written(output) and array.shape == output.shape and array.ndim > 0 and array.dtype.char in '?bhilqBHILQfdFD'
    return is_pair and (array is output or not m.may_share_memory(array, output))


def store_parts(output, real, imaginary):
    output.real[...] = real
    output.imag[...] = imaginary


def nd_fourier_filter(array, parameters, count, axis, output, kind):
    is_complex = is_plain(array) and array.dtype.kind == 'c'
    if not is_transformed(array, output) or output.dtype.char not in ('FD' if is_complex else 'fdFD') or array.ndim > 3:
        return NotImplemented
    numbers, lines = numbers_of(parameters), frequencies(array, count, axis)
    if not all(-1e9 < number < 1e9 for number in numbers) or len(numbers) != array.ndim or count == 0:
        return NotImplemented
    with quiet():
        if kind == FOURIER_ELLIPSOID:
            factors = ellipsoid(numbers, lines)
        else:
            factors = separable(gaussian_factors if kind == FOURIER_GAUSSIAN else uniform_factors, numbers, lines)
        if is_complex:
            return store_parts(output, m.multiply(array.real, factors), m.multiply(array.imag, factors))
        values = m.multiply(factors, array)
        return store(output, values) if output.dtype.kind == 'f' else store_parts(output, values, 0.0)


def nd_fourier_shift(array, offsets, count, axis, output):
    if not is_transformed(array, output) or output.dtype.char not in 'FD' or count == 0:
        return NotImplemented
    angles = 0.0
    with quiet():
        for number, (offset, (line, length)) in enumerate(zip(numbers_of(offsets), frequencies(array, count, axis))):
            if line.size > 1:
                angles = m.add(angles, along(-2.0 * PI * offset / float(length) * line, number, array.ndim))
        sine, cosine = m.sin(angles), m.cos(angles)
        if array.dtype.kind != 'c':
            return store_parts(output, m.multiply(array, cosine), m.multiply(array, sine))
        real = m.subtract(m.multiply(array.real, cosine), m.multiply(array.imag, sine))
        return store_parts(output, real, m.add(m.multiply(array.real, sine), m.multiply(array.imag, cosine)))
