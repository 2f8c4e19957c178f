/* SPDX-License-Identifier: Apache-2.0
 *
 * Found by the names of files, because SciPy's modules are loaded one by one, and their BLAS with the first.
 */
#include "blas_libraries.h"

#include "base.h"
#include "blas_threads.h"
#include "mangling.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

enum { OWN_THREADS = 1, /* as OpenBLAS's manual has it; 2: those of OpenMP */ MOST_FOUND = 4 };

void gsh_blas_libraries_register(void *handle)
{
    int bits = 0;
    int (*parallel)(void) =
        (int (*)(void))gsh_mangling_find_blas("openblas_get_parallel", handle, &bits);
    const struct gsh_blas_threads functions = {
        .get = (int (*)(void))gsh_mangling_find_blas("openblas_get_num_threads", handle, &bits),
        .set = (void (*)(int))gsh_mangling_find_blas("openblas_set_num_threads", handle, &bits)};
    if (parallel != NULL && parallel() == OWN_THREADS && functions.get != NULL &&
        functions.set != NULL)
        gsh_blas_threads_register(&functions);
}

struct found {
    char paths[MOST_FOUND][PATH_MAX];
    unsigned count;
};

static int visit(struct dl_phdr_info *object, size_t size, void *context)
{
    struct found *found = context;
    (void)size;
    if (object->dlpi_name == NULL || strstr(object->dlpi_name, "openblas") == NULL ||
        strlen(object->dlpi_name) >= PATH_MAX)
        return 0;
    strcpy(found->paths[found->count++], object->dlpi_name);
    return found->count == MOST_FOUND;
}

void gsh_blas_libraries_find(void)
{
    static struct found found; /* one thread imports SciPy */
    int keep = errno;
    found.count = 0;
    dl_iterate_phdr(visit, &found);
    for (unsigned i = 0; i < found.count; i++) {
        void *handle = dlopen(found.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle == NULL)
            continue;
        gsh_blas_libraries_register(handle);
        dlclose(handle);
    }
    dlerror(); /* failed lookups are not the caller's errors */
    errno = keep;
}
