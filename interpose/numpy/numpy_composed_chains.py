# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): numbers of numpy.random.Generator that take as many 64-bit words as they need (numpy/random/src/
distributions/distributions.c). For every word, the number that would begin there is computed, and the word behind it; then the words at which
numbers begin are found by doubled steps from the first one on.

A pair (values, ends) has an entry for each word, and a last one that ends at itself: there are not words enough. A function of the words
and of parameters returns (numbers, how many words they take), or NotImplemented."""
import math

UNIT = 2.0 ** -53
BEHIND = 0.41421356  # in place of a number that is not there; nothing is decided by it
NORMAL, UNIFORM = 'normal', 'uniform'  # items of a number: a normal one, one of [0, 1); a gamma number is given by its shape
TAIL_WORDS = 17, 2  # of a normal and an exponential number; NumPy draws one that takes more


def units_at(words):
    """Numbers of [0, 1), one a word."""
    return m.multiply(m.right_shift(words, 11), UNIT), m.minimum(m.add(m.arange(words.size), 1), words.size - 1)


def settled(values, ends, is_made):
    """Where no number is made, that which begins at the end is taken."""
    left = m.logical_not(is_made).nonzero()[0]
    while left.size:
        begins = ends.take(left)
        values[left], ends[left] = values.take(begins), ends.take(begins)
        was_made = is_made.take(begins)
        is_made[left] = was_made
        left = left.take(m.logical_not(was_made).nonzero()[0])
    return values, ends


def of_ziggurat(words, layers, steps, kind, exponent, tail):
    """exponent(x): that of the density at x; tail(word, numbers of [0, 1)): (x, how many of them it takes)."""
    last = words.size - 1
    steepness, width, height = ziggurat(kind)
    values, is_made = m.multiply(steps, width.take(layers)), m.less(steps, steepness.take(layers))
    ends = m.minimum(m.add(m.arange(words.size), 1), last)
    values[last:], is_made[last:], ends[last:] = math.nan, True, last
    far = m.logical_not(is_made).nonzero()[0]
    layer, x = layers.take(far), values.take(far)
    low = height.take(layer)
    place = m.add(m.multiply(m.subtract(height.take(m.maximum(m.subtract(layer, 1), 0)), low),
                             units_at(words.take(m.minimum(m.add(far, 1), last)))[0]), low)
    is_tail = m.equal(layer, 0)
    is_made[far] = m.logical_or(decide(m.where(is_tail, -1.0, place), m.exp(exponent(x))), is_tail)
    ends[far] = m.minimum(m.add(far, 2), last)
    tails = far.take(is_tail.nonzero()[0])
    if tails.size:
        put_tails(values, ends, tails, words, kind, tail)
    return values, ends, is_made


def put_tails(values, ends, tails, words, kind, tail):
    last = words.size - 1
    places = m.minimum(m.add(tails.reshape(-1, 1), m.arange(1, TAIL_WORDS[kind])), last)
    drawn = m.multiply(m.right_shift(words.take(places), 11), UNIT).tolist()
    made = [tail(*pair) for pair in zip(words.take(tails).tolist(), drawn)]
    values[tails] = m.array([x for x, _ in made])
    ends[tails] = m.minimum(m.add(tails, m.array([used + 1 for _, used in made])), last)


def normal_tail(word, drawn):
    """Its sign is that of bit 17; bit 8 will be applied to all."""
    for i in range(0, len(drawn) - 1, 2):
        x, y = -0.27366123732975828 * math.log1p(-drawn[i]), -math.log1p(-drawn[i + 1])
        if y + y > x * x:
            x += 3.6541528853610088
            return -x if (word >> 17 ^ word >> 8) & 1 else x, i + 2
    raise Undecided


def exponential_tail(word, drawn):
    return 7.69711747013104972 - math.log1p(-drawn[0]), 1


def normals_at(words):
    steps = m.bitwise_and(m.right_shift(words, 9), m.array(2 ** 52 - 1, 'L'))
    layers = m.bitwise_and(words, m.array(255, 'L')).astype('l')
    values, ends, is_made = of_ziggurat(words, layers, steps, 0, lambda x: m.multiply(m.multiply(x, -0.5), x), normal_tail)
    is_negative = m.not_equal(m.bitwise_and(words, m.array(256, 'L')), m.array(0, 'L'))
    return settled(m.where(is_negative, m.negative(values), values), ends, is_made)


def exponentials_at(words):
    steps = m.right_shift(words, 11)
    layers = m.bitwise_and(m.right_shift(words, 3), m.array(255, 'L')).astype('l')
    return settled(*of_ziggurat(words, layers, steps, 1, m.negative, exponential_tail))


def gammas_at(words, shape, normals):
    """Marsaglia's and Tsang's."""
    if shape == 1.0:
        return exponentials_at(words)
    if not shape > 1.0:
        raise Undecided
    b, last = shape - 1.0 / 3.0, words.size - 1
    c = 1.0 / math.sqrt(9.0 * b)
    x, ends = normals
    v = m.add(m.multiply(x, c), 1.0)
    is_low, v = m.less_equal(v, 0.0), m.multiply(m.multiply(v, v), v)
    u, square = units_at(words)[0].take(ends), m.multiply(x, x)
    is_sure = m.less(u, m.subtract(1.0, m.multiply(m.multiply(square, 0.0331), square)))
    bound = m.add(m.multiply(m.multiply(x, 0.5), x), m.multiply(m.add(m.subtract(1.0, v), m.log(v)), b))
    is_plain = m.logical_or(is_sure, is_low)
    is_made = m.logical_or(is_sure, decide(m.where(is_plain, 1.0, m.log(u)), m.where(is_plain, 0.0, bound)))
    is_made = m.logical_and(is_made, m.logical_not(is_low))
    ends = m.where(is_low, ends, m.minimum(m.add(ends, 1), last))
    is_made[last:], ends[last:] = True, last
    return settled(m.multiply(v, b), ends, is_made)


def logseries_at(drawn, p):
    """Of numbers of [0, 1): one, or two."""
    last, places = drawn.size - 1, m.arange(drawn.size)
    then = drawn.take(m.minimum(m.add(places, 1), last))
    is_one = m.greater_equal(drawn, p)
    q = m.subtract(1.0, m.exp(m.multiply(then, math.log1p(-p))))
    is_far = decide(m.where(is_one, 1.0, drawn), m.where(is_one, 0.0, m.multiply(q, q)))
    is_plain = m.logical_or(is_one, is_far)
    is_two = decide(m.where(is_plain, 1.0, drawn), m.where(is_plain, 0.0, q))
    far = rounded(m.floor, m.where(is_far, m.add(m.divide(m.log(drawn), m.log(q)), 1.0), 0.5))
    values = m.where(is_far, far, m.add(is_two, 1.0)).astype('l')
    return values, m.minimum(m.add(m.where(is_one, 1, 2), places), last)


def zipf_at(drawn, a):
    """Of two numbers of [0, 1) for each attempt."""
    last, places, scale = drawn.size - 1, m.arange(drawn.size), 2.0 ** (a - 1.0)
    then = drawn.take(m.minimum(m.add(places, 1), last))
    x = rounded(m.floor, m.power(m.subtract(1.0, drawn), -1.0 / (a - 1.0)))
    t = m.power(m.add(m.divide(1.0, x), 1.0), a - 1.0)
    left = m.divide(m.multiply(m.multiply(then, x), m.subtract(t, 1.0)), scale - 1.0)
    is_made = decide(left, m.divide(t, scale), m.multiply(m.add(x, 1.0), NEAR))
    ends, is_made[last:] = m.minimum(m.add(places, 2), last), True
    ends[last:] = last
    return settled(x.astype('l'), ends, is_made)


def in_turn(pairs, size):
    """Of pairs (values, ends): numbers of the first one, of the second one that begins where that ends, and so on; and the words taken."""
    count, step = math.prod(size), pairs[0][1]
    for _, ends in pairs[1:]:
        step = ends.take(step)
    begins = m.zeros(1, 'l')
    while begins.size < count:
        begins, step = m.concatenate((begins, step.take(begins))), step.take(step)
    at, numbers = begins[:count].reshape(size), []
    for values, ends in pairs:
        numbers.append(values.take(at))
        at = ends.take(at)
    used = int(at.reshape(-1)[-1])
    if used >= step.size - 1:
        raise Undecided
    return numbers, used


def pairs_of_items(items, words):
    normals, made = normals_at(words), []
    for item in items:
        made.append(normals if item is NORMAL else units_at(words) if item is UNIFORM else gammas_at(words, item, normals))
    return made


def plain(numbers):
    """A family's numbers, or the list of them, as floats."""
    return [[*map(float, number)] if type(number) in (list, tuple) else float(number) for number in numbers if number is not None]


def chained(family):
    def run(words, size, *numbers):
        words = m.concatenate((words, m.zeros(1, 'L')))
        items, combined = family(*plain(numbers))
        try:
            made, used = in_turn(pairs_of_items(items, words), (size,) if type(size) is int else tuple(size))
        except Undecided:
            return NotImplemented
        return combined(*made), used
    return run


def inverted(drawn, trials, p, most):
    """Binomial numbers as binomial_of_uniforms makes them, of arrays of trials, `most` at most."""
    if p > 0.5:
        return m.subtract(trials, inverted(drawn, trials, 1.0 - p, most))
    q, count = 1.0 - p, m.zeros(drawn.shape, 'l')
    logarithm = math.log1p(-p) if takes_log1p else math.log(q)
    bounds = m.array([int(min(n, n * p + 10.0 * math.sqrt(n * p * q + 1))) for n in range(most + 1)]).take(trials)
    terms = m.array([math.exp(n * logarithm) for n in range(most + 1)]).take(trials)
    for number in range(1, most + 2):
        is_above = m.greater(drawn, terms)
        if m.logical_and(is_above, m.greater(number, bounds)).any():
            raise Undecided  # NumPy would draw again
        count, drawn = m.add(count, is_above), m.subtract(drawn, terms)
        terms = m.divide(m.multiply(m.multiply(m.subtract(trials, number - 1), p), terms), number * q)
    return count


def multinomials_at(drawn, n, pvals):
    """The counts of all but the last one, and the ends."""
    last, left, trials = drawn.size - 1, 1.0, m.add(m.zeros(drawn.size, 'l'), n)
    ends, counts = m.arange(drawn.size), []
    for p in pvals[:-1]:
        is_drawn = m.greater(trials, 0)
        counts.append(m.multiply(inverted(drawn.take(ends), trials, p / left, n), is_drawn))
        trials, ends, left = m.subtract(trials, counts[-1]), m.minimum(m.add(ends, is_drawn), last), left - p
    ends[last:] = last
    return counts, ends


def multinomials(drawn, size, n, pvals):
    counts, ends = multinomials_at(drawn, int(n), pvals)
    (begins,), used = in_turn([(m.arange(drawn.size), ends)], (math.prod(size),))
    counts, rest = [count.take(begins) for count in counts], int(n)
    for count in counts:
        rest = m.subtract(rest, count)
    return beside([*counts, rest]).reshape(*size, len(pvals)), used


def hypergeometrics_of_words(words, size, good, bad, sample):
    """For each item of a sample, the first word that is not beyond the items that are left says whether it is a good one."""
    if any(isinstance(number, float) for number in (good, bad, sample)):
        return NotImplemented
    good, total, sample = int(good), int(good) + int(bad), int(sample)
    words = m.concatenate((words, m.zeros(1, 'I'))).astype('l')
    last, left, places = words.size - 1, m.add(m.zeros(words.size, 'l'), good), m.arange(words.size)
    at = places
    for most in range(total - 1, total - 1 - sample, -1):
        drawn, ends = m.bitwise_and(words, 2 ** most.bit_length() - 1), m.minimum(m.add(places, 1), last)
        is_made = m.less_equal(drawn, most)
        is_made[last:] = True
        drawn, ends = settled(drawn, ends, is_made)
        left, at = m.subtract(left, m.less(drawn.take(at), left)), ends.take(at)
    (left,), used = in_turn([(left, at)], (size,) if type(size) is int else tuple(size))
    return m.subtract(good, left), used


def beside(columns):
    return m.concatenate([column.reshape(*column.shape, 1) for column in columns], -1)


def searched(function):
    """Numbers of one kind after the other."""
    return lambda drawn, size, number: (lambda made, used: (made[0], used))(*in_turn([function(drawn, number)], size))


def of_drawn(function):
    """Of numbers of [0, 1)."""
    def run(words, size, *numbers):
        drawn = m.concatenate((m.multiply(m.right_shift(words, 11), UNIT), m.array([BEHIND])))
        return function(drawn, (size,) if type(size) is int else tuple(size), *plain(numbers))
    return run


logseries, zipfs = searched(logseries_at), searched(zipf_at)
logseries_of_words, zipf_of_words, multinomials_of_words = of_drawn(logseries), of_drawn(zipfs), of_drawn(multinomials)


# --- families: the items that a number takes one after the other, and what is made of them ---------

def gammas(shape, scale=None):
    return [shape], lambda drawn: drawn if scale is None else m.multiply(drawn, scale)


def chisquares(df):
    return [df / 2.0], lambda drawn: m.multiply(drawn, 2.0)


def betas(a, b):
    return [a, b], lambda one, other: m.divide(one, m.add(one, other))


def ratios(dfnum, dfden):
    return [dfnum / 2.0, dfden / 2.0], lambda one, other: m.divide(
        m.multiply(m.multiply(one, 2.0), dfden), m.multiply(m.multiply(other, 2.0), dfnum))


def students(df):
    return [NORMAL, df / 2.0], lambda one, other: m.divide(m.multiply(one, math.sqrt(df / 2.0)), m.sqrt(other))


def dirichlets(alpha):
    def combined(*drawn):
        total = drawn[0]
        for other in drawn[1:]:
            total = m.add(total, other)
        factor = m.divide(1.0, total)
        return beside([m.multiply(one, factor) for one in drawn])
    return alpha, combined


def noncentral(gamma, normal, nonc):
    shifted = m.add(normal, math.sqrt(nonc))
    return m.add(m.multiply(gamma, 2.0), m.multiply(shifted, shifted))


def noncentral_chisquares(df, nonc):
    return [(df - 1.0) / 2.0, NORMAL], lambda gamma, normal: noncentral(gamma, normal, nonc)


def noncentral_ratios(dfnum, dfden, nonc):
    return [(dfnum - 1.0) / 2.0, NORMAL, dfden / 2.0], lambda gamma, normal, other: m.divide(
        m.multiply(noncentral(gamma, normal, nonc), dfden), m.multiply(m.multiply(other, 2.0), dfnum))


def wald(normal, drawn, mean, scale, is_difference):
    y = m.multiply(m.multiply(normal, mean), normal)
    if is_difference:
        root = m.sqrt(m.add(m.multiply(y, 4.0 * scale), m.multiply(y, y)))
        x = m.add(m.multiply(m.subtract(y, root), mean / (2.0 * scale)), mean)
    else:
        parts = m.add(m.sqrt(m.add(m.divide(4.0 * scale, y), 1.0)), 1.0)
        x = m.multiply(m.subtract(1.0, m.divide(2.0, parts)), mean)
    return m.where(m.less_equal(drawn, m.divide(mean, m.add(x, mean))), x, m.divide(mean * mean, x))


def walds(mean, scale):
    return [NORMAL, UNIFORM], lambda normal, drawn: wald(normal, drawn, mean, scale, subtracts)


gammas_of_words, chisquares_of_words, betas_of_words = chained(gammas), chained(chisquares), chained(betas)
ratios_of_words, students_of_words, walds_of_words = chained(ratios), chained(students), chained(walds)
dirichlets_of_words = chained(dirichlets)
noncentral_chisquares_of_words, noncentral_ratios_of_words = chained(noncentral_chisquares), chained(noncentral_ratios)
