/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that replace those of cuda_calls.def. A call that touches no array costs a few
 * comparisons and the original. All work in any thread, and in processes that never load NumPy.
 */
#pragma once

#include "cuda_layouts.h"

#include <stdbool.h>

/* The originals. If the driver lacks one, a function that returns an error. Written once, before
 * any call. */
struct gsh_cuda_entry_real {
#define X(base, suffix, since, parameters, ...) gsh_cuda_enum(*base##suffix) parameters;
#define P(base, suffix, form, since, parameters, ...)                                              \
    gsh_cuda_enum(*base##suffix) parameters;                                                       \
    gsh_cuda_enum(*base##suffix##_##form) parameters;
#define L P
#define A X
#define AP P
#define C X
#include "cuda_calls.def"
};
extern struct gsh_cuda_entry_real gsh_cuda_entry_real;

/* Functions that are written by hand. */
#define X(...)
#define P(...)
#define L(...)
#define A(...)
#define AP(...)
#define C(base, suffix, since, parameters, ...)                                                    \
    gsh_cuda_enum gsh_cuda_entry_##base##suffix parameters;
#include "cuda_calls.def"

/* Looks up the originals with `find` and fills `table` with our functions, one for each name, in
 * the order of cuda_calls.def. */
void gsh_cuda_entry_fill(void *(*find)(const char *name), void **table);
/* The number of names. */
size_t gsh_cuda_entry_count(void);
