# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): medians and quantiles of lines without their NaNs, which NumPy computes line by line
(numpy/lib/_nanfunctions_impl.py, numpy.apply_along_axis), and the median of a long line."""
import bisect

SHORT_LINE = 600  # shorter lines have their median by another way in NumPy, which has all lines at a time
quantiles_agree = {}  # dtype, dimensions of the shares: whether NumPy's code gives what `quantiles` does


def nanpercentile(dispatcher, *operands, **keywords):
    return quantiles_of_call(dispatcher, 100, *operands, **keywords)


def nanquantile(dispatcher, *operands, **keywords):
    return quantiles_of_call(dispatcher, 1, *operands, **keywords)


def quantiles_of_call(dispatcher, unit, a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, **others):
    """unit: the number that q counts as a share of 1."""
    if out is not None or overwrite_input or method != 'linear' or keepdims is not False or others:
        return NotImplemented
    return quantiles_along(dispatcher, unit, q, a, axis)


def nanmedian(dispatcher, a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None or overwrite_input or keepdims is not False:
        return NotImplemented
    table = table_of_lines(a, axis)
    if table is None or a.shape[axis] < SHORT_LINE:
        return NotImplemented
    lines, counts = without_nans(table)
    middle = m.floor_divide(counts, 2)
    high = of_lines(lines, middle)
    with quiet():
        total = m.add(of_lines(lines, m.maximum(m.subtract(middle, 1), 0)), high)
        mean = m.divide(total, 2)
    is_odd = m.equal(m.remainder(counts, 2), 1)
    found = m.add(m.where(is_odd, high, mean), median_of_minus_zero())
    found = with_unsure(found, table, m.isfinite(total), lambda lines: dispatcher._implementation(lines, 1))
    if found is NotImplemented:
        return NotImplemented
    return found.reshape(a.shape[:axis % a.ndim] + a.shape[axis % a.ndim + 1:])


def median_of_minus_zero():
    """0.0 or -0.0, by NumPy's version. Of a list, which no hook takes."""
    from numpy import median
    return float(median([-0.0]))


def shares_of(q):
    """As an array of doubles. None: NumPy may refuse it, or compute in another dtype."""
    shares = as_array(q)
    is_known = is_plain(shares) and shares.dtype.char in 'ld' and shares.ndim <= 1 and shares.size > 0
    return shares.astype('d', copy=False) if is_known else None


def table_of_lines(a, axis):
    """The lines along the axis, as the last one of a view. None: NumPy may refuse them."""
    if not is_plain(a) or a.dtype.char not in 'fd' or a.ndim < 2 or a.size == 0 or axis_of(axis, a.ndim) is None:
        return None
    return last(a, axis)


def without_nans(table):
    """(lines, counts): the lines, sorted, as rows of a table with the NaNs last, and how many numbers each has."""
    lines = table.copy('C').reshape(-1, table.shape[-1])
    counts = m.add.reduce(m.equal(lines, lines), 1, 'l')
    lines.sort(1)
    return lines, counts


def with_unsure(found, table, is_sure, compute):
    """found, of which the last dimension is that of the lines, with what NumPy's code computes of the lines that are not sure: lines
    without numbers, and those of which it warns. It reads them at home. NotImplemented, before it has warned: it may raise an
    exception, or the first line says another dtype for all."""
    import numpy
    if is_sure.all():
        return found
    if found.dtype != table.dtype or 'raise' in numpy.geterr().values():
        return NotImplemented
    places = m.logical_not(is_sure).nonzero()[0]
    lines = table.reshape(-1, table.shape[-1]).take(places, 0)
    theirs = compute(m.frombuffer(lines.tobytes(), lines.dtype).reshape(lines.shape))
    found[..., places] = theirs.reshape(found.shape[:-1] + places.shape)
    return found


def of_lines(lines, places):
    """The element of each line at its place, of places in (..., lines)."""
    begin = m.multiply(m.arange(lines.shape[0]), lines.shape[1])
    return lines.reshape(-1).take(m.add(begin, places))


def quantiles_along(dispatcher, unit, q, a, axis):
    shares, table, is_weak = shares_of(q), table_of_lines(a, axis), type(q) in (int, float)
    if shares is None or table is None:
        return NotImplemented
    shares = m.divide(shares, unit)
    is_within_range = m.logical_and(m.greater_equal(shares, 0), m.less_equal(shares, 1)).all()
    if not is_within_range or not quantiles_are_alike(dispatcher, unit, a.dtype.char, shares.ndim, is_weak):
        return NotImplemented
    found = with_unsure(*quantiles(table, shares, is_weak), lambda lines: dispatcher._implementation(lines, q, axis=1))
    if found is NotImplemented:
        return NotImplemented
    rest = a.shape[:axis % a.ndim] + a.shape[axis % a.ndim + 1:]
    if shares.ndim == 0:
        return found.reshape(rest)
    by_line = found.transpose().copy('C').reshape(rest + shares.shape)  # the layout that apply_along_axis gives
    return by_line.transpose([len(rest)] + list(range(len(rest))))


def quantiles(table, shares, is_weak):
    """(what is found, the table, which lines are sure). Linear between neighbours (_get_indexes and _lerp of NumPy's
    _function_base_impl.py). A share at the end counts from an index of -1 there. is_weak: the share is a number of Python, which
    takes the dtype of what it is multiplied with."""
    lines, counts = without_nans(table)
    end = m.maximum(m.subtract(counts, 1), 0)
    place = m.multiply(end, shares.reshape(-1, 1))
    low = m.minimum(m.floor(place), end)
    weight = m.where(m.greater_equal(place, end), m.add(place, 1), m.subtract(place, low))
    is_near_end, other, low = m.greater_equal(weight, 0.5), m.subtract(1, weight), low.astype('l')
    if is_weak:
        weight, other = weight.astype(lines.dtype, copy=False), other.astype(lines.dtype, copy=False)
    with quiet():
        one, next_one = of_lines(lines, low), of_lines(lines, m.minimum(m.add(low, 1), end))
        difference = m.subtract(next_one, one)
        forth = m.add(one, m.multiply(difference, weight))
        back = m.subtract(next_one, m.multiply(difference, other))
    return m.where(is_near_end, back, forth), table, m.logical_and.reduce(m.isfinite(difference), 0)


def quantiles_are_alike(dispatcher, unit, dtype, dims, is_weak):
    """Compares on a small table, by NumPy's own code: versions differ in the dtypes of weights."""
    if (dtype, dims, is_weak) not in quantiles_agree:
        nan = float('nan')
        table = m.array([[nan if (i * j) % 7 == 3 else (i * 37 + j * j * 11) % 19 / 7 for j in range(9)] for i in range(11)], dtype)
        shares = [0.0, 0.1, 0.25, 0.5, 0.77, 0.99, 1.0]
        choices = shares if is_weak else [m.array(share) for share in shares] if dims == 0 else [m.array(shares)]
        agrees = True
        for choice in choices:
            theirs = dispatcher._implementation(table, m.multiply(choice, unit) if dims else choice * unit, axis=1)
            ours = quantiles(table, m.divide(m.multiply(choice, unit), unit), is_weak)[0]
            ours = ours if dims else ours.reshape(-1)
            agrees = agrees and theirs.dtype == ours.dtype and theirs.tobytes() == ours.tobytes()
        quantiles_agree[dtype, dims, is_weak] = agrees
    return quantiles_agree[dtype, dims, is_weak]


# --- the median of a long line: a radix select ----------------------------------------------------------

LONG_LINE = 2 ** 21  # elements, for which a sort takes longer than a select's readings
DIGIT = 12  # bits of a key that are counted at a time
FEW_LEFT = 2 ** 18  # elements among which a place is found by sorting them


def median(dispatcher, a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The mean of the middle elements. Of an array with NaNs NumPy gives one of these."""
    if out is not None or overwrite_input or keepdims is not False or not is_plain(a) or a.size < LONG_LINE:
        return NotImplemented
    if a.dtype.kind not in 'iuf' or a.dtype.itemsize not in (4, 8) or not (axis is None or (a.ndim == 1 and axis_of(axis, 1) == 0)):
        return NotImplemented
    line, middle = a.reshape(-1), a.size // 2
    low, high = m.minimum.reduce(line, 0, keepdims=True), m.maximum.reduce(line, 0, keepdims=True)
    low, high = low[0], high[0]
    if not low <= high:
        return NotImplemented
    places = [middle] if line.size % 2 else [middle - 1, middle]
    found = elements_at(line, low, high, places)
    return m.array([found[place] for place in places], a.dtype).mean()


def ordered_keys(line):
    """Unsigned integers in the order of the elements; 0.0 for -0.0."""
    bits, top = line.view('u%d' % line.dtype.itemsize), 1 << (8 * line.dtype.itemsize - 1)
    if line.dtype.kind == 'u':
        return bits
    zero, top = bits.dtype.type(0), bits.dtype.type(top)
    if line.dtype.kind == 'i':
        return m.bitwise_xor(bits, top)
    bits = m.where(m.equal(bits, top), zero, bits)
    return m.where(m.not_equal(m.bitwise_and(bits, top), zero), m.invert(bits), m.bitwise_or(bits, top))


def ordered_key(value):
    """The key of one element, without a device."""
    top = 1 << (8 * value.dtype.itemsize - 1)
    bits = int(value.view('u%d' % value.dtype.itemsize))
    if value.dtype.kind == 'u':
        return bits
    if value.dtype.kind == 'i':
        return bits ^ top
    bits = 0 if bits == top else bits
    return 2 * top - 1 - bits if bits & top else bits | top


def elements_at(line, low, high, places):
    """The element of each place in order, of a line whose least and largest elements are known."""
    key, found = ordered_key(low), {}
    shift = (key ^ ordered_key(high)).bit_length()
    tasks = [(key >> shift, shift, 0, places)]
    while tasks:
        tasks.extend(next_digits(line, *tasks.pop(), found))
    return found


def next_digits(line, prefix, shift, below, places, found):
    """Counts the next digit of the elements whose keys begin with the prefix, up to the bit `shift`; `below` others are less. Where few
    elements share a place's digit, or all bits are known, notes what is found there; else yields such a task."""
    unsigned = line.view('u%d' % line.dtype.itemsize).dtype.type
    bits = min(shift, DIGIT)
    rest = shift - bits
    digits = m.bitwise_and(m.right_shift(ordered_keys(line), unsigned(rest)), unsigned((1 << bits) - 1)).astype('l')
    is_here = m.equal(m.right_shift(m.right_shift(ordered_keys(line), unsigned(rest)), unsigned(bits)), unsigned(prefix))
    counts = m.zeros((1 << bits) + 1, 'l')
    m.add.at(counts, m.where(is_here, digits, 1 << bits), 1)
    ends = counts[:-1].cumsum().tolist()
    groups = {}
    for place in places:
        groups.setdefault(bisect.bisect_right(ends, place - below), []).append(place)
    for digit, members in groups.items():
        start, end, whole = below + (ends[digit - 1] if digit else 0), below + ends[digit], prefix << bits | digit
        is_it = m.equal(m.right_shift(ordered_keys(line), unsigned(rest)), unsigned(whole))
        if rest == 0:
            found.update((place, line[int(is_it.argmax())]) for place in members)
        elif end - start <= FEW_LEFT:
            part = line[is_it]
            part.sort()
            found.update((place, part[place - start]) for place in members)
        else:
            yield whole, rest, start, members
