/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenBLAS libraries of the process, whose numbers of threads are lowered beside threads of ours (offload/device/blas_threads.h):
 * NumPy's, and that of SciPy's wheels, which is another one. Not called in signal handlers, nor with a lock of ours held.
 */
#pragma once

/* Registers an OpenBLAS with threads of its own among a library's dependencies. `handle`: from dlopen. */
void gsh_blas_libraries_register(void *handle);
/* Registers those that are loaded under a name that says "openblas". */
void gsh_blas_libraries_find(void);
