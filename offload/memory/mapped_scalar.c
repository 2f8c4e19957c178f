/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "mapped_scalar.h"

#include "backend.h"

#define WORDS 64

static const char *words; /* NULL until first used */
static uint64_t words_device;
static uint64_t taken; /* bit k: word k */
static bool has_failed;

static bool open_words(void)
{
    static _Alignas(GSH_MAPPED_SCALAR_BYTES) char own[WORDS * GSH_MAPPED_SCALAR_BYTES];
    const struct gsh_backend *backend = gsh_backend_get();
    if (words != NULL || has_failed)
        return words != NULL;
    words = own;
    words_device = (uint64_t)own;
    if (backend->map_host != NULL)
        words = backend->map_host(sizeof own, &words_device);
    has_failed = words == NULL;
    return words != NULL;
}

bool gsh_mapped_scalar_take_locked(uint64_t *address, const char **word)
{
    if (taken == UINT64_MAX || !open_words())
        return false;
    unsigned index = (unsigned)__builtin_ctzll(~taken);
    taken |= UINT64_C(1) << index;
    *address = words_device + (uint64_t)index * GSH_MAPPED_SCALAR_BYTES;
    *word = words + (size_t)index * GSH_MAPPED_SCALAR_BYTES;
    return true;
}

void gsh_mapped_scalar_give_locked(const char *word)
{
    taken &= ~(UINT64_C(1) << (size_t)(word - words) / GSH_MAPPED_SCALAR_BYTES);
}
