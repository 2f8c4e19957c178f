/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread's work on a group: it runs the program for a block of elements.
 */
#pragma once

#include "host_fp_check.h"
#include "host_group_program.h"

struct gsh_host_group_worker {
    const struct gsh_host_group_program *program;
    void *slots[GSH_HOST_GROUP_SLOTS]; /* the first element of each slot */
    char *arrays[GSH_GROUP_ARRAYS];    /* the block's first element of each array */
    struct gsh_host_fp_check checks[GSH_GROUP_STEPS];
};

/* Bytes of the buffers that all threads share, and of those of each thread. */
size_t gsh_host_group_block_shared(const struct gsh_host_group_program *program);
size_t gsh_host_group_block_own(const struct gsh_host_group_program *program);
/* Prepares to run blocks; buffers are aligned to 64 bytes. */
void gsh_host_group_block_begin(struct gsh_host_group_worker *worker,
                                const struct gsh_host_group_program *program, char *shared,
                                char *own);
/* Fills the shared buffers: once, by one thread, before any block. */
void gsh_host_group_block_setup(struct gsh_host_group_worker *worker);
/* Runs the program for n <= GSH_HOST_BLOCK elements in C order from `index` on. They may differ only in the
 * program's trailing dimensions. Uses some 40 KiB of stack where errors are looked for. */
void gsh_host_group_block_run(struct gsh_host_group_worker *worker, const int64_t *index,
                              int64_t n);
