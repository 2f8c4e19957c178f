/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges of arrays that others have page-locked. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gsh_cuda_registration {
    const char *address;
    size_t size;  /* bytes */
    bool is_ours; /* page-locked by us already: CUDA takes no second registration */
};

/* Whether the address lies in one. */
bool gsh_cuda_registry_has(const void *address);
/* Adds one. False: there is no place, or it is there. */
bool gsh_cuda_registry_note(const char *address, size_t size, bool is_ours);
/* Takes out the one that begins at the address. False: there is none. */
bool gsh_cuda_registry_forget(const char *address, struct gsh_cuda_registration *registration);
