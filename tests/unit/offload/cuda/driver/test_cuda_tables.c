/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a CUDA toolkit is installed at build time: our hand-made declarations against NVIDIA's own.
 * Both are included here, so a prototype that differs does not compile; constants and the one
 * struct are compared below. At run time, every row of the tables must be found in the toolkit's
 * libraries.
 */
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>) && __has_include(<cublas_v2.h>) && __has_include(<cusolverDn.h>) && __has_include(<cufftXt.h>)
#define HAVE_CUDA_HEADERS 1
#include <cublas_v2.h>
#include <cuda.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#include <nvrtc.h>
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 13
#pragma GCC diagnostic ignored "-Wenum-int-mismatch"
#endif
#endif

#include "cuda_types.h"

#include <stdio.h>

#ifdef HAVE_CUDA_HEADERS

#define X(ours, theirs, value) _Static_assert((long)(ours) == (long)(theirs), #theirs);
GSH_CUDA_DRIVER_CONSTANTS(X)
GSH_CUBLAS_CONSTANTS(X)
GSH_CUSOLVER_CONSTANTS(X)
GSH_CUFFT_CONSTANTS(X)
#undef X

#define SAME_FIELD(ours, theirs)                                                                   \
    _Static_assert(offsetof(struct gsh_cuda_pool_props, ours) == offsetof(CUmemPoolProps, theirs), \
                   #theirs)
SAME_FIELD(allocation_type, allocType);
SAME_FIELD(handle_types, handleTypes);
SAME_FIELD(location_type, location.type);
SAME_FIELD(location_id, location.id);
SAME_FIELD(reserved, win32SecurityAttributes);
_Static_assert(sizeof(struct gsh_cuda_pool_props) == sizeof(CUmemPoolProps), "CUmemPoolProps");
_Static_assert(GSH_NVRTC_SUCCESS == NVRTC_SUCCESS, "NVRTC_SUCCESS");
_Static_assert(sizeof(CUresult) == sizeof(gsh_cuda_enum), "enums are unsigned int");

#include <dlfcn.h>

/* cuda.h renames functions by macros, but a `#function` operand is never expanded. */
#define X(function, required) {#function, required},
static const struct row {
    const char *name;
    int required;
} driver_rows[] =
    {
#include "driver.def"
},
  nvrtc_rows[] =
      {
#include "nvrtc.def"
},
  cublas_rows[] =
      {
#include "cublas.def"
},
  cusolver_rows[] =
      {
#include "cusolver.def"
},
  cufft_rows[] = {
#include "cufft.def"
};
#undef X

static int missing(const char *file, const struct row *rows, size_t count)
{
    int bad = 0;
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        printf("skip: %s: no such library here, its rows were only compiled\n", file);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!dlsym(handle, rows[i].name)) {
            printf("%s: %s lacks it\n", rows[i].name, file);
            bad++;
        }
    printf("%s: %zu rows, %d missing\n", file, count, bad);
    return bad;
}

#define FOLDER "/usr/local/cuda/lib64/"
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

int main(void)
{
    int bad = missing(FOLDER "stubs/libcuda.so", driver_rows, COUNT(driver_rows));
    bad += missing(FOLDER "libnvrtc.so", nvrtc_rows, COUNT(nvrtc_rows));
    bad += missing(FOLDER "libcublas.so", cublas_rows, COUNT(cublas_rows));
    bad += missing(FOLDER "libcusolver.so", cusolver_rows, COUNT(cusolver_rows));
    bad += missing(FOLDER "libcufft.so", cufft_rows, COUNT(cufft_rows));
    printf("CUDA %d: prototypes, constants and layouts agree\n", CUDA_VERSION);
    return bad != 0;
}

#else

int main(void)
{
    puts("skip: no CUDA headers at build time");
    return 77;
}

#endif
