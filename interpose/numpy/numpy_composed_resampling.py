# SPDX-License-Identifier: Apache-2.0
"""Compositions (numpy_composed.py): scipy.signal's filter between an upsampling and a downsampling (_upfirdn_apply.pyx, SciPy 1.17 and
1.18)."""

MOST_PHASE_PRODUCTS = 512  # of all phases, each one call


def upfirdn_float(array, weights, output, up, down, axis, mode, value):
    """Each output, which SciPy has made of zeros, is the sum of its products, first to last. `weights` are those of each phase in turn,
    last first. Zeros lie around the signal, which SciPy leaves out: so the weights have to be finite."""
    if not (is_plain(array) and is_plain(weights) and is_written(output)) or mode != 0 or value != 0:
        return NotImplemented
    if array.dtype.char not in 'fdFD' or not array.dtype == weights.dtype == output.dtype or m.may_share_memory(array, output):
        return NotImplemented
    if array.dtype.kind == 'c' and not is_finite(array):  # C's product of an infinity is no NaN
        return NotImplemented
    shared, rest = up, down
    while rest:
        shared, rest = rest, shared % rest
    phases, step, taps = up // shared, down // shared, weights.size // up
    if not 0 < phases * taps <= MOST_PHASE_PRODUCTS or array.size == 0:
        return NotImplemented
    factors = weights.tolist()
    if not all(factor - factor == 0 for factor in factors):
        return NotImplemented
    signal, made = array.swapaxes(axis, -1), output.swapaxes(axis, -1)
    length, count = signal.shape[-1], made.shape[-1]
    padded = m.zeros(signal.shape[:-1] + (taps - 1 + max(length, (count - 1) * down // up + 1),), array.dtype)
    padded[..., taps - 1:taps - 1 + length] = signal
    sums = m.empty(made.shape, array.dtype)
    with quiet():
        for first in range(min(phases, count)):
            start, phase = divmod(first * down, up)
            span = ((count - 1 - first) // phases) * step + 1
            total = 0.0
            for tap in range(taps):
                total = m.add(m.multiply(padded[..., start + tap:start + tap + span:step], factors[phase * taps + tap]), total)
            sums[..., first::phases] = total
    made[...] = sums


upfirdn_double = upfirdn_complex64 = upfirdn_complex128 = upfirdn_float
