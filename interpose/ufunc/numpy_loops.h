/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of the ufuncs that the device knows: calls that reach a loop without a
 * description of the whole call (subclasses of ndarray, sequences) can still be computed on
 * the device, flat piece by flat piece. They also tell which loop NumPy takes for a call.
 */
#pragma once

#include "launch.h"
#include "numpy_abi.h"

/* One replaced loop; it lives as long as the process. */
struct gsh_numpy_loop {
    gsh_ufunc_loop function; /* the original */
    void *data;              /* its data */
    gsh_ufunc_loop *place;   /* where ours was put */
    enum gsh_op op;
    enum gsh_dtype dtype;                      /* of the launch */
    enum gsh_dtype operands[GSH_MAX_OPERANDS]; /* what NumPy's loop takes and gives; inputs first */
    unsigned count;                            /* of operands */
    uint64_t *hits;
};

/* The row of the op table (enum gsh_op) for a ufunc of multiarray's, or -1. */
int gsh_numpy_loops_find_op(const struct gsh_ufunc *ufunc);
/* Loop calls of this thread that the device computed. */
uint64_t gsh_numpy_loops_device_calls(void);
/* Whether this thread's loops may use the device; returns what it was before. They may not unless a
 * hook says so for the length of the original: one that knows that underflow does not matter, of
 * which NumPy would learn nothing. */
bool gsh_numpy_loops_admit(bool admitted);
/* Whether the loop is still in its place: somebody may have put another there
 * (PyUFunc_ReplaceLoopBySignature), whose results are then wanted. GIL. */
bool gsh_numpy_loops_is_genuine(const struct gsh_numpy_loop *loop);
/* Calls the original of a ufunc in such a way that its loop does not run, but is only found: its
 * outputs become zeros. A new reference to the result, or NULL with a Python error; *found =
 * NULL where it takes none of the replaced loops (then that loop did run). GIL. */
PyObject *gsh_numpy_loops_probe(PyObject *ufunc, PyObject *const *args, size_t nargs,
                                PyObject *kwnames, const struct gsh_numpy_loop **found);
