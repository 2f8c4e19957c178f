/* SPDX-License-Identifier: Apache-2.0
 *
 * How long NVIDIA's libraries took to open on this machine: the file "library_times" of the cache folder (cache_folder.h), text of
 * one line for each library, written under a temporary name and renamed. The times are those since the machine was booted: a
 * library that the file system has at hand opens in 0.02 to 0.07 s, the very first time in 0.2 to 0.9 s (H100).
 * Any fault of the file or the folder counts as "not known". Any thread, without locks. Checked by
 * tests/unit/offload/cuda/compile/test_cuda_load_times.c.
 */
#pragma once

#include "base.h"

enum gsh_cuda_load_time {
    GSH_CUDA_LOAD_TIME_NONE, /* is not kept */
    GSH_CUDA_LOAD_TIME_CUBLAS,
    GSH_CUDA_LOAD_TIME_CUSOLVER,
    GSH_CUDA_LOAD_TIME_CUFFT,
    GSH_CUDA_LOAD_TIMES
};

/* Seconds that the library took when it was last opened; 0: not known. Reads the file at the first call. */
double gsh_cuda_load_times_get(enum gsh_cuda_load_time library);
/* It has just taken so many seconds. Writes the file. */
void gsh_cuda_load_times_note(enum gsh_cuda_load_time library, double seconds);
/* Forgets what was read, so that the file is read again; for tests. */
void gsh_cuda_load_times_forget(void);
