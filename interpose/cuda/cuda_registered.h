/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that others page-lock (cuMemHostRegister): they stay home until that ends. And what CUDA says of the memory of
 * arrays: to others it is ordinary memory unless they have page-locked it, also where we have. CuPy alone hears of what is on
 * the device that it is page-locked: it then asks CUDA to copy from there, in place of making a copy on the host first.
 */
#pragma once

#include "cuda_types.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether others have page-locked the array at this address. Any thread. */
bool gsh_cuda_registered_has(const void *address);
