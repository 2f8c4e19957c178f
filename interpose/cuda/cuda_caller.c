/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A frame is classified by the file that contains its code.
 */
#include "cuda_caller.h"

#include "base.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <string.h>

#define MOST_FRAMES 12

/* The file that contains a code address, or NULL. */
static const char *file_of(void *address)
{
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* Whether the file is this library or the CUDA runtime, both of which can be between the caller and
 * this function. */
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
