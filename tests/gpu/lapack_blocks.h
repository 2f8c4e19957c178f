/* SPDX-License-Identifier: Apache-2.0
 *
 * What ?sytrs makes of a symmetric matrix's factors by diagonal pivoting, plainly: whether a device's factors are LAPACK's.
 */
#pragma once

#include "check.h"
#include "lapack_matrices.h"

/* A factor of an upper triangle and its pivots; rows and columns counted from 1. One of a lower triangle is that with rows
 * and columns in the opposite order. */
struct block_factor {
    const struct matrices *factor, *pivots;
    int64_t of;
    bool is_reversed;
};

static inline int64_t place_in(const struct block_factor *f, int64_t i)
{
    return f->is_reversed ? f->factor->rows - i : i - 1;
}

static inline complex_number factor_at(const struct block_factor *f, int64_t i, int64_t j)
{
    int64_t n = f->factor->rows;
    return f->factor->at[f->of * n * n + place_in(f, i) * n + place_in(f, j)];
}

static inline int64_t pivot_at(const struct block_factor *f, int64_t i)
{
    int64_t n = f->factor->rows;
    int64_t pivot = (int64_t)creal(f->pivots->at[f->of * n + place_in(f, i)]);
    int64_t row = pivot < 0 ? -pivot : pivot;
    row = f->is_reversed ? n + 1 - row : row;
    return pivot < 0 ? -row : row;
}

static inline void swap_rows(const struct block_factor *f, complex_number *b, int64_t i, int64_t j)
{
    complex_number kept = b[place_in(f, i)];
    b[place_in(f, i)] = b[place_in(f, j)];
    b[place_in(f, j)] = kept;
}

/* b = (U D)^-1 b, from the last block to the first. */
static inline void solve_down(const struct block_factor *f, complex_number *b)
{
    for (int64_t k = f->factor->rows; k >= 1; k--) {
        bool is_pair = pivot_at(f, k) < 0;
        int64_t first = is_pair ? k - 1 : k;
        if (!CHECK(first >= 1))
            return;
        swap_rows(f, b, first, is_pair ? -pivot_at(f, k) : pivot_at(f, k));
        complex_number *x = &b[place_in(f, k)], *y = &b[place_in(f, first)];
        for (int64_t i = 1; i < first; i++)
            b[place_in(f, i)] -=
                factor_at(f, i, k) * *x + (is_pair ? factor_at(f, i, first) * *y : 0);
        if (is_pair) {
            complex_number d = factor_at(f, k, k), e = factor_at(f, first, k);
            complex_number c = factor_at(f, first, first), kept = *x;
            *x = (c * *x - e * *y) / (c * d - e * e);
            *y = (d * *y - e * kept) / (c * d - e * e);
        } else {
            *x /= factor_at(f, k, k);
        }
        k = first;
    }
}

/* b = U^-T b, from the first block to the last. */
static inline void solve_up(const struct block_factor *f, complex_number *b)
{
    for (int64_t k = 1; k <= f->factor->rows; k++) {
        int64_t pivot = pivot_at(f, k), last = pivot < 0 ? k + 1 : k;
        if (!CHECK(last <= f->factor->rows))
            return;
        for (int64_t j = k; j <= last; j++)
            for (int64_t i = 1; i < k; i++)
                b[place_in(f, j)] -= factor_at(f, i, j) * b[place_in(f, i)];
        swap_rows(f, b, k, pivot < 0 ? -pivot : pivot);
        k = last;
    }
}
