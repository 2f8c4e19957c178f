/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of the CPU's kernels: finds elements that meet a kind of error by the rules of launch.h and
 * stores the first of each kind in the launch's sink. It judges values, not the processor's flags, which the
 * mathematical library sets without need.
 */
#pragma once

#include "host_loops.h"

/* The inputs to report: element j is at address + j * stride, of dtype `dtype`, and is reported as dtype `as`. */
struct gsh_host_sample {
    const void *address;
    int64_t stride;
    enum gsh_dtype dtype, as;
};

struct gsh_host_fp_check {
    const struct gsh_error_sink *sink;
    enum gsh_op op;
    enum gsh_dtype loop;
    unsigned wanted; /* kinds not found yet, one bit (1 << enum gsh_error_kind) each; 0: done */
    unsigned nin;    /* samples */
    struct gsh_host_sample samples[GSH_MAX_INPUTS];
    const unsigned char *mask; /* elements whose byte is 0 do not count; NULL: all do */
    int64_t mask_stride;
};

/* Begins to check the loop of `op`, and casts too where `casts`. False where no error is possible: no other
 * function need be called then. */
bool gsh_host_fp_check_begin(struct gsh_host_fp_check *check, const struct gsh_error_sink *sink,
                             enum gsh_op op, enum gsh_dtype loop, bool casts);
/* Sets the samples to the block's inputs. */
void gsh_host_fp_check_sample(struct gsh_host_fp_check *check, const struct gsh_host_block *block);
/* Checks the results of a call of the loop, of at most GSH_HOST_BLOCK elements. Its outputs must not have
 * overwritten its inputs. Uses some 40 KiB of stack. */
void gsh_host_fp_check_block(struct gsh_host_fp_check *check, const struct gsh_host_block *block);
/* Reports the kind, without inputs, where it is looked for and was not met yet. */
void gsh_host_fp_check_report(struct gsh_host_fp_check *check, enum gsh_error_kind kind);
/* Checks a cast of n elements. */
void gsh_host_fp_check_cast(struct gsh_host_fp_check *check, enum gsh_dtype to, const void *src,
                            enum gsh_dtype from, int64_t src_stride, int64_t n);
