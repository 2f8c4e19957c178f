# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): numbers of numpy.random.RandomState's methods that are made of gamma numbers (numpy/random/src/legacy/
legacy-distributions.c). Its normal numbers come in pairs: the first one is taken, and the second one when the next normal number is needed.

A node is a place among the numbers of [0, 1) where a pair would begin, and the item that takes its first normal number. For every node,
it is computed which items the pair makes, and the node of the next pair. Then the nodes that are met are found by doubled steps. Decisions take
normal numbers that are right but for the last digits; those that are met are then made exactly."""
import math


def takes_normal(item):
    return item is NORMAL or (item is not UNIFORM and item != 1.0)


class Pairs:
    """Of `drawn`, numbers of [0, 1); an end at `last` says that there are not enough. For each place: the place of the first pair of
    normal numbers from there on, the place behind it, and its two numbers."""

    def __init__(self, drawn):
        self.last, self.units = drawn.size, m.concatenate((drawn, m.zeros(1)))
        self.points = m.subtract(m.multiply(self.units, 2.0), 1.0)
        squares = m.square(self.points)
        self.squares = m.add(squares[:-1], squares[1:])
        is_made = m.zeros(self.last + 1, '?')
        is_made[:-2] = m.logical_and(m.less(self.squares[:-1], 1.0), m.not_equal(self.squares[:-1], 0.0))
        is_made[-2:] = True
        ends = m.minimum(m.add(m.arange(self.last + 1), 2), self.last)
        self.places, self.behind = settled(m.arange(self.last + 1), ends, is_made)
        places = m.minimum(self.places, self.last - 1)
        factors = self.factors(m.log(self.squares), self.squares).take(places)
        self.first = m.multiply(factors, self.points.take(m.add(places, 1)))
        self.second = m.multiply(factors, self.points.take(places))

    def factors(self, logs, squares):
        return m.sqrt(m.divide(m.multiply(logs, -2.0), squares))

    def next_to(self, at):
        return m.minimum(m.add(at, 1), self.last)


def attempt(pairs, item, behind, x, at):
    """Whether an item is made of the normal number x and what is drawn from `at` on, and where the next normal number is looked for.
    `behind`: how many numbers are drawn between an item that is made and the next one that takes a normal number."""
    if item is NORMAL:
        is_made, ends = m.less(at, pairs.last), at
    else:
        is_made, ends = gamma_attempt(pairs, item, x, at)
    return is_made, m.minimum(m.add(ends, m.multiply(is_made, behind)), pairs.last)


def gamma_attempt(pairs, shape, x, at):
    b = shape - 1.0 / 3.0
    v = m.add(m.multiply(x, 1.0 / math.sqrt(9.0 * b)), 1.0)
    is_low = m.logical_not(decide(0.0, v))
    v = m.multiply(m.multiply(v, v), v)
    u, square = pairs.units.take(at), m.multiply(x, x)
    is_sure = m.less(u, m.subtract(1.0 - NEAR, m.multiply(m.multiply(square, 0.0331), square)))
    bound = m.add(m.multiply(m.multiply(x, 0.5), x), m.multiply(m.add(m.subtract(1.0, v), m.log(v)), b))
    is_plain = m.logical_or(is_sure, is_low)
    is_less = decide(m.where(is_plain, 1.0, m.log(u)), m.where(is_plain, 0.0, bound), NEAR * (1.0 + math.sqrt(b)))
    is_made = m.logical_and(m.logical_or(is_sure, is_less), m.logical_not(is_low))
    return is_made, m.where(is_low, at, pairs.next_to(at))


class Nodes:
    """Whether the first and the second normal number of a node's pair makes an item, the places behind these, and the next node."""

    def __init__(self, pairs, takers):
        self.pairs, self.takers, self.extent = pairs, takers, pairs.last + 1
        of_takers = [self.of_taker(i) for i in range(len(takers))]
        self.made, self.ends, self.step = zip(*of_takers)
        self.made = [m.concatenate([made[half] for made in self.made]) for half in (0, 1)]
        self.ends = [m.concatenate([ends[half] for ends in self.ends]) for half in (0, 1)]
        self.step = m.concatenate(self.step)

    def of_taker(self, i):
        pairs, count = self.pairs, len(self.takers)
        made, end = attempt(pairs, *self.takers[i], pairs.first, pairs.behind)
        made_then, end_then = attempt(pairs, *self.takers[(i + 1) % count], pairs.second, end)
        if count > 1:
            made_else, end_else = attempt(pairs, *self.takers[i], pairs.second, end)
            made_then, end_then = m.where(made, made_then, made_else), m.where(made, end_then, end_else)
        taker = m.remainder(m.add(m.add(made.astype('l'), made_then), i), count)
        return (made, made_then), (end, end_then), m.add(m.multiply(taker, self.extent), end_then)

    def add_kept(self, kept, at):
        """A node of which only the second number is there, for the item that takes the first normal number. Where the node is."""
        made, end = attempt(self.pairs, *self.takers[0], m.array([kept]), m.array([at]))
        step = m.add(m.multiply(m.remainder(made.astype('l'), len(self.takers)), self.extent), end)
        self.made = [m.concatenate((self.made[0], m.zeros(1, '?'))), m.concatenate((self.made[1], made))]
        self.ends = [m.concatenate((ends, end)) for ends in self.ends]
        self.step = m.concatenate((self.step, step))
        return self.step.size - 1

    def met_from(self, begin, count):
        """The first nodes from one on, enough for so many items most likely."""
        met, step = m.array([begin]), self.step
        while met.size < count * 5 // 8 + 64:
            met, step = m.concatenate((met, step.take(met))), step.take(step)
        return met


def taken(pairs, takers, spare, lead, count):
    """Of the first `count` items that take a normal number: these, and the places behind what is drawn after them; and the
    normal number that is kept."""
    nodes = Nodes(pairs, takers)
    met = nodes.met_from(lead if spare is None else nodes.add_kept(spare, lead), count)
    made = m.concatenate([made.take(met).reshape(-1, 1) for made in nodes.made], 1)
    places = made.reshape(-1).nonzero()[0][:count]
    if places.size < count:
        raise Undecided
    node, half = met.take(m.right_shift(places, 1)), m.bitwise_and(places, 1)
    pair = m.minimum(pairs.places.take(m.remainder(node, nodes.extent)), pairs.last - 1)
    squares = pairs.squares.take(pair)
    factors = pairs.factors(exact_log(squares), squares)
    x = m.multiply(factors, pairs.points.take(m.subtract(m.add(pair, 1), half)))
    if spare is not None and int(places[0]) == 1:
        x[:1] = spare
    kept = None if int(half[-1]) else float(m.multiply(factors[-1:], pairs.points.take(pair[-1:]))[0])
    return x, m.where(m.not_equal(half, 0), nodes.ends[1].take(node), nodes.ends[0].take(node)), kept


def value_of(drawn, item, x):
    """Of an item: x is its normal number, or the place of the number that it takes."""
    if item is NORMAL:
        return x
    if not takes_normal(item):
        drawn = drawn.take(x)
        return drawn if item is UNIFORM else m.negative(exact_log(m.subtract(1.0, drawn)))
    b = item - 1.0 / 3.0
    v = m.add(m.multiply(x, 1.0 / math.sqrt(9.0 * b)), 1.0)
    return m.multiply(m.multiply(m.multiply(v, v), v), b)


def items_in_turn(drawn, items, spare, count):
    """Of `count` numbers, each of these items: the values of each item, how many numbers of [0, 1) are taken, and the normal number kept."""
    pairs, width = Pairs(drawn), len(items)
    takers = [i for i in range(width) if takes_normal(items[i])]
    gaps = [(after - at - 1) % width for at, after in zip(takers, takers[1:] + takers[:1])]
    x, ends, kept = taken(pairs, [(items[i], gap) for i, gap in zip(takers, gaps)], spare, takers[0], count * len(takers))
    used = int(ends[-1]) - takers[0]
    if int(ends[-1]) >= pairs.last:
        raise Undecided
    x, ends = x.reshape(count, -1), ends.reshape(count, -1)
    begins = m.concatenate((m.zeros(1, 'l'), m.subtract(ends[:-1, -1], takers[0])))
    values = []
    for i in range(width):
        of = sum(taker <= i for taker in takers) - 1
        place = begins if of < 0 else m.subtract(ends[:, of], gaps[of] + takers[of] + 1)
        values.append(value_of(drawn, items[i], x[:, of].copy() if i in takers else m.add(place, i)))
    return values, used, kept


def simple_items(drawn, items, count):
    """The same of items that take no normal numbers."""
    places = m.arange(count * len(items)).reshape(count, -1)
    return [value_of(drawn, item, places[:, i].copy()) for i, item in enumerate(items)]


def of_family(family):
    def run(words, spare, size, *numbers):
        items, combined = family(*plain(numbers))
        count, drawn = math.prod(size), units(words, words.size // 2)
        if not any(map(takes_normal, items)):
            return combined(*simple_items(drawn, items, count)), 2 * count * len(items), spare
        try:
            values, used, kept = items_in_turn(drawn, items, spare, count)
        except Undecided:
            return NotImplemented
        return combined(*values), 2 * used, kept
    return run


def differing_walds(mean, scale):
    return [NORMAL, UNIFORM], lambda normal, drawn: wald(normal, drawn, mean, scale, True)


legacy_gammas, legacy_chisquares, legacy_betas = of_family(gammas), of_family(chisquares), of_family(betas)
legacy_ratios, legacy_students, legacy_walds = of_family(ratios), of_family(students), of_family(differing_walds)
legacy_noncentral_chisquares, legacy_noncentral_ratios = of_family(noncentral_chisquares), of_family(noncentral_ratios)
legacy_dirichlets = of_family(dirichlets)
legacy_logseries, legacy_zipf, legacy_multinomials = of_pairs_of_words(logseries), of_pairs_of_words(zipfs), of_pairs_of_words(multinomials)
