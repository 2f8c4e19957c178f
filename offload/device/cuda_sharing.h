/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether other libraries of the process use CUDA's driver. A context of ours is the primary one, which they use too. Any thread.
 */
#pragma once

#include <stdbool.h>

/* Another library opens the driver. */
void gsh_cuda_sharing_note(void);
/* The last run of this script had such a library. */
void gsh_cuda_sharing_expect(void);
/* Whether one has opened the driver so far. */
bool gsh_cuda_sharing_is_noted(void);
/* ... or is expected to. */
bool gsh_cuda_sharing_is_likely(void);
