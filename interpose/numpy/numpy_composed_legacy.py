# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): numbers of numpy.random.RandomState's methods, made of the 32-bit words of its MT19937
(numpy/random/src/legacy/legacy-distributions.c). The library draws the words, more than are needed.

Each function takes the words, the normal number that is kept from the call before or None, the shape, and the method's numbers,
None where one is not given. It returns (numbers, how many words are taken, the normal number to keep or None)."""
import math

PARTS = {1: 'B', 2: 'H', 4: 'I', 8: 'L'}


def legacy(function, words, spare, size, *numbers):
    size = (size,) if type(size) is int else tuple(size)
    with quiet():
        made = find(function)(words, spare, size, *numbers)
        if made is NotImplemented:
            return made
        width = made[0].size // math.prod(size)
        return (shaped(made[0], size if width == 1 else (*size, width)), *made[1:])


def shaped(array, size):
    """Of memory of its own."""
    return array if array.shape == size and array.base is None else array.reshape(size).copy()


def units(words, count):
    """Numbers of [0, 1), of two words each: 27 bits of the first one, and 26 of the second."""
    pairs = words[:2 * count].reshape(count, 2)
    high, low = m.right_shift(pairs[:, 0], 5), m.right_shift(pairs[:, 1], 6)
    return m.multiply(m.add(m.multiply(high, 67108864.0), low), 2.0 ** -53)


def uniforms(words, spare, size, low=None, high=None):
    count = math.prod(size)
    drawn = units(words, count)
    if low is not None or high is not None:
        low = 0.0 if low is None else float(low)
        drawn = m.add(m.multiply(drawn, (1.0 if high is None else float(high)) - low), low)
    return drawn, 2 * count, spare


def standard_normals(words, spare, count):
    """By Marsaglia's polar method, two of each pair of numbers that is a point in the unit circle."""
    pairs = (count - (spare is not None) + 1) // 2
    points = m.subtract(m.multiply(units(words, words.size // 4 * 2), 2.0), 1.0).reshape(-1, 2)
    squares = m.square(points)
    squares = m.add(squares[:, 0], squares[:, 1])
    places = m.logical_and(m.less(squares, 1.0), m.not_equal(squares, 0.0)).nonzero()[0][:pairs]
    if places.size < pairs:
        return None
    squares = squares.take(places)
    factors = m.sqrt(m.divide(m.multiply(exact_log(squares), -2.0), squares))
    numbers = m.multiply(points.take(places, 0)[:, ::-1], factors.reshape(-1, 1)).reshape(-1)
    kept = None if (count - (spare is not None)) % 2 == 0 else float(numbers[-1])
    if spare is not None:
        numbers = m.concatenate((m.array([spare]), numbers))
    return numbers[:count], 4 * (int(places[-1]) + 1), kept


def normals(words, spare, size, loc=None, scale=None):
    made = standard_normals(words, spare, math.prod(size))
    if made is None:
        return NotImplemented
    numbers, used, kept = made
    if loc is not None or scale is not None:
        return placed(numbers, loc, scale), used, kept
    return numbers, used, kept


def cauchies(words, spare, size):
    made = standard_normals(words, spare, 2 * math.prod(size))
    if made is None:
        return NotImplemented
    numbers, used, kept = made
    return m.divide(numbers[::2], numbers[1::2]), used, kept


def exponentials(words, spare, size, scale=None):
    count = math.prod(size)
    numbers = m.negative(exact_log(m.subtract(1.0, units(words, count))))
    if scale is not None:
        numbers = m.multiply(numbers, float(scale))
    return numbers, 2 * count, spare


def lognormals(words, spare, size, mean=None, sigma=None):
    made = normals(words, spare, size, 0.0 if mean is None else mean, sigma)
    return made if made is NotImplemented else (exact_exp(made[0]), *made[1:])


def paretos(words, spare, size, a):
    drawn, used, spare = exponentials(words, spare, size)
    return m.subtract(exact_exp(m.divide(drawn, float(a))), 1.0), used, spare


def weibulls(words, spare, size, a):
    drawn, used, spare = exponentials(words, spare, size)
    return exact_power(drawn, 1.0 / float(a)), used, spare


def powers(words, spare, size, a):
    drawn, used, spare = exponentials(words, spare, size)
    return exact_power(m.subtract(1.0, exact_exp(m.negative(drawn))), 1.0 / float(a)), used, spare


def of_units(function, words, spare, size, *numbers):
    """Each of one number of [0, 1), as Generator makes them."""
    count = math.prod(size)
    made = function(units(words, count), *numbers)
    return made if made is NotImplemented else (made, 2 * count, spare)


def gumbels(*arguments):
    return of_units(gumbel_of_uniforms, *arguments)


def laplaces(*arguments):
    return of_units(laplace_of_uniforms, *arguments)


def logistics(*arguments):
    return of_units(logistic_of_uniforms, *arguments)


def triangles(*arguments):
    return of_units(triangular_of_uniforms, *arguments)


def binomials(*arguments):
    import numpy
    find_log1p(numpy.random.Generator(numpy.random.PCG64(20)))
    return of_units(binomial_of_uniforms, *arguments)


def geometrics(words, spare, size, p):
    if p >= SEARCH_FROM:
        return of_units(geometric_of_uniforms, words, spare, size, p)
    count = math.prod(size)
    drawn = m.divide(m.log(m.subtract(1.0, units(words, count))), math.log(1.0 - float(p)))
    return rounded(m.ceil, drawn).astype('l'), 2 * count, spare


def hypergeometrics(words, spare, size, good, bad, sample):
    """Of good and bad ones, `sample` are taken one after the other; the fewer ones are counted."""
    if any(isinstance(number, float) for number in (good, bad, sample)):
        return NotImplemented
    good, bad, sample = int(good), int(bad), int(sample)
    count, fewer = math.prod(size), float(min(good, bad))
    drawn, left = units(words, count * sample).reshape(count, sample), m.add(m.zeros(count), fewer)
    for i in range(sample):
        left = m.subtract(left, m.floor(m.add(drawn[:, i], m.divide(left, float(good + bad - i)))))
    taken = m.subtract(fewer, left).astype('l')
    return m.subtract(sample, taken) if good > bad else taken, 2 * count * sample, spare


def of_pairs_of_words(function):
    """Of numbers of [0, 1), as Generator makes them."""
    def run(words, spare, size, *numbers):
        made, used = function(m.concatenate((units(words, words.size // 2), m.array([BEHIND]))), size, *plain(numbers))
        return made, 2 * used, spare
    return run


def poissons(words, spare, size, lam=None):
    made = poisson_of_uniforms(units(words, words.size // 2), size, 1.0 if lam is None else lam)
    return NotImplemented if made is NotImplemented else (made[0], 2 * made[1], spare)


def pairs_of(words, count):
    """Words of 64 bits."""
    pairs = words[:2 * count].reshape(count, 2).astype('L')
    return m.bitwise_or(m.left_shift(pairs[:, 0], 32), pairs[:, 1])


def largest_integers(words, spare, size):
    count = math.prod(size)
    return m.right_shift(pairs_of(words, count), 1).astype('l'), 2 * count, spare


def integers_below(words, spare, size, low, high=None, dtype=None):
    """Pieces of a word under a mask; those beyond the range are left out. Of 16 and 8 bits, the lowest ones of a word are first."""
    dtype = m.dtype('l' if dtype is None else dtype)
    low, high = (0, int(low)) if high is None else (int(low), int(high))
    span, count, width = high - 1 - low, math.prod(size), dtype.itemsize
    least = -2 ** (8 * width - 1) if dtype.kind == 'i' else 0
    if dtype.kind not in 'iu' or not dtype.isnative or low < least or high > least + 2 ** (8 * width):
        return NotImplemented
    each = 4 if width == 8 and span < 2 ** 32 else width
    mask = 2 ** span.bit_length() - 1
    pieces = pairs_of(words, words.size // 2) if each == 8 else words.view(PARTS[each])
    pieces = m.bitwise_and(pieces, m.array(mask, PARTS[each]))
    if mask == span:
        pieces, last = pieces[:count], count - 1
    else:
        places = m.less_equal(pieces, m.array(span, PARTS[each])).nonzero()[0][:count]
        if places.size < count:
            return NotImplemented
        pieces, last = pieces.take(places), int(places[-1])
    numbers = m.add(pieces.astype(dtype), m.array(low, dtype))
    return numbers, last // (4 // each) + 1 if each < 8 else 2 * last + 2, spare
