/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies the caller of a CUDA function.
 */
#pragma once

#include <stdbool.h>

/* Whether this thread's current call was made by CuPy, directly or through the CUDA runtime. Walks
 * the stack, which costs tens of microseconds. */
bool gsh_cuda_caller_is_cupy(void);
