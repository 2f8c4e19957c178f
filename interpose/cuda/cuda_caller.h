/* SPDX-License-Identifier: Apache-2.0
 *
 * Who asks CUDA.
 */
#pragma once

#include <stdbool.h>

/* Whether the call that this thread is in was made by CuPy, directly or through the CUDA runtime. Walks the stack: some
 * tens of microseconds. */
bool gsh_cuda_caller_is_cupy(void);
