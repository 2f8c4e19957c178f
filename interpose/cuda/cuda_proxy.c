/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The proxy is loaded once, after the driver, and resolves the driver's name among
 * the loaded libraries. Neither is ever closed. The proxy is also added to the global scope, where
 * libraries that are linked to the driver and loaded later search first.
 */
#include "cuda_proxy.h"

#include "cuda_entry.h"
#include "cuda_sharing.h"
#include "libc_dlopen.h"
#include "log.h"
#include "mapped_files.h"
#include "options.h"
#include "python_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#define PROXY "libgpushim_cuda.so"

/* The bounds of this library, from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* No lock is used, because the loader holds one. If several threads arrive at the same time, each
 * does the work, with the same outcome. */
enum outcome { UNTRIED, READY, REFUSED };
static enum outcome outcome; /* atomic */
static void *driver;         /* atomic; set once */
static char proxy_path[PATH_MAX];

static bool is_driver(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return strcmp(name, "libcuda.so.1") == 0 || strcmp(name, "libcuda.so") == 0;
}

static bool is_ours(const void *caller)
{
    return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

/* Libraries that come with CUDA, and open the driver for whoever calls them, which may be us. */
static bool is_library_of_cuda(const void *caller)
{
    static const char *const names[] = {"libcublas", "libcusolver",  "libcufft",
                                        "libnvrtc",  "libnvJitLink", "libcusparse"};
    Dl_info info;
    if (dladdr(caller, &info) == 0)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash == NULL ? info.dli_fname : slash + 1;
    bool is_found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_found |= strncmp(name, names[i], strlen(names[i])) == 0;
    return is_found;
}

/* Beside the file that this library was loaded from, independent of the working directory. */
static __attribute__((noinline)) bool find_proxy_file(char *path, size_t size)
{
    if (!gsh_mapped_files_find_sigsafe((uintptr_t)__ehdr_start, path, size))
        return false;
    char *name = strrchr(path, '/') + 1;
    if ((size_t)(name - path) + sizeof PROXY > size)
        return false;
    memcpy(name, PROXY, sizeof PROXY);
    return true;
}

static void *find_in_driver(const char *name)
{
    return dlsym(driver, name);
}

/* Whether the proxy has the same names as this library and depends on this driver. */
static bool suits(void *proxy)
{
    const uint64_t *names = dlsym(proxy, "gpushim_cuda_names");
    return names != NULL && *names == gsh_cuda_entry_count() &&
           dlsym(proxy, "cuInit") == dlsym(driver, "cuInit");
}

/* Loads the proxy of the driver and fills its table. */
static bool load_proxy(void)
{
    char path[PATH_MAX];
    if (dlsym(driver, "cuInit") == NULL || dlsym(driver, "cuCtxGetCurrent") == NULL ||
        dlsym(driver, "cuStreamIsCapturing") == NULL || !find_proxy_file(path, sizeof path))
        return false;
    void *proxy = gsh_libc_dlopen_open(path, RTLD_NOW | RTLD_LOCAL);
    if (proxy == NULL || !suits(proxy)) {
        const char *why = dlerror();
        gsh_log(GSH_LOG_WARN, "calls of CUDA by others are not seen: %s", why != NULL ? why : path);
        return false;
    }
    gsh_cuda_entry_fill(find_in_driver, dlsym(proxy, "gpushim_cuda_table"));
    (void)gsh_libc_dlopen_open(path, RTLD_NOW | RTLD_GLOBAL);
    memcpy(proxy_path, path, strlen(path) + 1);
    return true;
}

/* Whether `opened` is the driver. The first library opened becomes the driver. */
static bool adopt(void *opened)
{
    void *none = NULL;
    return __atomic_compare_exchange_n(&driver, &none, opened, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE) ||
           none == opened;
}

static bool make_ready(const char *path, int flags)
{
    void *opened = gsh_libc_dlopen_open(path, RTLD_NOW | RTLD_LOCAL | (flags & RTLD_NOLOAD));
    if (opened == NULL)
        return false;
    enum outcome now = __atomic_load_n(&outcome, __ATOMIC_ACQUIRE);
    if (!adopt(opened)) {
        dlclose(opened); /* another library with that name */
        return false;
    }
    if (now == UNTRIED) {
        now = load_proxy() ? READY : REFUSED;
        __atomic_store_n(&outcome, now, __ATOMIC_RELEASE);
    } else {
        dlclose(opened);
    }
    return now == READY;
}

const char *gsh_cuda_proxy_choose(const char *path, int flags, const void *caller)
{
    if (!is_driver(path) || is_ours(caller) || gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_OFF ||
        !gsh_python_api_is_loaded())
        return path;
    int keep = errno;
    if (!is_library_of_cuda(caller))
        gsh_cuda_sharing_note();
    const char *chosen = make_ready(path, flags) ? proxy_path : path;
    dlerror();
    errno = keep;
    return chosen;
}
