/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranges of arrays that other libraries have page-locked. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gsh_cuda_registration {
    const char *address;
    size_t size;  /* bytes */
    bool is_ours; /* gpushim page-locked it already: CUDA refuses a second registration */
};

/* Whether the address is in a registered range. */
bool gsh_cuda_registry_has(const void *address);
/* Adds a range. False: the table is full, or the range is registered. */
bool gsh_cuda_registry_note(const char *address, size_t size, bool is_ours);
/* Removes the range that begins at the address. False: there is none. */
bool gsh_cuda_registry_forget(const char *address, struct gsh_cuda_registration *registration);
