/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of arrays while a call of CUDA's by others touches it: brought home and pinned, as for a system call
 * (libc_io.c), since the driver reads and writes it by itself, under locks that our own transfers need, or by the
 * device. To others arrays are ordinary memory, for which CUDA promises that an asynchronous copy has read or written
 * the host's bytes when it returns; the driver does not keep that promise where we have page-locked them, so the end is
 * waited for.
 */
#pragma once

#include "cuda_ranges.h"

/* When the memory is touched, as cuda_calls.def says it. */
enum gsh_cuda_when { GSH_CUDA_NOW, GSH_CUDA_LATER, GSH_CUDA_KEPT };

struct gsh_cuda_hold {
    const struct gsh_cuda_ranges *ranges;
    enum gsh_cuda_when when;
    CUstream stream; /* of LATER */
};

/* The functions that holding needs, from the library that others use: once, before anything is held. */
void gsh_cuda_hold_resolve(void *(*find)(const char *name));
/* Brings the ranges home and pins them. The thread's current context stays what it was. False: this thread is at work for us
 * already, and what it touches is no array's newest copy; nothing is held. */
bool gsh_cuda_hold_begin(struct gsh_cuda_hold *hold);
/* After the call: waits where its end must be waited for, and unpins, unless what was made touches the memory for good. */
void gsh_cuda_hold_end(const struct gsh_cuda_hold *hold, gsh_cuda_enum result);
/* Pins the range for good, or ends that. */
void gsh_cuda_hold_keep(const void *address, size_t size);
void gsh_cuda_hold_release(const void *address, size_t size);
