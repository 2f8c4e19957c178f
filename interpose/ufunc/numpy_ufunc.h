/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks ufunc calls: one vectorcall for every ufunc of NumPy, which passes calls to the ufunc's
 * handler.
 */
#pragma once

#include "numpy_ufunc_call.h"

/* Hooks a generalised ufunc outside multiarray's namespace (numpy_gufunc.h). handler NULL: its
 * calls are only counted. The handler is called under any errstate and receives extobj= and axes=.
 * The original fetches nothing by itself. GIL. */
void gsh_numpy_ufunc_adopt(struct gsh_ufunc *ufunc, gsh_ufunc_handler handler);
/* Hooks an elementwise ufunc of another module, which is computed as this row of the op table. GIL. */
void gsh_numpy_ufunc_adopt_op(struct gsh_ufunc *ufunc, enum gsh_op op, gsh_ufunc_handler handler);
/* Sets the handler of a hooked ufunc of multiarray that has no row in the op table. Does nothing if
 * there is no such ufunc. GIL. */
void gsh_numpy_ufunc_offer(const char *name, gsh_ufunc_handler handler);
/* The op-table row (enum gsh_op) of a hooked ufunc, or -1. */
int gsh_numpy_ufunc_find_op(const struct gsh_ufunc *ufunc);
/* The hook's work for a call that is large enough, without the original: parses the call and asks
 * the handler. As gsh_ufunc_handler. */
PyObject *gsh_numpy_ufunc_try(PyObject *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, enum gsh_reason *why, unsigned *row);
