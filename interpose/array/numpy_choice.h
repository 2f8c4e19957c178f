/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduces a key with indexes to a gather or scatter along one axis. Slices are applied to the
 * array, masks are converted to positions, and several indexes are joined into one index over one
 * joined axis. GIL.
 */
#pragma once

#include "numpy_describe.h"
#include "numpy_key.h"

struct gsh_choice {
    PyObject *array; /* the array, or a view of it; owned */
    PyObject *index; /* an array of integers, owned */
    struct gsh_view view;
    int axis;             /* the view's axis that the index applies to */
    bool is_safe;         /* the index is known to be in bounds */
    bool selects_nothing; /* set where declined: a mask of the key has no true element */
    int64_t shape[GSH_MAX_DIMS],
        strides[GSH_MAX_DIMS]; /* strides of the view if they differ from the array's */
};

/* Resolves a key of kind INDEX. `subscript` computes a[basic key]. False and *why: declined; no
 * reference is owned. */
bool gsh_numpy_choice_make(struct gsh_choice *choice, PyObject *self, PyObject *object,
                           const struct gsh_key *key,
                           PyObject *(*subscript)(PyObject *, PyObject *), enum gsh_reason *why);
void gsh_numpy_choice_drop(struct gsh_choice *choice);
