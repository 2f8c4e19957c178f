/* SPDX-License-Identifier: Apache-2.0
 *
 * How the values of options are written: words for on and off, lists of words, numbers. Pure; allocates nothing, so that it may run in
 * the library's constructor. False: the text is no such value, and *number is undefined.
 */
#pragma once

#include "base.h"

/* 1, yes, on, true or 0, no, off, false, in any case: 1 or 0. */
bool gsh_option_words_bool(const char *text, int64_t *number);
/* One of the words of "a|b|c: ...", in any case: its index. Words for on also stand for the first of auto, info, deferred and
 * warn that is in the list, those for off for the first of off, none, ignore and warn. */
bool gsh_option_words_choice(const char *text, const char *words, int64_t *index);
/* Whether the text is one of the words for off. */
bool gsh_option_words_is_off(const char *text);
/* A whole number in decimal digits with an optional sign. Behind it may be K, M, G or T, also with B or iB, for powers of 1024, or an
 * exponent of ten: 64K, 16GiB, 1e6, 2.5e6. */
bool gsh_option_words_number(const char *text, int64_t *number);
/* A number from 0 to 100 and a percent sign, with or without a space between: 80%, 0.5 %. *share: 0 to 1. The sign is needed: 1 is also a
 * word for on. */
bool gsh_option_words_percent(const char *text, double *share);

/* Insertions, deletions, replacements and swaps of neighbours (optimal string alignment) that make one text the other, letters of
 * either case alike. Texts of more than 31 characters: as far as from an empty one. */
unsigned gsh_option_words_distance(const char *text, size_t length, const char *other);
/* Most of these changes between what was written and what was meant, for a text of that length. */
static inline unsigned gsh_option_words_most_changes(size_t length)
{
    return (unsigned)length / 3;
}
/* The index of the word of "a|b|c: ..." that is the nearest to the text; -1: none is near. */
int64_t gsh_option_words_nearest(const char *text, const char *words);
