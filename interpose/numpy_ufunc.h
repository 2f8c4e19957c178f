/* SPDX-License-Identifier: Apache-2.0
 *
 * Ufunc calls: one vectorcall for every ufunc of NumPy, and the road from a ufunc to the handler
 * that may take its calls.
 */
#pragma once

#include "numpy_output.h"

/* A call of a hooked ufunc with positional inputs and at most out=. */
struct gsh_ufunc_call {
    struct gsh_ufunc *ufunc;
    PyObject *const *inputs;  /* ufunc->nin of them, borrowed */
    PyObject *out;            /* borrowed; NULL: none given */
    enum gsh_casting casting; /* SAME_KIND unless given */
};

/* Tries to compute the call on the device: a new reference (out itself where given), or NULL and
 * *why: declined, nothing touched, no Python error. *row is the stats row to count it under (0
 * where unknown). */
typedef PyObject *(*gsh_ufunc_handler)(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                                       unsigned *row);

/* The original vectorcall of every ufunc, for probes (results on tiny arrays). NULL until
 * installed. */
extern gsh_vectorcall gsh_numpy_ufunc_original;

/* The op-table row (enum gsh_op) that a hooked ufunc's calls are offered as, or -1. */
int gsh_numpy_ufunc_find_op(const struct gsh_ufunc *ufunc);
