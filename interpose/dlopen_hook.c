/* SPDX-License-Identifier: Apache-2.0
 *
 * The code that runs in our dlopen before the real one. Any thread of any process may call it, with
 * or without NumPy, possibly before any constructor.
 */
#include "dlopen_hook.h"

#include "blas_libraries.h"
#include "cuda_proxy.h"
#include "deepbind.h"
#include "fault.h"
#include "libc_dlopen.h"
#include "libc_signal.h"
#include "numpy_attach.h"
#include "numpy_fft.h"
#include "numpy_random.h"
#include "python_api.h"
#include "scipy_compositions.h"
#include "scipy_fft.h"
#include "scipy_filter.h"
#include "scipy_linalg.h"
#include "scipy_special.h"
#include "scipy_spmv.h"
#include "unseen.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <stddef.h>
#include <string.h>

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Whether the file's name begins with `name`. */
static bool is_file(const char *path, const char *name)
{
    return strncmp(file_of(path), name, strlen(name)) == 0;
}

static bool is_libc(const char *path)
{
    return strcmp(file_of(path), LIBC_SO) == 0;
}

/* The path to open for the C library. dlsym on the handle must find our functions of io_calls.def
 * first, so it is this library's path: the C library is one of its dependencies. */
static const char *choose_libc(const char *path)
{
    static const char here;
    Dl_info info;
    return gsh_python_api_is_loaded() && dladdr(&here, &info) != 0 ? info.dli_fname : path;
}

/* Attaches to NumPy. Does nothing in a program without Python that opens a file of this name. */
static void attach(void)
{
    int keep = errno;
    if (gsh_python_api_is_loaded()) {
        gsh_numpy_attach();
        if (gsh_fault_is_installed())
            gsh_libc_signal_adopt();
        gsh_libc_signal_keep_report();
    }
    dlerror(); /* failed lookups of gsh_numpy_attach are not the caller's errors */
    errno = keep;
}

void *gsh_dlopen_hook_enter(const char **opened, int flags, const void *caller)
{
    const char *path = *opened;
    if (path != NULL)
        gsh_unseen_note_library(path);
    if (path != NULL && is_file(path, "_umath_linalg."))
        attach();
    if (path != NULL && is_file(path, "mtrand."))
        gsh_numpy_fft_adopt_module();
    if (path != NULL && is_file(path, "_generator.") && strstr(path, "/random/") != NULL)
        gsh_numpy_random_adopt_module();
    if (path != NULL && (is_file(path, "pyduccfft.") || is_file(path, "pypocketfft.")))
        gsh_scipy_fft_adopt_module();
    if (path != NULL && strstr(path, "/scipy/special/_") != NULL)
        gsh_scipy_special_note_library();
    if (path != NULL)
        gsh_scipy_compositions_adopt_module(path);
    if (path != NULL)
        gsh_scipy_filter_adopt_module(path);
    if (path != NULL)
        gsh_scipy_spmv_adopt_module(path);
    if (path != NULL && is_file(path, "_flapack.")) /* behind _fblas, which brings SciPy's BLAS */
        gsh_blas_libraries_find();
    if (path != NULL && is_file(path, "_batched_linalg."))
        gsh_scipy_linalg_adopt_module();
    if (path != NULL && is_file(path, "libcuda.so"))
        *opened = gsh_cuda_proxy_choose(path, flags, caller);
    if (path != NULL && is_libc(path))
        *opened = choose_libc(path);
    else if (gsh_deepbind_is_wanted(*opened, flags, caller))
        return (void *)gsh_deepbind_open;
    return (void *)gsh_libc_dlopen_real();
}
