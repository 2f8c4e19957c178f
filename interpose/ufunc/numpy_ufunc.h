/* SPDX-License-Identifier: Apache-2.0
 *
 * Ufunc calls: one vectorcall for every ufunc of NumPy, and the road from a ufunc to the handler
 * that may take its calls.
 */
#pragma once

#include "numpy_ufunc_call.h"

/* Hooks a generalised ufunc outside multiarray's namespace (numpy_gufunc.h). handler NULL: its calls are only counted. Its
 * handler is asked whatever the errstate, and is given extobj= and axes=; its original brings nothing home by itself. GIL. */
void gsh_numpy_ufunc_adopt(struct gsh_ufunc *ufunc, gsh_ufunc_handler handler);
/* Offers the calls of the hooked ufunc of multiarray's that has this name, and no row in the op table, to a handler. Nothing
 * happens where there is none. GIL. */
void gsh_numpy_ufunc_offer(const char *name, gsh_ufunc_handler handler);
/* The op-table row (enum gsh_op) that a hooked ufunc's calls are offered as, or -1. */
int gsh_numpy_ufunc_find_op(const struct gsh_ufunc *ufunc);
/* What the hook does with a call that is worth describing, but for the original: parses it and
 * asks the handler. As gsh_ufunc_handler. */
PyObject *gsh_numpy_ufunc_try(PyObject *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, enum gsh_reason *why, unsigned *row);
