/* SPDX-License-Identifier: Apache-2.0
 *
 * What ufunc.reduce and ufunc.accumulate share: the row of a ufunc, the dtypes that NumPy would
 * compute with and answer in (asked of NumPy once per key, on one element), and out=. GIL; no
 * Python error is left behind.
 */
#pragma once

#include "numpy_method_patch.h"
#include "numpy_output.h"

enum gsh_reduction_method { GSH_REDUCTION_REDUCE, GSH_REDUCTION_ACCUMULATE, GSH_REDUCTION_METHODS };

struct gsh_reduction_dtypes {
    enum gsh_dtype loop;
    enum gsh_dtype result; /* of the array that is returned: out's, where it is given */
};

/* Looks the ufuncs up once; `hook` is the method's, installed. */
void gsh_numpy_reduction_init(enum gsh_reduction_method method, const struct gsh_method_hook *hook);
/* The row (enum gsh_reduction) of a ufunc object, or -1. */
int gsh_numpy_reduction_find(PyObject *ufunc);
/* That row for a call's ufunc, its arguments bound to slots; -1 and *why: NumPy must judge (NONE stays without arguments). */
int gsh_numpy_reduction_bind(const struct gsh_method_call *call, const char *const *names,
                             unsigned count, PyObject **slots, enum gsh_reason *why);
/* The dtypes of a call on an array of `in`, with dtype= `asked` (NULL or None: not given) and out=
 * `out` (NULL: none). Otherwise DTYPE: NumPy refuses, or a dtype or a cast that is left to it. */
enum gsh_reason gsh_numpy_reduction_resolve(enum gsh_reduction_method method, int reduction,
                                            enum gsh_dtype in, PyObject *asked,
                                            const struct gsh_view *out,
                                            struct gsh_reduction_dtypes *dtypes);
/* The array given as out= (itself or, by keyword, in a 1-tuple), or NULL: none. False: something
 * else. */
bool gsh_numpy_reduction_find_out(PyObject *object, bool is_keyword, PyObject **out);
/* True where the view has the layout's shape; the layout then gets its strides. */
bool gsh_numpy_reduction_fits(const struct gsh_view *out, struct gsh_layout *layout);

/* layout->ndim and shape of the result of a reduction of `in`. */
void gsh_numpy_reduction_shape(const struct gsh_view *in, const bool *reduced, bool keepdims,
                               struct gsh_layout *layout);
/* The REDUCE of `in`, of the elements that the mask (NULL: none) leaves: all but the row, the loop
 * and the output operand, whose strides are the layout's. */
void gsh_numpy_reduction_fill(struct gsh_launch *launch, const struct gsh_view *in,
                              const struct gsh_view *mask, const bool *reduced, bool keepdims,
                              const struct gsh_layout *layout);
