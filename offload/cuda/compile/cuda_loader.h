/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries of routines (cuBLAS, cuSOLVER, cuFFT), each loaded and opened once: behind the host's back, or when the
 * first call of its routines comes.
 */
#pragma once

#include "cuda_compile_thread.h"
#include "cuda_libs.h"

enum gsh_cuda_loader_state {
    GSH_CUDA_UNTRIED,
    GSH_CUDA_LOADER, /* by gsh_cuda_loader_begin */
    GSH_CUDA_READY,
    GSH_CUDA_ABSENT
};

struct gsh_cuda_loader {
    const char
        *work; /* what is done on the CPU without it, with its verb: "matrix products stay" */
    enum gsh_cuda_library libraries[2]; /* to load; the last one's version is told */
    unsigned library_count;
    gsh_cuda_enum (**get_property)(gsh_cuda_enum type,
                                   int *value); /* its row of the library's table */
    enum gsh_status (*open_handles)(void);      /* NULL: there are none */
    double seconds; /* what opening takes on an H200, first kernels included (docs/results/archive.md) */
    int state;      /* atomic, released with what has been opened: read anywhere */
    uint64_t begun_ns; /* atomic: when gsh_cuda_loader_begin had it opened */
    struct gsh_cuda_job job;
    char version[32]; /* "13.1.0"; "" while it is not open */
};

extern struct gsh_cuda_loader gsh_cuda_blas_opening, gsh_cuda_lapack_opening, gsh_cuda_fft_opening;

/* Has it opened by the thread of cuda_compile_thread.h unless that was tried before. Any thread; context current. */
void gsh_cuda_loader_begin(struct gsh_cuda_loader *opening);
/* Opens it, or waits for the thread that does, unless that was tried before; true where it is open. DISPATCH lock held,
 * context current. */
bool gsh_cuda_loader_is_ready(struct gsh_cuda_loader *opening);
/* It is not used any more. Any thread. */
void gsh_cuda_loader_close(struct gsh_cuda_loader *opening);
/* Seconds until it is open, as far as can be told; 0: it is, or there is none. Any thread. */
double gsh_cuda_loader_left(const struct gsh_cuda_loader *opening);
/* Any thread. */
static inline enum gsh_cuda_loader_state
gsh_cuda_loader_state(const struct gsh_cuda_loader *opening)
{
    return (enum gsh_cuda_loader_state)__atomic_load_n(&opening->state, __ATOMIC_ACQUIRE);
}
