/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores into an existing array with the semantics of PyArray_AssignArray: one COPY with a cast,
 * optionally under a mask. False or a reason other than NONE: declined, nothing was changed. GIL.
 */
#pragma once

#include "numpy_describe.h"

struct gsh_assignment {
    PyObject *dst;
    PyObject *source; /* an array that broadcasts into dst, or a scalar */
    PyObject *mask;   /* NULL, or an array of bool that broadcasts into dst */
    bool mask_leads;  /* true: the mask's dimensions are the first of dst; false: the last */
    enum gsh_casting casting;
    const char *name; /* name of the report's row; NULL: fill, assign, fill where, assign where */
};

/* dst[...] = source where the mask is true. *row: see gsh_numpy_output_row. */
bool gsh_numpy_assign_run(const struct gsh_assignment *assignment, enum gsh_reason *why,
                          unsigned *row);

/* dst[...] = source on several cores of the CPU (numpy_parallel_copy.h), without asking a device; `why` is the reason to count. */
bool gsh_numpy_assign_on_cores(PyObject *dst, PyObject *source, enum gsh_reason why);

/* The value of `source` if it is a single element in host memory: a scalar or an array of size 1.
 */
bool gsh_numpy_assign_find_value(PyObject *source, struct gsh_numpy_value *value);

/* Converts a list or tuple of Python numbers to an array of int64 or float64. Succeeds only if a
 * cast of that array to `descr` gives the same result as storing the items one by one. Returns a
 * new reference, or NULL without a Python error. */
PyObject *gsh_numpy_assign_list(PyObject *source, PyObject *descr);

/* Runs NumPy's own assignment, which a hook declined for the reason. row 0: the row is `assign`. */
int gsh_numpy_assign_original(int (*original)(PyObject *, PyObject *, PyObject *), PyObject *self,
                              PyObject *key, PyObject *value, unsigned row, enum gsh_reason why);

/* Whether the device may cast these dtypes. A cast from complex to real is declined because NumPy
 * itself warns about it. Floating-point errors in a cast are reported as for any other call. */
enum gsh_reason gsh_numpy_assign_check_cast(enum gsh_dtype from, enum gsh_dtype to);

/* Operand 0 of a COPY whose shape and loop are already set = the source. Leading dimensions of
 * extent 1 are dropped as PyArray_AssignArray does. The cast follows the unsafe rule of a store. */
enum gsh_reason gsh_numpy_assign_place_source(struct gsh_launch *launch, PyObject *source,
                                              enum gsh_casting casting);
