/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches of any layout on a library that transforms lines which lie regularly: what does not is gathered into a
 * workspace, with its cast and its zeros, and scattered from one; the factor goes along with a copy where there is one.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* Transforms of `rank` dimensions. [0] is the input, [1] the output; strides count numbers of that side's dtype and are
 * positive; each is a multiple of the one after it and steps over all of that dimension; the first number is aligned as a
 * complex one. C2R: of one dimension. C2C: the two sides may be the same. */
struct gsh_fft_lines {
    enum gsh_fft_type type;
    bool is_inverse, is_single;
    int rank;
    int64_t
        length[GSH_CORE_DIMS]; /* points along each dimension, the last one halved by R2C and C2R */
    int64_t count;             /* of transforms */
    int64_t numbers[2][GSH_CORE_DIMS]; /* along each dimension */
    int64_t stride[2][GSH_CORE_DIMS];  /* from one of them to the next */
    int64_t distance[2];               /* from one transform to the next */
    uint64_t address[2];
};

/* What runs it, in order. allocate, release and clear are the backend's (backend.h). */
struct gsh_fft_device {
    bool takes_any_place; /* the first number may be aligned as a real one */
    enum gsh_status (*allocate)(size_t size, uint64_t *address);
    void (*release)(uint64_t address, size_t size);
    enum gsh_status (*clear)(uint64_t address, size_t size);
    /* An ELEMENTWISE launch, collapsed. */
    enum gsh_status (*launch)(const struct gsh_launch *launch, unsigned row);
    /* A C2R transform may overwrite its input, and finds the imaginary parts that are not looked at 0. DECLINED, nothing
     * written: transforms of more than one dimension are then run one dimension after another. */
    enum gsh_status (*transform)(const struct gsh_fft_lines *lines, unsigned row);
};

/* True for complete FFT launches whose output has the transform's dtype. */
bool gsh_fft_run_supports(const struct gsh_launch *launch);
/* True where transforms of one dimension after another are better made as one launch: but for C2R ones of many. That must
 * depend on shapes alone, for the two differ in their last bits. */
bool gsh_fft_run_fits(const struct gsh_launch *launch);
/* FAILED: nothing that counts was written. */
enum gsh_status gsh_fft_run(const struct gsh_fft_device *device, const struct gsh_launch *launch,
                            unsigned row);
