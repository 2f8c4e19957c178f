/* SPDX-License-Identifier: Apache-2.0
 *
 * A known allocator is recognised by a function that it exports beside malloc.
 */
#include "cuda_interposed_malloc.h"

#include "base.h"
#include "fmt.h"

#include <dlfcn.h>
#include <link.h>

/* jemalloc, TCMalloc, mimalloc, oneTBB, rpmalloc; sanitizers. None takes a lock that the program's code can hold. */
static const char *const known[] = {
    "mallctl",     "tc_version",  "mi_version",  "__TBB_malloc_proxy", "rpmalloc",
    "__asan_init", "__tsan_init", "__msan_init", "__lsan_init"};

static const void *object_of(const void *function)
{
    Dl_info info;
    return function != NULL && dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

static bool is_known(const void *object)
{
    bool is_one = false;
    for (size_t i = 0; i < GSH_COUNT(known); i++)
        is_one |= object_of(dlsym(RTLD_DEFAULT, known[i])) == object;
    return is_one;
}

/* The object's own malloc. */
static const void *find_own(const struct link_map *map)
{
    void *handle = map->l_name[0] != '\0' ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const void *found = handle != NULL ? dlsym(handle, "malloc") : NULL;
    if (handle != NULL)
        dlclose(handle);
    return object_of(found) == (const void *)map->l_addr ? found : NULL;
}

/* The malloc of an object that the loader searches before the C library, except the program itself: a malloc there is
 * an entry of its procedure linkage table, or the allocator that it was built with. */
static const void *find_interposed(const void *libc)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    const struct link_map *map = NULL;
    const void *found = NULL;
    if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    for (map = map->l_next; map != NULL && found == NULL; map = map->l_next) {
        if ((const void *)map->l_addr == libc)
            break;
        found = find_own(map);
    }
    dlclose(program);
    return found;
}

enum gsh_status gsh_cuda_interposed_malloc_check(char *why, size_t why_size)
{
    const void *libc = object_of(dlsym(RTLD_DEFAULT, "__libc_malloc"));
    const void *malloc_found = libc != NULL ? find_interposed(libc) : NULL;
    Dl_info info;
    if (malloc_found == NULL || is_known(object_of(malloc_found)) ||
        dladdr(malloc_found, &info) == 0)
        return GSH_OK;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size);
    gsh_fmt_printf(&fmt, "malloc is that of %s, for which CUDA's threads might wait for ever",
                   info.dli_fname);
    return GSH_DECLINED;
}
