/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a kernel in memory of its own, however long it is.
 */
#pragma once

#include "fmt.h"

/* Writes the text, the same at each call. */
typedef void gsh_cuda_kernel_text_write(const void *what, struct gsh_fmt *fmt);
/* The text that `write` writes, in memory that the caller frees; NULL: no memory. */
char *gsh_cuda_kernel_text_make(gsh_cuda_kernel_text_write *write, const void *what);
