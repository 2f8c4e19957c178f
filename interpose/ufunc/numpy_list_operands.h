/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists and tuples of numbers among the inputs of a ufunc, as in `points - [x, y]`, and of arrays that are on the device: the array that
 * NumPy would make of one is made before the call is described. GIL.
 */
#pragma once

#include "numpy_abi.h"

#define GSH_LIST_OPERANDS_MOST 16 /* arguments that are looked at, values of keywords among them */

struct gsh_list_operands {
    PyObject *values[GSH_LIST_OPERANDS_MOST]; /* the arguments, with arrays in place of lists */
    PyObject *arrays[GSH_LIST_OPERANDS_MOST]; /* references; NULL: the caller's argument */
    size_t count;
};

/* `inputs`: of the first arguments. False: none of these is such a list, NumPy makes no array of numbers of it, or there are
 * more than GSH_LIST_OPERANDS_MOST arguments; no exception is left. Else gsh_numpy_list_operands_drop ends it. */
bool gsh_numpy_list_operands_convert(PyObject *const *args, size_t count, size_t inputs,
                                     struct gsh_list_operands *lists);
void gsh_numpy_list_operands_drop(struct gsh_list_operands *lists);
