/* SPDX-License-Identifier: Apache-2.0
 *
 * A ufunc call between the hook, which parses it, and the handler that may take it.
 */
#pragma once

#include "numpy_arguments.h"

/* Of numpy.linalg's lstsq, which has the most. */
#define GSH_UFUNC_OUTPUTS 4
#define GSH_UFUNC_OPERANDS (GSH_MAX_INPUTS + GSH_UFUNC_OUTPUTS)

/* A call of a hooked ufunc, parsed. Objects are the caller's, borrowed. */
struct gsh_ufunc_call {
    struct gsh_ufunc *ufunc;
    int op;                            /* its row of the op table (enum gsh_op), or -1 */
    PyObject *const *inputs;           /* ufunc->nin of them */
    PyObject *outs[GSH_UFUNC_OUTPUTS]; /* NULL: none given */
    PyObject *where;                   /* NULL: everywhere */
    enum gsh_casting casting;          /* SAME_KIND unless given */
    enum gsh_order order;              /* KEEP unless given */
    PyObject *casting_name;            /* casting= as given, or NULL */
    PyObject *dtype, *signature; /* dtype= and signature= (sig=) as given; at most one of them */
    bool names_types;            /* one of them was given, were it None */
    PyObject *extobj, *axes;     /* as given, only to handlers of adopted ufuncs; or NULL */
    signed char fixed[GSH_UFUNC_OPERANDS]; /* the dtype that they name for each operand, or -1 */
    bool is_plain; /* no keyword but out=, casting= and subok= says anything */
};

/* Tries to compute the call on the device: a new reference (out itself where given, a tuple of
 * several results), or NULL and *why: declined, nothing touched, no Python error. *row is the
 * stats row to count it under (0 where unknown). */
typedef PyObject *(*gsh_ufunc_handler)(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                                       unsigned *row);
