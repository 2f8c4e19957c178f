/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores into an existing array, as PyArray_AssignArray makes them: one COPY with a cast, under a
 * mask where there is one. False or a reason other than NONE: declined, nothing touched. GIL.
 */
#pragma once

#include "numpy_describe.h"

struct gsh_assignment {
    PyObject *dst;
    PyObject *source; /* an array that broadcasts into dst, or a scalar */
    PyObject *mask;   /* NULL, or an array of bool that broadcasts into dst */
    bool mask_leads;  /* the mask's dimensions are the first of dst, not the last */
    enum gsh_casting casting;
    const char *name; /* of the report's row; NULL: fill, assign, fill where, assign where */
};

/* dst[...] = source where the mask is true. *row: see gsh_numpy_output_row. */
bool gsh_numpy_assign_run(const struct gsh_assignment *assignment, enum gsh_reason *why,
                          unsigned *row);

/* The value of `source` where it is one element on the host side: a scalar or an array of size
 * 1. */
bool gsh_numpy_assign_find_value(PyObject *source, struct gsh_numpy_value *value);

/* A list or tuple of Python numbers as an array of int64 or float64, where storing its items one by
 * one into an array of this dtype is the same as a cast of that array; a new reference. Else NULL,
 * and no Python error. */
PyObject *gsh_numpy_assign_list(PyObject *source, PyObject *descr);

/* Whether the device may cast elements so: not complex to real, where NumPy warns by itself. What
 * floating-point errors a cast meets is told as those of any other call. */
enum gsh_reason gsh_numpy_assign_check_cast(enum gsh_dtype from, enum gsh_dtype to);

/* Operand 0 of a COPY whose shape and loop are set = the source, leading extents of 1 dropped as
 * PyArray_AssignArray does. The cast is a store's: unsafe. */
enum gsh_reason gsh_numpy_assign_place_source(struct gsh_launch *launch, PyObject *source,
                                              enum gsh_casting casting);
