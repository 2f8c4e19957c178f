/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that ufunc.reduce and ufunc.accumulate share: the row of a ufunc, the dtypes of NumPy's
 * computation and result (asked of NumPy once per key, on one element), and out=. GIL; leaves no
 * Python error.
 */
#pragma once

#include "numpy_method_patch.h"
#include "numpy_output.h"

enum gsh_reduction_method { GSH_REDUCTION_REDUCE, GSH_REDUCTION_ACCUMULATE, GSH_REDUCTION_METHODS };

struct gsh_reduction_dtypes {
    enum gsh_dtype loop;
    enum gsh_dtype result; /* dtype of the returned array: out's, if given */
};

/* Looks the ufuncs up. `hook` is the installed hook of the method. */
void gsh_numpy_reduction_init(enum gsh_reduction_method method, const struct gsh_method_hook *hook);
/* The row (enum gsh_reduction) of a ufunc object, or -1. */
int gsh_numpy_reduction_find(PyObject *ufunc);
/* The row for a call's ufunc; binds the arguments to slots. -1 and *why: leave the call to NumPy
 * (*why is not set if there are no arguments). */
int gsh_numpy_reduction_bind(const struct gsh_method_call *call, const char *const *names,
                             unsigned count, PyObject **slots, enum gsh_reason *why);
/* The dtypes of a call on an array of `in`, with dtype= `asked` (NULL or None: not given) and out=
 * `out` (NULL: none). DTYPE: NumPy refuses, or the dtype or cast is not supported. */
enum gsh_reason gsh_numpy_reduction_resolve(enum gsh_reduction_method method, int reduction,
                                            enum gsh_dtype in, PyObject *asked,
                                            const struct gsh_view *out,
                                            struct gsh_reduction_dtypes *dtypes);
/* The array given as out= (by itself or, as a keyword, in a 1-tuple). *out is NULL if there is
 * none. False: another object. */
bool gsh_numpy_reduction_find_out(PyObject *object, bool is_keyword, PyObject **out);
/* True if the view has the layout's shape; the layout then gets the view's strides. */
bool gsh_numpy_reduction_fits(const struct gsh_view *out, struct gsh_layout *layout);

/* layout->ndim and shape of the result of a reduction of `in`. */
void gsh_numpy_reduction_shape(const struct gsh_view *in, const bool *reduced, bool keepdims,
                               struct gsh_layout *layout);
/* The REDUCE of the elements of `in` that the mask selects (NULL: all). Fills everything except the
 * row, the loop and the output operand; the output's strides are the layout's. */
void gsh_numpy_reduction_fill(struct gsh_launch *launch, const struct gsh_view *in,
                              const struct gsh_view *mask, const bool *reduced, bool keepdims,
                              const struct gsh_layout *layout);
