/* SPDX-License-Identifier: Apache-2.0
 *
 * The raw stream of a generator: words of 64 bits, made or passed over. Words are counted from where the stream stands.
 * PCG64: O'Neill's PCG XSL-RR 128/64. PCG64DXSM: PCG DXSM 128/64 with the cheap multiplier. Philox: Philox 4x64-10 of Salmon et al.
 * Which state a word is made of, and the order of words, are as NumPy has them (1.17 to 2.5). Pure functions.
 */
#pragma once

#include "random_draw.h"

/* Moves the stream behind `words` more words. The kept half stays. */
void gsh_random_stream_skip(struct gsh_random_stream *stream, uint64_t words);
/* Moves the stream behind `halves` more words of 32 bits, the first of which may be the kept half. */
void gsh_random_stream_skip_halves(struct gsh_random_stream *stream, uint64_t halves);
/* Writes the next words, and moves the stream behind them. The kept half stays. */
void gsh_random_stream_fill(struct gsh_random_stream *stream, uint64_t *words, size_t count);
