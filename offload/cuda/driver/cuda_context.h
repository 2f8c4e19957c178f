/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU that we use: its primary context (shared with cudart's users in the process), our
 * streams, the thread's current context around each entry point, and what became of the driver's
 * errors. Written once by gsh_cuda_context_open, read-only afterwards, but for the lost flag.
 */
#pragma once

#include "cuda_libs.h"

struct gsh_cuda_context {
    CUdevice device;
    CUcontext primary;
    CUstream compute;  /* allocations, uploads, copies and kernels, in submission order */
    CUstream download; /* device to host, beside later work on `compute` */
    int arch;          /* compute capability, 90 for 9.0 */
    int driver;        /* newest CUDA version the driver accepts, 13000 for 13.0 */
    int multiprocessors;
    int clock, memory_clock; /* kHz; 0: not told */
    int memory_bus;          /* bits; 0: not told */
    size_t total_bytes;
    char name[96];
};

extern struct gsh_cuda_context gsh_cuda;

/* Loads the driver and NVRTC, retains the primary context and makes the streams. It leaves no
 * context current. FAILED: one line in `why`. */
enum gsh_status gsh_cuda_context_open(char *why, size_t why_size);

/* Makes the primary context current in this thread until gsh_cuda_context_leave, which brings back
 * what was current before. A thread that had none keeps it, as after a call of cudart's: changing
 * the context at every call would cost as much as a launch. FAILED: not open, or lost; nothing to
 * leave then. Does not nest.
 *
 * Meanwhile the thread's calls are none that a capture of somebody's streams (a CUDA graph in the making) forbids or
 * suffers from: they allocate, register and query, but never on such a stream. */
enum gsh_status gsh_cuda_context_enter(void);
void gsh_cuda_context_leave(void);
/* Whether this thread is between the two: what CUDA's libraries call then, they call for us. */
bool gsh_cuda_context_is_entered(void);

/* After an error that only a new process cures (an illegal address, say). */
bool gsh_cuda_context_is_lost(void);

/* Nothing is asked of it any more, as after such an error. */
void gsh_cuda_context_give_up(void);

/* Waits for all work of the stream, after a call has failed whose work may be under way: memory that it reads or writes
 * must not be used before. Tries again for a few hundredths of a second. FAILED: the context is lost, or given up now;
 * the memory is nobody's for good. */
enum gsh_status gsh_cuda_context_drain(CUstream stream);

/* One line in the log unless *said: a warning where it is the process's first, else information. `call`: a name, or the
 * text of a call, of which the name is told. */
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
/* A result that was looked at before. */
#define GSH_CUDA_RESULT(result, text) GSH_CUDA_CHECKED(gsh_cuda_context_check, result, text)

/* Waits for the event: spins as long as a small transfer may take, then as long as a routine of
 * linear algebra usually does while it gives way to other threads, then sleeps (where the event was
 * created with BLOCKING_SYNC). */
enum gsh_status gsh_cuda_context_wait(CUevent event);
