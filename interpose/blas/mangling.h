/* SPDX-License-Identifier: Apache-2.0
 *
 * The name manglings of BLAS libraries and the widths of their integers, and the lookup
 * of the function that a caller would have reached without gpushim. Takes the dynamic loader's
 * lock; allocates only through it.
 */
#pragma once

#include "base.h"
#include "mangling_schemes.h"

/* The function `base` ("cblas_dgemm") under any mangling, in the library of `library_handle` (from
 * dlopen) or its dependencies. Sets *int_bits to 32 or 64. NULL: not found; *int_bits is unchanged.
 */
void *gsh_mangling_find_blas(const char *base, void *library_handle, int *int_bits);
/* The mangling that this library's BLAS uses, as text for the doctor. Never NULL. */
const char *gsh_mangling_describe_blas(void *library_handle);

/* A library that calls BLAS or LAPACK. It stays loaded. */
struct gsh_mangling_caller {
    uintptr_t low;          /* its first address; for code outside any library, its page's */
    uintptr_t size;         /* in bytes; atomic */
    void *handle;           /* dlopen's; NULL: no library */
    bool is_linear_algebra; /* defines BLAS or LAPACK itself: its calls are parts of its routines */
};
/* The library that contains `address`. A limited number is cached; others are written to *spare.
 * Any thread. */
const struct gsh_mangling_caller *gsh_mangling_find_caller(const void *address,
                                                           struct gsh_mangling_caller *spare);
/* The function `name` that the caller would have reached without this library: from the caller's
 * own library and its dependencies, else the next one in the global order, else from any loaded
 * library, which then stays loaded. NULL: not found. */
void *gsh_mangling_find_original(const char *name, const struct gsh_mangling_caller *caller);
