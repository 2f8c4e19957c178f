# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): draws of numpy.random.Generator that are exact functions of others (numpy/random/src/
distributions/distributions.c). NumPy computes them number by number, and reports no floating-point errors."""
import math

TRIAL = 2000
MOST_TERMS = 40
SEARCH_FROM = 0.333333333333333333333333  # NumPy's limit between the two ways to a geometric number
NEAR = 1e-12  # logarithms and exponentials nearer than that are compared by NumPy
OF_PAIRS = {'cauchy_of_normals'}
OF_WORDS = {'gammas_of_words', 'chisquares_of_words', 'betas_of_words', 'ratios_of_words', 'students_of_words',
            'noncentral_chisquares_of_words', 'noncentral_ratios_of_words', 'walds_of_words', 'logseries_of_words', 'zipf_of_words',
            'dirichlets_of_words', 'multinomials_of_words'}
OF_HALVES = {'hypergeometrics_of_words'}  # words of 32 bits
OF_CHAINS = {'poisson_of_uniforms'} | OF_WORDS | OF_HALVES
known = {}  # (function, type of the bit generator): whether NumPy draws as the function does
takes_log1p = False  # NumPy's binomial, of a small p
subtracts = False  # NumPy's wald, of nearly equal numbers: before 2.3.4


class Undecided(Exception):
    """NumPy draws."""


def decide(left, right, near=NEAR):
    """left < right, where they are farther from each other than that."""
    if m.less(m.absolute(m.subtract(left, right)), near).any():
        raise Undecided
    return m.less(left, right)


def rounded(function, x):
    """By floor or ceil, where that does not hang on the last digits of x."""
    if not m.greater(m.absolute(m.subtract(x, m.rint(x))), m.multiply(m.add(m.absolute(x), 1.0), 1e-14)).all():
        raise Undecided
    return function(x)


def derived(generator, drawn, size, method, base, function, *numbers):
    """What `method` of the generator returns for these parameters and size; `drawn` is what its method `base` has returned. The
    library draws that, and sets the generator back where this declines. A tuple: also how many numbers of the base were needed."""
    global subtracts
    kind = function, type(generator.bit_generator)
    if kind not in known:
        known[kind] = draws_alike(generator, method, base, function, numbers)
        if not known[kind] and function == 'walds_of_words' and not subtracts:
            subtracts = True
            known[kind] = draws_alike(generator, method, base, function, numbers)
    return make(function, drawn, size, numbers) if known[kind] else NotImplemented


def make(function, drawn, size, numbers):
    with quiet():
        return find(function)(drawn, *((size,) if function in OF_CHAINS else ()), *numbers)


def draws_alike(generator, method, base, function, numbers):
    """Whether NumPy makes the same numbers of a new generator, and leaves the same state."""
    one, other, third, fourth = [type(generator)(type(generator.bit_generator)(20)) for _ in range(4)]
    find_log1p(fourth)
    width = max((len(numbers[-1]) if type(numbers[-1]) in (list, tuple) else 1) if numbers else 1, 4)
    shape = (TRIAL, 2) if function in OF_PAIRS else TRIAL * 3 * width if function in OF_CHAINS else TRIAL
    expected = getattr(one, method)(*numbers, size=TRIAL)
    drawn = of_base(other, base, function, shape)
    made = make(function, drawn, TRIAL, numbers)
    if type(made) is tuple:
        made, used = made
        other = third
        of_base(other, 'random', function if function in OF_HALVES else None, used)
    if made is NotImplemented or made.dtype != expected.dtype or made.tobytes() != expected.tobytes():
        return False
    return str(one.bit_generator.state) == str(other.bit_generator.state)


def of_base(generator, base, function, shape):
    if function in OF_HALVES:
        return generator.integers(0, 2 ** 32 - 1, shape, 'u4', True)
    return generator.integers(0, 2 ** 64 - 1, shape, 'u8', True) if function in OF_WORDS else getattr(generator, base)(shape)


def find_log1p(generator):
    global takes_log1p
    takes_log1p = bool(generator.binomial(10 ** 18, 1e-17) > 0)  # log(1 - p) is 0


def exact_log(x):
    return exact_of(certain_log, libm_log, x)


def exact_exp(x):
    return exact_of(certain_exp, libm_exp, x)


def exact_power(x, power):
    return exact_of(certain_power, libm_power, x, power)


def exact_of(certain, library, x, *more):
    """As the C library rounds it; of one dimension without gaps. The library computes the few numbers for which that is not certain."""
    result = certain(x, *more)
    if result is None:
        return library(x, *more)
    unsure = m.isnan(result).nonzero()[0]
    if unsure.size:
        result[unsure] = library(x.take(unsure), *more)
    return result


def cauchy_of_normals(drawn):
    """Of two normal numbers each."""
    return m.divide(drawn[..., 0], drawn[..., 1])


def rayleigh_of_exponentials(drawn, scale=1.0):
    return m.multiply(m.sqrt(m.multiply(drawn, 2.0)), float(scale))


def triangular_of_uniforms(drawn, left, mode, right):
    left, mode, right = float(left), float(mode), float(right)
    base, left_base = right - left, mode - left
    rising = m.add(m.sqrt(m.multiply(drawn, left_base * base)), left)
    falling = m.subtract(right, m.sqrt(m.multiply(m.subtract(1.0, drawn), (right - mode) * base)))
    return m.where(m.less_equal(drawn, left_base / base), rising, falling)


def placed(x, loc, scale, sign=1.0):
    """loc + sign * scale * x."""
    return m.add(m.multiply(x, sign * (1.0 if scale is None else float(scale))), 0.0 if loc is None else float(loc))


def weibull_of_exponentials(drawn, a):
    return exact_power(drawn.reshape(-1), 1.0 / float(a)).reshape(drawn.shape)


def gumbel_of_uniforms(drawn, loc=None, scale=None):
    drawn = m.subtract(1.0, drawn)
    if not m.less(drawn, 1.0).all():
        return NotImplemented  # NumPy draws again
    numbers = exact_log(m.negative(exact_log(drawn.reshape(-1))))
    return placed(numbers.reshape(drawn.shape), loc, scale, -1.0)


def laplace_of_uniforms(drawn, loc=None, scale=None):
    if not m.greater(drawn, 0.0).all():
        return NotImplemented
    is_upper = m.greater_equal(drawn, 0.5)
    ends = m.where(is_upper, m.subtract(m.subtract(2.0, drawn), drawn), m.add(drawn, drawn))
    numbers = exact_log(ends.reshape(-1)).reshape(drawn.shape)
    return placed(m.where(is_upper, m.negative(numbers), numbers), loc, scale)


def logistic_of_uniforms(drawn, loc=None, scale=None):
    if not m.greater(drawn, 0.0).all():
        return NotImplemented
    odds = m.divide(drawn, m.subtract(1.0, drawn))
    return placed(exact_log(odds.reshape(-1)).reshape(drawn.shape), loc, scale)


def geometric_of_exponentials(drawn, p):
    """By inversion: p below 1/3."""
    return m.ceil(m.divide(m.negative(drawn), math.log1p(-float(p)))).astype('l')


def geometric_of_uniforms(drawn, p):
    """By search: 1, and 1 for each partial sum of the probabilities that the number exceeds."""
    p, most = float(p), float(drawn.max())
    term = total = p
    count = m.add(m.zeros(drawn.shape, 'l'), 1)
    for _ in range(MOST_TERMS):
        if most <= total:
            return count
        count = m.add(count, m.greater(drawn, total))
        term *= 1.0 - p
        total += term
    return NotImplemented


def binomial_of_uniforms(drawn, n, p):
    """By inversion, of one number each: it is compared with the probability of 0, 1 ..., which is subtracted from it."""
    n, p = int(n), float(p)
    if p > 0.5:
        count = binomial_of_uniforms(drawn, n, 1.0 - p)
        return count if count is NotImplemented else m.subtract(n, count)
    q, mean = 1.0 - p, n * p
    term = math.exp(n * (math.log1p(-p) if takes_log1p else math.log(q)))
    bound = int(min(n, mean + 10.0 * math.sqrt(mean * q + 1)))
    if bound > MOST_TERMS:
        return NotImplemented
    count = m.zeros(drawn.shape, 'l')
    for number in range(1, bound + 1):
        count = m.add(count, m.greater(drawn, term))
        drawn = m.subtract(drawn, term)
        term = ((n - number + 1) * p * term) / (number * q)
    return NotImplemented if m.greater(drawn, term).any() else count  # NumPy would draw again


def poisson_of_uniforms(drawn, size, lam=1.0):
    """Each is one less than the length of the shortest run of numbers whose product is at most exp(-lam); a run begins where the
    one before ends. Lengths of runs are computed from every number on, then those that are met are found by doubled steps."""
    shape, least = (size,) if type(size) is int else tuple(size), math.exp(-float(lam))
    lengths, product = m.add(m.zeros(drawn.size, 'l'), 1), drawn
    for longer in range(1, 2 * MOST_TERMS):
        above = m.greater(product, least)
        if not above.any():
            break
        m.add(lengths[:product.size], above, out=lengths[:product.size])
        product = m.multiply(product[:-1], drawn[longer:])
    else:
        return NotImplemented
    step = m.zeros(drawn.size + 1, 'l')
    step[:-1] = m.minimum(m.add(m.arange(drawn.size), lengths), drawn.size)
    step[-1] = drawn.size
    begins, count = m.zeros(1, 'l'), math.prod(shape)
    while begins.size < count:
        begins, step = m.concatenate((begins, step.take(begins))), step.take(step)
    begins = begins[:count]
    last = int(begins[-1])
    used = last + int(lengths[last]) if last < drawn.size else drawn.size + 1
    return (m.subtract(lengths.take(begins.reshape(shape)), 1), used) if used <= drawn.size else NotImplemented


# --- arrays of parameters ------------------------------------------------------------------------

def parameter(value):
    """As float64. None: NumPy may refuse it."""
    if type(value) in (int, float):
        return float(value)
    return value.astype('d', copy=False) if is_plain(value) and value.dtype.kind in 'biuf' else None


def drawn_for(draw, shift, scale, size):
    """shift + scale * a number of the draw for each, in C order; shift may be None. Scales with a sign are left to NumPy."""
    shape = m.broadcast(0.0 if shift is None else shift, scale).shape
    wanted = shape if size is None else (size,) if type(size) is int else tuple(size)
    if not shape or wanted != shape or m.signbit(scale).any():
        return NotImplemented
    with quiet():
        scaled = m.multiply(scale, draw(shape))
        return scaled if shift is None else m.add(shift, scaled)


def normal(generator, loc=0.0, scale=1.0, size=None):
    loc, scale = parameter(loc), parameter(scale)
    return NotImplemented if loc is None or scale is None else drawn_for(generator.standard_normal, loc, scale, size)


def exponential(generator, scale=1.0, size=None):
    scale = parameter(scale)
    return NotImplemented if scale is None else drawn_for(generator.standard_exponential, None, scale, size)


def uniform(generator, low=0.0, high=1.0, size=None):
    low, high = parameter(low), parameter(high)
    if low is None or high is None:
        return NotImplemented
    with quiet():
        width = m.subtract(high, low)
    return drawn_for(generator.random, low, width, size) if m.isfinite(width).all() else NotImplemented


# --- choice with probabilities -------------------------------------------------------------------

FAR_FROM_ONE = 1e-8  # of the sum of probabilities; NumPy refuses 1.5e-8


def chosen_by_weights(draw, a, size, replace, p):
    """As NumPy does, which adds p up on the CPU before it draws."""
    is_array, has_size = is_plain(a) and a.ndim == 1, type(size) is int or (type(size) is tuple and size != ())
    if replace is not True or not has_size or not is_plain(p) or p.dtype.char != 'd' or p.ndim != 1 or not (is_array or type(a) is int):
        return NotImplemented
    count = a.size if is_array else a
    if p.size != count or count < 1 or not m.greater_equal(p, 0.0).all() or abs(float(p.sum()) - 1.0) > FAR_FROM_ONE:
        return NotImplemented
    bounds = p.cumsum()
    bounds /= bounds[-1]
    places = bounds.searchsorted(draw(size), 'right')
    return a.take(places) if is_array else places


def choice(generator, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    return NotImplemented if p is None or axis != 0 else chosen_by_weights(generator.random, a, size, replace, p)


def legacy_choice(state, a, size=None, replace=True, p=None):
    return NotImplemented if p is None else chosen_by_weights(state.random_sample, a, size, replace, p)
