/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of the ufuncs that the device supports. Calls that reach a loop without a
 * description of the whole call (subclasses of ndarray, sequences) can be computed on the device in
 * one-dimensional pieces. The loops also tell which loop NumPy selects for a call.
 */
#pragma once

#include "launch.h"
#include "numpy_abi.h"

/* One replaced loop; it is never freed. */
struct gsh_numpy_loop {
    gsh_ufunc_loop function; /* the original */
    void *data;              /* the original's data */
    gsh_ufunc_loop *place;   /* the table entry with the replacement */
    enum gsh_op op;
    enum gsh_dtype dtype;                      /* of the launch */
    enum gsh_dtype operands[GSH_MAX_OPERANDS]; /* dtypes of NumPy's loop, inputs first */
    unsigned count;                            /* of operands */
    uint64_t *hits;
};

/* The row of the op table (enum gsh_op) for a ufunc of multiarray, or -1. */
int gsh_numpy_loops_find_op(const struct gsh_ufunc *ufunc);
/* The number of loop calls of this thread that the device computed. */
uint64_t gsh_numpy_loops_device_calls(void);
/* Sets whether this thread's loops may use the device; returns the previous value. The default is
 * false. A hook sets it during the original if underflow is ignored, because the device does not
 * report underflow to NumPy. */
bool gsh_numpy_loops_admit(bool admitted);
/* Whether NumPy's loop may raise an exception: it refuses negative integer exponents. */
bool gsh_numpy_loops_may_raise(const struct gsh_numpy_loop *loop);
/* Whether the loop is still installed. If the program replaced it (PyUFunc_ReplaceLoopBySignature),
 * the program's loop must run. GIL. */
bool gsh_numpy_loops_is_genuine(const struct gsh_numpy_loop *loop);
/* Calls the original of a ufunc to find its loop without running it; the outputs become zeros.
 * Returns a new reference to the result, or NULL with a Python error. *found = NULL: the call uses
 * none of the replaced loops (its loop did run). GIL. */
PyObject *gsh_numpy_loops_probe(PyObject *ufunc, PyObject *const *args, size_t nargs,
                                PyObject *kwnames, const struct gsh_numpy_loop **found);
/* The same call, whose loop raises these floating-point flags (FE_*), so that NumPy reports them. GIL. */
PyObject *gsh_numpy_loops_raise(PyObject *ufunc, PyObject *const *args, size_t nargs, int flags);
