/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels in this process: compiled (or read from the disk cache) at their first launch, a group's in the background
 * where possible, then found by the key of their text. Under the DISPATCH lock, with the context current.
 */
#pragma once

#include "backend.h"
#include "cuda_kernel_text.h"
#include "group.h"
#include "source.h"
#include "status.h"

/* Chooses the target for which kernels are compiled. FAILED: NVRTC has no target that runs on the GPU. */
enum gsh_status gsh_cuda_module_open(void);
/* Submits an ELEMENTWISE or REDUCE launch, charging its device time to the stats row. DECLINED: no kernel exists for
 * it. FAILED: nothing was written. A kernel's first launch may take a tenth of a second, for compiling. While
 * the compile thread builds the kernel of an ELEMENTWISE launch, the interpreter runs it where it takes it. */
enum gsh_status gsh_cuda_module_launch(const struct gsh_launch *launch, unsigned row);
/* The same for a group. DECLINED also while its kernel is being built (backend.h, run_group). */
enum gsh_status gsh_cuda_module_launch_group(const struct gsh_group *group, unsigned row,
                                             gsh_can_split *can_split, const void *item);
/* Submits one kernel that no launch describes: the stage is complete, and `write` writes its text. FAILED as above. */
enum gsh_status gsh_cuda_module_launch_text(struct gsh_source_stage *stage,
                                            gsh_cuda_kernel_text_write *write, const void *what);
/* True where launching would compile nothing; loads kernels that are on disk. */
bool gsh_cuda_module_is_built(const struct gsh_launch *launch);
/* The same, but true also where the interpreter can run the launch until its kernel is compiled. */
bool gsh_cuda_module_runs_at_once(const struct gsh_launch *launch);
/* The same, but true also where a kernel cannot be compiled. The compile thread begins to compile the others. */
bool gsh_cuda_module_build(const struct gsh_launch *launch);
/* The same for a kernel of gsh_cuda_module_launch_text, whose stage has this key. */
bool gsh_cuda_module_build_text(const char *key, gsh_cuda_kernel_text_write *write,
                                const void *what);
