/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer that grows until the text fits.
 */
#include "cuda_kernel_text.h"

#include <stdlib.h>

#define FIRST_BYTES ((size_t)64 << 10)

char *gsh_cuda_kernel_text_make(gsh_cuda_kernel_text_write *write, const void *what)
{
    struct gsh_fmt fmt;
    char *text = NULL;
    for (size_t size = FIRST_BYTES;; size = fmt.required + 1) {
        char *larger = realloc(text, size);
        if (!larger) {
            free(text);
            return NULL;
        }
        text = larger;
        gsh_fmt_init(&fmt, text, size);
        write(what, &fmt);
        if (fmt.required == fmt.length)
            return text;
    }
}
