# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): shuffle of numpy.random.Generator and RandomState. NumPy goes down from the last item i, draws j up to i
(random_interval of numpy/random/src/distributions/distributions.c: a 32-bit word under the mask of i's bits, again where it is beyond i),
and swaps items i and j. The library draws the words, more than are needed."""
import math

FEW = 2048  # last steps that the CPU makes


def shuffled(array, words):
    """Shuffles the array's first axis. How many words it took."""
    made = exchanges_of(words, array.shape[0])
    if made is None:
        return NotImplemented
    steps, used = made
    array[...] = array.take(order_after(steps), 0)
    return used


def exchanges_of(words, count):
    """(j of each i, how many words they take), or None: there are too few words."""
    i, begin, parts = count - 1, 0, []
    while i >= FEW:
        least = max(2 ** (i.bit_length() - 1), FEW)
        made = steps_under_mask(words[begin:], i, least)
        if made is None:
            return None
        parts.append(made[0])
        begin += made[1]
        i = least - 1
    last, used = few_steps(words[begin:begin + 2 * FEW].copy(), i)
    if used == 0:
        return None
    steps = m.concatenate((*parts, last, m.zeros(1, 'I')))
    return steps[::-1], begin + used


def steps_under_mask(words, i, least):
    """Those of i down to `least`, which have one mask. Which words are beyond i depends on how many before them are not: that is
    guessed, and computed again from itself until it is right. What depends on right numbers only is right after one turn, and the others come nearer
    as the terms of an exponential series do."""
    mask, count = 2 ** i.bit_length() - 1, i - least + 1
    length = int((mask + 1) * math.log((i + 1) / least) + 12 * math.sqrt(mask + 1)) + 64
    drawn = m.bitwise_and(words[:length], m.array(mask, 'I')).astype('l')
    is_kept = m.less(drawn, m.multiply(m.exp(m.multiply(m.arange(drawn.size), -1.0 / (mask + 1))), i + 1.0))
    while True:
        before = m.subtract(is_kept.cumsum(), is_kept)
        again = m.less_equal(m.add(drawn, before), i)
        if not m.not_equal(again, is_kept).any():
            break
        is_kept = again
    places = is_kept.nonzero()[0][:count]
    return (drawn.take(places).astype('I'), int(places[-1]) + 1) if places.size == count else None


def order_after(steps):
    """Which item each place holds after the swaps of i and steps[i], from the last i down to 0. Place i is final after its own swap.
    It then holds what was in place j = steps[i]: the item that the swap before with the same j brought there, or else item j itself. A swap brings
    to j what is in place i until then: the same again, for the last swap with j = i."""
    order = steps.argsort(kind='stable')
    places = steps.take(order).astype('l')
    is_same, none = m.equal(places[1:], places[:-1]), m.zeros(1, '?')
    has_other, following = m.concatenate((is_same, none)), m.concatenate((order[1:], order[:1]))
    firsts = m.logical_not(m.concatenate((none, is_same))).nonzero()[0]
    place, swap = places.take(firsts), order.take(firsts)
    other = m.where(has_other.take(firsts), following.take(firsts), place)
    source = m.arange(steps.size)
    source[place] = m.where(m.not_equal(swap, place), swap, other)
    while True:
        further = source.take(source)
        if not m.not_equal(further, source).any():
            break
        source = further
    result = m.zeros(steps.size, 'l')
    result[order] = m.where(has_other, source.take(following), places)
    return result
