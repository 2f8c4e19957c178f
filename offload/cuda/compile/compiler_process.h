/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that compiles beside the program: the program gpushim_compiler, which lies beside the library. A compilation takes
 * 0.1 to 0.6 s and cannot be given up, so that a program that ended meanwhile would wait for it; a process goes on alone, and stores the
 * kernel in the disk cache for the next one. It is no child of the program's, which may wait for any child; it has none of the
 * program's files, and ends when it has had no request for 10 s or the program has ended. Only the compile thread calls
 * gsh_compiler_process_compile.
 */
#pragma once

#include "cuda_compile.h"

/* The program's file; "" where there is none. Any thread. */
const char *gsh_compiler_process_path(void);
/* As gsh_cuda_compile, but in the process, which is started if it does not run. DECLINED: it cannot be started, has ended, or could not
 * compile the text. Takes no lock of ours. */
enum gsh_status gsh_compiler_process_compile(const char *name, const char *source,
                                             const struct gsh_cuda_target *target, void **image,
                                             size_t *size);
/* In a forked child: the process serves the parent. */
void gsh_compiler_process_forget_sigsafe(void);
