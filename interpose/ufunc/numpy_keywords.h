/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the arguments of a ufunc call in their common forms. Any other form is left to NumPy,
 * which also raises the errors. GIL; leaves no Python error.
 */
#pragma once

#include "numpy_ufunc_call.h"

enum gsh_keyword {
    GSH_KEYWORD_OUT,
    GSH_KEYWORD_CASTING,
    GSH_KEYWORD_SUBOK,
    GSH_KEYWORD_DTYPE,
    GSH_KEYWORD_WHERE,
    GSH_KEYWORD_ORDER,
    GSH_KEYWORD_SIGNATURE,
    GSH_KEYWORD_SIG,
    GSH_KEYWORD_EXTOBJ, /* NumPy 1 only */
    GSH_KEYWORD_AXES,
    GSH_KEYWORD_AXIS, /* of vecdot only */
    GSH_KEYWORD_COUNT
};

/* Interns the names. False: out of memory. */
bool gsh_numpy_keywords_init(void);
/* The enum gsh_keyword of the name, or -1. */
int gsh_numpy_keywords_find(PyObject *name);
/* The interned name. */
PyObject *gsh_numpy_keywords_name(enum gsh_keyword keyword);
/* Fills *call from a vectorcall of the ufunc. False: leave the call to NumPy. */
bool gsh_numpy_keywords_parse(struct gsh_ufunc *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, struct gsh_ufunc_call *call);
