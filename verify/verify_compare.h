/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the device's result with NumPy's by the contract (contract.h). Reads host memory; allocates nothing.
 */
#pragma once

#include "contract.h"

enum { GSH_VERIFY_TEXT = 64 };

/* Strides in bytes, any. */
struct gsh_verify_array {
    enum gsh_dtype dtype;
    int ndim; /* at most GSH_VERIFY_DIMS */
    const int64_t *shape, *strides;
    const char *data;
};
#define GSH_VERIFY_DIMS 64 /* as many as an array of NumPy may have */

/* What differs by more than the contract allows. */
struct gsh_verify_outcome {
    uint64_t different; /* elements; 0: none, and the rest is not set */
    double ulps;   /* of the worst one; infinite where there is no distance (a NaN on one side) */
    double bound;  /* what the contract allows it */
    int64_t index; /* in C order */
    char device[GSH_VERIFY_TEXT], cpu[GSH_VERIFY_TEXT]; /* its values */
};

/* got and want have one shape and dtype; `magnitude` that shape too, or NULL: then a MAGNITUDE is compared as ULPS. For kinds up
 * to MAGNITUDE. */
void gsh_verify_compare(const struct gsh_verify_array *got, const struct gsh_verify_array *want,
                        const struct gsh_verify_array *magnitude, struct gsh_contract contract,
                        struct gsh_verify_outcome *outcome);
/* For kind NORM: a line is what the dimensions with is_line hold. `different` counts lines. The ulps are the distance of the worst
 * line in eps of its norm, index and values are of that line's worst element. */
void gsh_verify_compare_lines(const struct gsh_verify_array *got,
                              const struct gsh_verify_array *want, const bool *is_line,
                              struct gsh_contract contract, struct gsh_verify_outcome *outcome);
/* One unit in the last place of x, for a float or complex dtype. */
double gsh_verify_compare_ulp(double x, enum gsh_dtype dtype);
