/* SPDX-License-Identifier: Apache-2.0
 *
 * The second half of every hook: the memory order of a fresh result, its allocation in the arena,
 * running the call, and the accounting around an original that runs instead. GIL; leaves no Python
 * error.
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
/* The axes of the launch's shape from innermost to outermost, in the order that NumPy's iterator
 * uses for operands [0, count). */
void gsh_numpy_output_axis_order(const struct gsh_launch *launch, unsigned count, int *axes);
/* The layout that NumPy's iterator gives to a fresh operand (order='K') over the launch's shape. It
 * depends on the strides of operands [0, count). */
void gsh_numpy_output_iterator_order(const struct gsh_launch *launch, unsigned count,
                                     size_t itemsize, struct gsh_layout *layout);
/* The GSH_NPY_* flags (C, F or both) of NumPy's trivial loop, which a ufunc with one output tries
 * first; 0 if it does not apply. It applies if all inputs except 0-d ones have the result's shape,
 * have the loop's dtypes and are contiguous in the same order. The fresh result then has that
 * order. The result differs from the iterator's order only in the strides of axes of length 1. */
int gsh_numpy_output_trivial_order(const struct gsh_launch *launch,
                                   const struct gsh_argument *arguments,
                                   const enum gsh_dtype *dtypes);
/* The order of PyArray_NewLikeArray(view, order='K') (copy, astype). */
void gsh_numpy_output_like(const struct gsh_view *view, size_t itemsize, struct gsh_layout *layout);

/* Whether memory for such a result could be allocated at all. Ask before work that is proportional
 * to the size: NumPy refuses an impossible size at once. */
bool gsh_numpy_output_is_possible(const struct gsh_layout *layout, size_t itemsize);
/* A new array where NumPy's allocator puts it. Contents undefined. NULL: there is no memory. */
PyObject *gsh_numpy_output_allocate(enum gsh_dtype dtype, const struct gsh_layout *layout);
/* A new array in the arena, expected to be used on the device. Contents undefined. NULL: another
 * allocator took the request, or there is no memory. */
PyObject *gsh_numpy_output_create(enum gsh_dtype dtype, const struct gsh_layout *layout);

/* Decides and runs the call. `call` is complete except for the addresses and strides of outputs
 * created here. outs[j] is either an array (already placed as operand nin + j by the caller) or
 * NULL: a fresh array of layouts[j] is created, whose strides over the launch's dimensions are
 * already set in the call (0 where reduced). True: outs[j] are new references. False and *why:
 * declined, nothing was changed, outs unchanged. False and *why NONE: a Python exception is set;
 * the call ran and met a floating-point error under errstate "raise" (a given output is written in
 * this case, as NumPy does). */
bool gsh_numpy_output_run_all(struct gsh_call *call, PyObject **outs,
                              const struct gsh_layout *layouts, enum gsh_reason *why);
/* The same for a call with one output, which is returned. NULL: declined. */
PyObject *gsh_numpy_output_run(struct gsh_call *call, PyObject *out,
                               const struct gsh_layout *layout, enum gsh_reason *why);
/* Call these around an original that was priced and declined. Between them its inner loops are not
 * priced again, and it is timed and counted if the report was requested. Pass begin's result to
 * end. */
uint64_t gsh_numpy_output_host_begin(void);
void gsh_numpy_output_host_end(uint64_t begin, unsigned row, enum gsh_reason why);
/* Instead of end, where nothing was computed. */
void gsh_numpy_output_host_abandon(void);
/* Whether this thread is between the two. Does not need the GIL. */
bool gsh_numpy_output_host_is_inside(void);

/* The stats row of `name` with these dtypes: "dd->d" (output: the first one's dtype). */
unsigned gsh_numpy_output_row(const char *name, const enum gsh_dtype *dtypes, unsigned nin,
                              enum gsh_dtype result);
