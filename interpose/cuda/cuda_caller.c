/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A frame counts by the file that its code is in.
 */
#include "cuda_caller.h"

#include "base.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <string.h>

#define MOST_FRAMES 12

/* The file that an address of code belongs to; NULL: none. */
static const char *file_of(void *address)
{
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* Ourselves, and CUDA's runtime between the caller and us. */
static bool is_between(const char *file, const char *own)
{
    return strcmp(file, own) == 0 || strstr(file, "/libcudart") != NULL;
}

bool gsh_cuda_caller_is_cupy(void)
{
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    const char *own = file_of((void *)gsh_cuda_caller_is_cupy);
    for (int i = 0; i < count && own != NULL; i++) {
        const char *file = file_of(frames[i]);
        if (file == NULL)
            return false;
        if (!is_between(file, own))
            return strstr(file, "/cupy_backends/") != NULL;
    }
    return false;
}
