/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "cuda_sharing.h"

#include <stdatomic.h>

static atomic_bool is_noted, is_expected;

void gsh_cuda_sharing_note(void)
{
    atomic_store_explicit(&is_noted, true, memory_order_relaxed);
}

void gsh_cuda_sharing_expect(void)
{
    atomic_store_explicit(&is_expected, true, memory_order_relaxed);
}

bool gsh_cuda_sharing_is_noted(void)
{
    return atomic_load_explicit(&is_noted, memory_order_relaxed);
}

bool gsh_cuda_sharing_is_likely(void)
{
    return gsh_cuda_sharing_is_noted() || atomic_load_explicit(&is_expected, memory_order_relaxed);
}
