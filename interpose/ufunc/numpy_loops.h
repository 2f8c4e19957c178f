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
    void **data_place;       /* and the one with its data */
    enum gsh_op op;
    enum gsh_dtype dtype;                      /* of the launch */
    enum gsh_dtype operands[GSH_MAX_OPERANDS]; /* dtypes of NumPy's loop, inputs first */
    unsigned count;                            /* of operands */
    int64_t shared_from;                       /* gsh_numpy_parallel_least */
    uint64_t *hits;
};

/* The row of the op table (enum gsh_op) for a ufunc of multiarray, or -1. */
int gsh_numpy_loops_find_op(const struct gsh_ufunc *ufunc);
/* Replaces the loops of a ufunc of another module, whose op is known. GIL. */
void gsh_numpy_loops_adopt(struct gsh_ufunc *ufunc, enum gsh_op op);
/* The number of loop calls of this thread that the device computed. */
uint64_t gsh_numpy_loops_device_calls(void);
/* Sets whether this thread's loops may use the device; returns the previous value. The default is
 * false. A hook sets it during the original if underflow is ignored, because the device does not
 * report underflow to NumPy. */
bool gsh_numpy_loops_admit(bool admitted);
/* Whether the original loop may raise an exception: NumPy's refuses negative integer exponents, SciPy's report errors by
 * themselves. Such loops run neither in several threads nor, piece by piece, on the device. */
bool gsh_numpy_loops_may_raise(const struct gsh_numpy_loop *loop);
/* Whether the loop is still installed. If the program replaced it (PyUFunc_ReplaceLoopBySignature),
 * the program's loop must run. GIL. */
bool gsh_numpy_loops_is_genuine(const struct gsh_numpy_loop *loop);
/* The ufunc's loop whose operands all have the dtype; NULL: it is not replaced. GIL. */
const struct gsh_numpy_loop *gsh_numpy_loops_find(const struct gsh_ufunc *ufunc,
                                                  enum gsh_dtype dtype);
/* Whether the replacement of a loop over so many elements only calls the original. */
bool gsh_numpy_loops_is_short(int64_t count);
/* Between the two, NumPy calls the original directly, in all threads: for calls with so many short loops that the replacement's
 * few instructions matter. One loop at a time; false: another one is left out. GIL, which may be given up in between. */
bool gsh_numpy_loops_leave_out(const struct gsh_numpy_loop *loop);
void gsh_numpy_loops_take_back(void);
/* Between the two, NumPy calls the function with the same arguments in the loop's place, in all threads. False: another one is there.
 * GIL, which may be given up in between. */
bool gsh_numpy_loops_divert(const struct gsh_numpy_loop *loop, gsh_ufunc_loop function);
void gsh_numpy_loops_end_diversion(const struct gsh_numpy_loop *loop, gsh_ufunc_loop function);
/* What NumPy calls otherwise. */
void gsh_numpy_loops_call(char **args, const int64_t *dimensions, const int64_t *steps, void *data);
/* Calls the original of a ufunc to find its loop without running it; the outputs become zeros.
 * Returns a new reference to the result, or NULL with a Python error. *found = NULL: the call uses
 * none of the replaced loops (its loop did run). GIL. */
PyObject *gsh_numpy_loops_probe(PyObject *ufunc, PyObject *const *args, size_t nargs,
                                PyObject *kwnames, const struct gsh_numpy_loop **found);
/* The same call, whose loop raises these floating-point flags (FE_*), so that NumPy reports them. GIL. */
PyObject *gsh_numpy_loops_raise(PyObject *ufunc, PyObject *const *args, size_t nargs, int flags);
