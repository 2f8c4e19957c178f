/* SPDX-License-Identifier: Apache-2.0
 *
 * A ufunc call as the hook has parsed it for a handler.
 */
#pragma once

#include "numpy_arguments.h"

/* The maximum, which numpy.linalg's lstsq has. */
#define GSH_UFUNC_OUTPUTS 4
#define GSH_UFUNC_OPERANDS (GSH_MAX_INPUTS + GSH_UFUNC_OUTPUTS)

/* A parsed call of a hooked ufunc. All references are borrowed from the caller. */
struct gsh_ufunc_call {
    struct gsh_ufunc *ufunc;
    int op;                            /* its row of the op table (enum gsh_op), or -1 */
    PyObject *const *inputs;           /* ufunc->nin of them */
    PyObject *outs[GSH_UFUNC_OUTPUTS]; /* NULL: none given */
    PyObject *where;                   /* NULL: everywhere */
    enum gsh_casting casting;          /* SAME_KIND unless given */
    enum gsh_order order;              /* KEEP unless given */
    PyObject *casting_name;            /* casting= as given, or NULL */
    PyObject *dtype, *signature; /* dtype= and signature= (sig=) as given; at most one is set */
    bool names_types;            /* one of them was given, even if it is None */
    PyObject *extobj, *axes;     /* as given, or NULL; only for handlers of adopted ufuncs */
    PyObject *axis;              /* the same; of vecdot only */
    signed char fixed[GSH_UFUNC_OPERANDS]; /* the dtype that they name for each operand, or -1 */
    bool is_plain; /* no keyword other than out=, casting= and subok= has an effect */
};

/* Tries to compute the call on the device. Returns a new reference (out itself if given, a tuple
 * for several results), or NULL and *why: declined, nothing was changed, no Python error. *row is
 * the stats row of the call (0 if unknown). */
typedef PyObject *(*gsh_ufunc_handler)(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                                       unsigned *row);
