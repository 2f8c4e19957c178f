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
/* The order NumPy gives to the fresh result of an elementwise call (order='K'): over the launch's
 * shape, from its placed inputs, the arguments they came from (what is contiguous) and its loop
 * dtype (what is cast). */
void gsh_numpy_output_k_order(const struct gsh_launch *launch, const struct gsh_argument *arguments,
                              size_t itemsize, struct gsh_layout *layout);
/* The order of PyArray_NewLikeArray(view, order='K') (copy, astype). */
void gsh_numpy_output_like(const struct gsh_view *view, size_t itemsize, struct gsh_layout *layout);

/* A new array on the device's side of the arena, contents undefined, or NULL (another allocator
 * took the request, or none could). */
PyObject *gsh_numpy_output_create(enum gsh_dtype dtype, const struct gsh_layout *layout);

/* Decides and runs. `call` is complete but for the output's address and strides. With `out` (an
 * array; its view already placed as operand nin by the caller) the result is `out`; else a fresh
 * array of `layout`, over whose dimensions the output's strides are already set in the call (0
 * where reduced). A new reference, or NULL and *why: declined, nothing touched. */
PyObject *gsh_numpy_output_run(struct gsh_call *call, PyObject *out,
                               const struct gsh_layout *layout, enum gsh_reason *why);
/* Round an original that was priced and declined: its inner loops are not priced again, and it is
 * timed and counted where the report was asked for. begin's result goes to end. */
uint64_t gsh_numpy_output_host_begin(void);
void gsh_numpy_output_host_end(uint64_t begin, unsigned row, enum gsh_reason why);
/* True between the two on this thread. Does not need the GIL. */
bool gsh_numpy_output_host_is_inside(void);

/* The stats row of `name` with these dtypes: "dd->d". */
unsigned gsh_numpy_output_row(const char *name, const enum gsh_dtype *dtypes, unsigned nin,
                              enum gsh_dtype result);
