/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions along some axes on several cores. NumPy's own reduce runs: it prepares the result and walks the axes; but the calls of the
 * inner loop that it makes are noted first, and then made by several threads. Each thread makes those of a part of the results, in
 * NumPy's order, so every result is NumPy's to the bit, in any version. The last of them are made before NumPy's reduce ends, so it finds
 * and reports floating-point errors as always.
 *
 * Only for operations that are exact: a loop along kept axes is cut. Not for whole reductions (numpy_parallel_reduce.h). GIL.
 */
#pragma once

#include "call.h"
#include "numpy_loops.h"
#include "numpy_output.h"

/* ufunc.reduce in its own convention. */
typedef PyObject *gsh_numpy_reduce(PyObject *ufunc, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames);

struct gsh_numpy_fold {
    PyObject *ufunc;
    PyObject *args[7];                 /* of reduce, by position; the fourth, out, is set here */
    gsh_numpy_reduce *reduce;          /* NumPy's */
    const struct gsh_numpy_loop *loop; /* of the dtype of the array and of the result; NULL: none */
    const struct gsh_layout *layout;   /* of the result */
};

enum { GSH_NUMPY_FOLD_OUT = 3 };

/* Whether the array is large enough. Cheap: asked before anything else where no device is live. */
bool gsh_numpy_parallel_fold_may(PyObject *array);

/* Performs the described REDUCE, which no device takes (`why`). A new reference, or NULL: with a Python exception, or without one where
 * it does not pay or is not possible, and nothing was done. */
PyObject *gsh_numpy_parallel_fold_try(struct gsh_numpy_fold *fold, const struct gsh_call *call,
                                      enum gsh_reason why);
