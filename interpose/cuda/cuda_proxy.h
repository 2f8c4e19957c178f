/* SPDX-License-Identifier: Apache-2.0
 *
 * Who opens libcuda.so.1 in a program with Python in it, gets libgpushim_cuda.so (proxy/cuda_names.S), which lies
 * beside this library: so calls of CUDA by others come by cuda_entry.c, whether they take their functions by dlsym or
 * cuGetProcAddress. What the proxy's own library needs of it, and what we need ourselves, is the real one.
 */
#pragma once

#include <stdbool.h>

/* The path to open in the place of `path`, which is `path` itself for all other libraries, for what this library opens, and
 * where the driver or the proxy cannot be loaded, which dlopen then says. `caller` is an address of the code that opens it.
 * Keeps errno; leaves no dlerror behind. */
const char *gsh_cuda_proxy_choose(const char *path, int flags, const void *caller);
