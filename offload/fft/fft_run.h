/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches of any layout on a library that transforms regularly spaced lines only. Other layouts are gathered
 * into a workspace, with cast and zero padding, and scattered from one. A copy also applies the factor where there is
 * one.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* Transforms of `rank` dimensions. [0] is the input, [1] the output. Strides count numbers of that side's dtype and
 * are positive; each is a multiple of the next one and steps over all of that dimension. The first number is aligned
 * as a complex one. C2R: one dimension only. C2C: both sides may be the same. */
struct gsh_fft_lines {
    enum gsh_fft_type type;
    bool is_inverse, is_single;
    int rank;
    int64_t
        length[GSH_CORE_DIMS]; /* points along each dimension, the last one halved by R2C and C2R */
    int64_t count;             /* of transforms */
    int64_t numbers[2][GSH_CORE_DIMS]; /* along each dimension */
    int64_t stride[2][GSH_CORE_DIMS];  /* from one number to the next */
    int64_t distance[2];               /* from one transform to the next */
    uint64_t address[2];
};

/* The device's functions, which work in order. allocate, release and clear are the backend's (backend.h). */
struct gsh_fft_device {
    bool takes_any_place; /* the first number need only be aligned as a real one */
    enum gsh_status (*allocate)(size_t size, uint64_t *address);
    void (*release)(uint64_t address, size_t size);
    enum gsh_status (*clear)(uint64_t address, size_t size);
    /* Runs an ELEMENTWISE launch, collapsed. */
    enum gsh_status (*launch)(const struct gsh_launch *launch, unsigned row);
    /* Runs the transforms. C2R may overwrite its input; the imaginary parts that it ignores are 0. DECLINED, with
     * nothing written: transforms of several dimensions are then run one dimension after another. */
    enum gsh_status (*transform)(const struct gsh_fft_lines *lines, unsigned row);
};

/* True for complete FFT launches whose output has the transform's dtype. */
bool gsh_fft_run_supports(const struct gsh_launch *launch);
/* True where transforms of one dimension after another are better run as one launch: always, except for many C2R
 * ones. The answer must depend on shapes alone, since the two methods differ in the last bits. */
bool gsh_fft_run_fits(const struct gsh_launch *launch);
/* FAILED: only bytes of the output may have been written. */
enum gsh_status gsh_fft_run(const struct gsh_fft_device *device, const struct gsh_launch *launch,
                            unsigned row);
