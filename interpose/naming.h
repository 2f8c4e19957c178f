/* SPDX-License-Identifier: Apache-2.0
 *
 * How BLAS libraries spell their functions' names and how wide their integers are, and which
 * library's function a caller would have reached without us. Takes the dynamic loader's lock;
 * allocates only through it.
 */
#pragma once

#include "base.h"

/* X(prefix, suffix, integer_bits, ...): name = prefix routine suffix, where a Fortran routine ends in "_"; what follows X is handed on
 * to each row. PyPI's NumPy 2 uses scipy_..64_, NumPy 1 ..64_, SciPy scipy_.. or plain names;
 * distributions and conda use plain names. */
#define GSH_NAMING_FAMILIES(X, ...)                                                                \
    X(scipy_, 64_, 64, __VA_ARGS__)                                                                \
    X(, 64_, 64, __VA_ARGS__)                                                                      \
    X(scipy_, , 32, __VA_ARGS__)                                                                   \
    X(, , 32, __VA_ARGS__)

/* The function `base` ("cblas_dgemm") in any spelling, in the library of `library_handle`
 * (dlopen's) or those it depends on; *int_bits is 32 or 64 then. NULL where there is none:
 * *int_bits is unchanged. */
void *gsh_naming_find_blas(const char *base, void *library_handle, int *int_bits);
/* Which spelling that library's BLAS uses, in words, for the doctor. Never NULL. */
const char *gsh_naming_describe_blas(void *library_handle);

/* The function `name` that code at `caller` would have reached if this library did not export it:
 * from the caller's own library and its dependencies, else behind us in the global order, else in
 * any library loaded. NULL: none anywhere.
 * [*low, *high) is the caller's object, which stays loaded from then on. */
void *gsh_naming_find_original(const char *name, const void *caller, uintptr_t *low,
                               uintptr_t *high);
/* Whether the object that holds `caller` has BLAS or LAPACK in it, so that what it calls is part of a routine of its own. */
bool gsh_naming_is_linear_algebra(const void *caller);
