/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader of libraries of routines (cuBLAS, cuSOLVER, cuFFT). Each is loaded and opened once: by the compile
 * thread, or when the first call of its routines comes.
 */
#pragma once

#include "cuda_compile_thread.h"
#include "cuda_libs.h"
#include "cuda_load_times.h"

enum gsh_cuda_loader_state {
    GSH_CUDA_UNTRIED,
    GSH_CUDA_LOADING, /* in progress */
    GSH_CUDA_READY,
    GSH_CUDA_ABSENT
};

enum gsh_cuda_loader_place { GSH_CUDA_PLACE_UNKNOWN, GSH_CUDA_PLACE_MEMORY, GSH_CUDA_PLACE_DISK };

struct gsh_cuda_loader {
    const char
        *work; /* the work that the CPU does without it, with its verb: "matrix products stay" */
    enum gsh_cuda_library libraries[2]; /* to load; the version is the last one's */
    unsigned library_count;
    gsh_cuda_enum (**get_property)(gsh_cuda_enum type,
                                   int *value); /* its row in the library's table */
    enum gsh_status (*open_handles)(void);      /* NULL: there are none */
    enum gsh_cuda_load_time kept;               /* the line of the file of times */
    /* Opening times where none is kept (docs/user/troubleshooting.md): the very first one, with the first call, and where the file
     * is in memory. */
    double seconds, seconds_at_hand;
    int place; /* atomic: enum gsh_cuda_loader_place */
    struct gsh_cuda_loader
        *needs; /* another that is opened first where it waits for the compile thread; NULL: none */
    int state;  /* atomic; released with the opened library; read anywhere */
    uint64_t begun_ns; /* atomic; when its opening began; 0: it waits for the compile thread */
    struct gsh_cuda_job job;
    char version[32]; /* "13.1.0"; "" while it is not open */
};

extern struct gsh_cuda_loader gsh_cuda_blas_loader, gsh_cuda_lapack_loader, gsh_cuda_fft_loader;

/* Submits the opening to the compile thread, unless it was tried before. Any thread; context current. */
void gsh_cuda_loader_begin(struct gsh_cuda_loader *loader);
/* Opens the library, or waits for the compile thread to do so, unless it was tried before; true where it is open.
 * DISPATCH lock held, context current. */
bool gsh_cuda_loader_is_ready(struct gsh_cuda_loader *loader);
/* Marks the library as absent: it is not used any more. Any thread. */
void gsh_cuda_loader_close(struct gsh_cuda_loader *loader);
/* Estimated seconds until it is open; 0: it is open, or absent. Where opening takes longer than expected, half of what it has
 * taken. What another library still takes, that is being opened, comes on top: both need the driver. Any thread. */
double gsh_cuda_loader_left(struct gsh_cuda_loader *loader);
/* Any thread. */
static inline enum gsh_cuda_loader_state gsh_cuda_loader_state(const struct gsh_cuda_loader *loader)
{
    return (enum gsh_cuda_loader_state)__atomic_load_n(&loader->state, __ATOMIC_ACQUIRE);
}
