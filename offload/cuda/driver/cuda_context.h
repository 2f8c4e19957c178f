/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU in use: its primary context (shared with cudart's users in the process), our streams, the thread's current
 * context around each entry point, and the handling of driver errors. Written once by gsh_cuda_context_open,
 * read-only afterwards, except the lost flag.
 */
#pragma once

#include "backend.h"
#include "cuda_libs.h"

struct gsh_cuda_context {
    CUdevice device;
    CUcontext primary;
    CUstream compute;  /* allocations, uploads, copies and kernels, in submission order */
    CUstream download; /* device to host, concurrent with later work on `compute` */
    int arch;          /* compute capability, 90 for 9.0 */
    int driver;        /* newest CUDA version the driver accepts, 13000 for 13.0 */
    int multiprocessors;
    int clock, memory_clock; /* kHz; 0: not reported */
    int memory_bus;          /* bits; 0: not reported */
    size_t total_bytes;
    char name[96];
};

extern struct gsh_cuda_context gsh_cuda;

/* Loads the driver and NVRTC, retains the primary context and creates the streams. Leaves no context current. FAILED:
 * one line in `why`. */
enum gsh_status gsh_cuda_context_open(char *why, size_t why_size);

/* Does ahead of gsh_cuda_context_open what takes longest of it, and leaves its failures to it. Any thread, also beside it: the
 * driver makes the second caller of cuInit and cuDevicePrimaryCtxRetain wait for the first. `is_loaded` is called once the
 * driver's library is loaded. */
void gsh_cuda_context_warm_up(enum gsh_warm_up depth, void (*is_loaded)(void));

/* Makes the primary context current in this thread until gsh_cuda_context_leave, which restores the previous one. A
 * thread that had none keeps the primary context, as after a call of cudart's: changing the context at every call
 * would cost as much as a launch. Where GPUSHIM_GPU chose another GPU than the first, it does not: other libraries would take it for
 * theirs. FAILED: not open, or lost; do not call leave then. Does not nest. In between, the
 * thread's calls neither break nor are refused by another user's stream capture (a CUDA graph): they allocate,
 * register and query, but never on a captured stream. */
enum gsh_status gsh_cuda_context_enter(void);
void gsh_cuda_context_leave(void);
/* Whether this thread is between the two. CUDA's libraries then make their calls on our behalf. */
bool gsh_cuda_context_is_entered(void);

/* Whether an error has occurred that only a new process cures (such as an illegal address). */
bool gsh_cuda_context_is_lost(void);

/* Marks the context as lost: it is not used any more. */
void gsh_cuda_context_give_up(void);

/* Waits for all work of the stream after a call has failed whose work may be in progress: the memory that it reads or
 * writes must not be used before. Retries for a few hundredths of a second. FAILED: the context is lost, or is given
 * up now; the memory is never used again. */
enum gsh_status gsh_cuda_context_drain(CUstream stream);

/* Logs one line unless *said: the first one in the process as a warning, others as information. `call`: a name, or
 * the text of a call, of which the name is logged. */
void gsh_cuda_context_tell(const char *library, const char *call, const char *what, bool *said);

/* OK where `result` is CUDA's success; else FAILED, with one line in the log naming `call` unless
 * *said. Use GSH_CUDA and GSH_CUBLAS, which supply the call's own text. */
enum gsh_status gsh_cuda_context_check(gsh_cuda_enum result, const char *call, bool *said);
enum gsh_status gsh_cuda_context_check_library(const char *library, gsh_cuda_enum result,
                                               const char *call, bool *said);
enum gsh_status gsh_cuda_context_check_blas(gsh_cuda_enum result, const char *call, bool *said);

#define GSH_CUDA_CHECKED(check, result, text)                                                      \
    __extension__({                                                                                \
        static bool gsh_cuda_said;                                                                 \
        check((result), text, &gsh_cuda_said);                                                     \
    })
#define GSH_CUDA(call) GSH_CUDA_CHECKED(gsh_cuda_context_check, call, #call)
#define GSH_CUBLAS(call) GSH_CUDA_CHECKED(gsh_cuda_context_check_blas, call, #call)
/* Checks a result that the caller has already examined. */
#define GSH_CUDA_RESULT(result, text) GSH_CUDA_CHECKED(gsh_cuda_context_check, result, text)

/* Waits for the event: spins as long as a small transfer may take, then spins and yields to other threads as long as
 * most linear algebra routines take, then sleeps (if the event was created with BLOCKING_SYNC). */
enum gsh_status gsh_cuda_context_wait(CUevent event);
