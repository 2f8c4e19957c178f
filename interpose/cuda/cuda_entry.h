/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in front of the functions of cuda_calls.def: for calls that touch no array, some compares and the original.
 * All work in any thread, and in processes that never load NumPy.
 */
#pragma once

#include "cuda_layouts.h"

#include <stdbool.h>

/* The originals; where the driver lacks one, a function that says so. Written once, before anybody calls. */
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

/* Functions of ours that are written by hand. */
#define X(...)
#define P(...)
#define L(...)
#define A(...)
#define AP(...)
#define C(base, suffix, since, parameters, ...)                                                    \
    gsh_cuda_enum gsh_cuda_entry_##base##suffix parameters;
#include "cuda_calls.def"

/* Looks the originals up with `find` and fills `table` with ours, one for each name, in the order of cuda_calls.def. */
void gsh_cuda_entry_fill(void *(*find)(const char *name), void **table);
/* How many names there are. */
size_t gsh_cuda_entry_count(void);
