/* SPDX-License-Identifier: Apache-2.0
 *
 * How BLAS libraries spell their functions' names and how wide their integers are, and which
 * library's function a caller would have reached without us. Takes the dynamic loader's lock;
 * allocates only through it.
 */
#pragma once

#include "base.h"
#include "naming_families.h"

/* The function `base` ("cblas_dgemm") in any spelling, in the library of `library_handle`
 * (dlopen's) or those it depends on; *int_bits is 32 or 64 then. NULL where there is none:
 * *int_bits is unchanged. */
void *gsh_naming_find_blas(const char *base, void *library_handle, int *int_bits);
/* Which spelling that library's BLAS uses, in words, for the doctor. Never NULL. */
const char *gsh_naming_describe_blas(void *library_handle);

/* A library that calls BLAS or LAPACK. It stays loaded from then on. */
struct gsh_naming_caller {
    uintptr_t low;          /* its first address; of code that no library holds, its page's */
    uintptr_t size;         /* in bytes; atomic */
    void *handle;           /* dlopen's; NULL: no library */
    bool is_linear_algebra; /* has BLAS or LAPACK in it: its calls are parts of its routines */
};
/* The one that holds `address`; many of them are kept, others are put into *spare. Any thread. */
const struct gsh_naming_caller *gsh_naming_find_caller(const void *address,
                                                       struct gsh_naming_caller *spare);
/* The function `name` that it would have reached if this library did not export it: from its own library and the dependencies,
 * else behind us in the global order, else in any library loaded, which stays so. NULL: none anywhere. */
void *gsh_naming_find_original(const char *name, const struct gsh_naming_caller *caller);
