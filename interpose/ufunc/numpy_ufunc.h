/* SPDX-License-Identifier: Apache-2.0
 *
 * Ufunc calls: one vectorcall for every ufunc of NumPy, and the road from a ufunc to the handler
 * that may take its calls.
 */
#pragma once

#include "numpy_arguments.h"

/* Of numpy.linalg's lstsq, which has the most. */
#define GSH_UFUNC_OUTPUTS 4
#define GSH_UFUNC_OPERANDS (GSH_MAX_INPUTS + GSH_UFUNC_OUTPUTS)

/* A call of a hooked ufunc, parsed. Objects are the caller's, borrowed. */
struct gsh_ufunc_call {
    struct gsh_ufunc *ufunc;
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

/* The original vectorcall of every ufunc, for probes (results on tiny arrays). NULL until
 * installed. */
extern gsh_vectorcall gsh_numpy_ufunc_original;

/* Hooks a generalised ufunc outside multiarray's namespace (numpy_gufunc.h). handler NULL: its calls are only counted. Its
 * handler is asked whatever the errstate, and is given extobj= and axes=; its original brings nothing home by itself. GIL. */
void gsh_numpy_ufunc_adopt(struct gsh_ufunc *ufunc, gsh_ufunc_handler handler);
/* The op-table row (enum gsh_op) that a hooked ufunc's calls are offered as, or -1. */
int gsh_numpy_ufunc_find_op(const struct gsh_ufunc *ufunc);
/* What the hook does with a call that is worth describing, but for the original: parses it and
 * asks the handler. As gsh_ufunc_handler. */
PyObject *gsh_numpy_ufunc_try(PyObject *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, enum gsh_reason *why, unsigned *row);
