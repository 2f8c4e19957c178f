/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's libraries, found and dlopen'ed at run time (never linked, never closed once accepted), each as one struct of
 * function pointers made from its .def table. Search order: libraries that the process has loaded, the loader's own
 * paths, the toolkit's folders, pip's nvidia packages. Loading takes a lock of rank BACKEND; tables are read-only
 * afterwards.
 */
#pragma once

#include "base.h"
#include "cuda_types.h"
#include "status.h"

#define X(function, required) __typeof__(function) *function;
struct gsh_cuda_driver {
#include "driver.def"
};
struct gsh_cuda_nvrtc {
#include "nvrtc.def"
};
struct gsh_cuda_cublas {
#include "cublas.def"
};
struct gsh_cuda_cusolver {
#include "cusolver.def"
};
struct gsh_cuda_cufft {
#include "cufft.def"
};
#undef X

/* All NULL until the library has been loaded; then only optional rows may be NULL. */
extern struct gsh_cuda_driver gsh_cu;
extern struct gsh_cuda_nvrtc gsh_nvrtc;
extern struct gsh_cuda_cublas gsh_cublas;
extern struct gsh_cuda_cusolver gsh_cusolver;
extern struct gsh_cuda_cufft gsh_cufft;

enum { GSH_CUDA_LIBS_WHY_SIZE = 512 };

enum gsh_cuda_library {
    GSH_CUDA_LIBRARY_DRIVER,
    GSH_CUDA_LIBRARY_NVRTC,
    GSH_CUDA_LIBRARY_CUBLAS,
    GSH_CUDA_LIBRARY_CUSOLVER,
    GSH_CUDA_LIBRARY_CUFFT,
    GSH_CUDA_LIBRARY_COUNT
};

/* Loads the library if it is not loaded. `max_major`: newest CUDA major version that the driver accepts, 0: any.
 * `arch`: the GPU's compute capability (90 for 9.0), 0: any; NVRTC only. FAILED: one line in `why`. */
enum gsh_status gsh_cuda_libs_load(enum gsh_cuda_library library, int max_major, int arch,
                                   char *why, size_t why_size);

/* The file from which the library was loaded; "" if it is not loaded. */
const char *gsh_cuda_libs_path(enum gsh_cuda_library library);

/* The major version of CUDA that the library is of, by its file name; 0: it is not loaded, or the driver. */
int gsh_cuda_libs_major(enum gsh_cuda_library library);

/* Whether the kernel has the library's file in memory, so that it opens soon: the first file of its name in the folders that are
 * searched behind the loader's own. False where there is none. Reads the file system. Any thread. */
bool gsh_cuda_libs_is_at_hand(enum gsh_cuda_library library);
/* The line of the last load that failed, with GPUSHIM_DOCTOR=1 also the library of a newer CUDA that is there; "" where none did. */
const char *gsh_cuda_libs_why_missing(enum gsh_cuda_library library);

/* The target for which the loaded NVRTC must compile code for `arch`: an sm_ (*is_ptx false) or, where the GPU is
 * newer than NVRTC, a compute_ that the driver translates. 0: none of its targets runs there. */
int gsh_cuda_libs_nvrtc_target(int arch, bool *is_ptx);

/* Whether machine code for `code` runs on a GPU of compute capability `arch`. */
bool gsh_cuda_libs_runs_on(int code, int arch);
