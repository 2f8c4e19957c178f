/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a distribution made of words that lie in memory, one after the other, by NumPy's own arithmetic (numpy/random,
 * distributions.c, NumPy 1.22 to 2.5) and the C library's log1p and exp, which NumPy calls too. Pure functions.
 */
#pragma once

#include "random_draw.h"

/* Where the words are: `units` holds words of the distribution's width, the first of which has the number 0; numbers may be
 * negative. Values begin at `position`, below `until`. Words from `limit` on are not there. */
struct gsh_host_random_words {
    const void *units;
    int64_t position, until, limit;
};

/* Makes values until `most` are made or the next one would not begin below `until`; `values`: where, or behind the last one made.
 * Moves the position behind them. The number of values; -1: a value needs more words than there are. */
typedef int64_t gsh_host_random_loop(const struct gsh_random_draw *draw,
                                     struct gsh_host_random_words *words, void *values,
                                     int64_t most);

/* How a draw is made. */
struct gsh_host_random_recipe {
    gsh_host_random_loop *loop;
    unsigned bits; /* of a word: 64, 32, 16, 8 or 1 */
    double words;  /* of a value, on average */
    bool is_fixed; /* exactly one */
};

/* False: there is no such draw. */
bool gsh_host_random_values_find(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                                 struct gsh_host_random_recipe *recipe);
/* What becomes of `count` values of the loop by the draw's form: see enum gsh_random_form. */
void gsh_host_random_values_transform(const struct gsh_random_draw *draw, const double *values,
                                      double *result, int64_t count);
