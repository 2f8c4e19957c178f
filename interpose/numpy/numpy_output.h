/* SPDX-License-Identifier: Apache-2.0
 *
 * The second half of every hook: which memory order a fresh result has, making it in the arena,
 * running the call, and the bookkeeping round an original that runs instead. GIL; no Python error
 * is left behind.
 */
#pragma once

#include "call.h"
#include "numpy_describe.h"

/* Shape and strides (bytes) of a fresh result. */
struct gsh_layout {
    int ndim;
    int64_t shape[GSH_MAX_DIMS];
    int64_t strides[GSH_MAX_DIMS];
};

/* C or Fortran order over layout->ndim and shape. */
void gsh_numpy_output_c_order(struct gsh_layout *layout, size_t itemsize);
void gsh_numpy_output_f_order(struct gsh_layout *layout, size_t itemsize);
/* The axes of the launch's shape from innermost to outermost as NumPy's iterator orders them for
 * operands [0, count). */
void gsh_numpy_output_axis_order(const struct gsh_launch *launch, unsigned count, int *axes);
/* The layout that NumPy's iterator gives a fresh operand (order='K') over the launch's shape, from the strides of
 * operands [0, count). */
void gsh_numpy_output_iterator_order(const struct gsh_launch *launch, unsigned count,
                                     size_t itemsize, struct gsh_layout *layout);
/* Ufuncs of one output first try NumPy's trivial loop: where all inputs but 0-d ones have the result's shape, are of its
 * dtypes and contiguous in one and the same order, a fresh result gets that order. Its GSH_NPY_* flags (C, F or both), 0
 * where it does not apply. It differs from the iterator's order only in the strides of axes of length 1. */
int gsh_numpy_output_trivial_order(const struct gsh_launch *launch,
                                   const struct gsh_argument *arguments,
                                   const enum gsh_dtype *dtypes);
/* The order of PyArray_NewLikeArray(view, order='K') (copy, astype). */
void gsh_numpy_output_like(const struct gsh_view *view, size_t itemsize, struct gsh_layout *layout);

/* Whether memory for such a result may be had at all. To be asked before what costs time for each element: NumPy itself
 * refuses the others at once. */
bool gsh_numpy_output_is_possible(const struct gsh_layout *layout, size_t itemsize);
/* A new array on the device's side of the arena, contents undefined, or NULL (another allocator
 * took the request, or none could). */
PyObject *gsh_numpy_output_create(enum gsh_dtype dtype, const struct gsh_layout *layout);

/* Decides and runs. `call` is complete but for the outputs' addresses and strides where they are made here. outs[j]: an
 * array (its view already placed as operand nin + j by the caller), or NULL: a fresh array of layouts[j], over whose
 * dimensions that operand's strides are already set in the call (0 where reduced). True: outs[j] are new
 * references. False and *why: declined, nothing touched, outs unchanged; or, with
 * *why NONE, a Python exception is set: the call ran and met a floating-point error under errstate "raise" (an output given
 * is written then, as NumPy does). */
bool gsh_numpy_output_run_all(struct gsh_call *call, PyObject **outs,
                              const struct gsh_layout *layouts, enum gsh_reason *why);
/* The same for a call of one output, which is returned; NULL: declined. */
PyObject *gsh_numpy_output_run(struct gsh_call *call, PyObject *out,
                               const struct gsh_layout *layout, enum gsh_reason *why);
/* Round an original that was priced and declined: its inner loops are not priced again, and it is
 * timed and counted where the report was asked for. begin's result goes to end. */
uint64_t gsh_numpy_output_host_begin(void);
void gsh_numpy_output_host_end(uint64_t begin, unsigned row, enum gsh_reason why);
/* True between the two on this thread. Does not need the GIL. */
bool gsh_numpy_output_host_is_inside(void);

/* The stats row of `name` with these dtypes: "dd->d" (of the first output). */
unsigned gsh_numpy_output_row(const char *name, const enum gsh_dtype *dtypes, unsigned nin,
                              enum gsh_dtype result);
