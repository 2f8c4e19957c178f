/* SPDX-License-Identifier: Apache-2.0
 *
 * If a program with Python opens libcuda.so.1, it gets libgpushim_cuda.so (proxy/cuda_names.S),
 * which is installed beside this library. CUDA calls by other libraries then go through
 * cuda_entry.c, whether they look up functions with dlsym or cuGetProcAddress. The proxy's own
 * dependency and gpushim's own calls use the real library.
 */
#pragma once

#include <stdbool.h>

/* The path to open instead of `path`. It is `path` itself for all other libraries, for opens by
 * this library, and if the driver or the proxy cannot be loaded; dlopen then reports the error.
 * `caller` is an address in the code that opens it. Keeps errno; leaves no dlerror. */
const char *gsh_cuda_proxy_choose(const char *path, int flags, const void *caller);
