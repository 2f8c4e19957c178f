/* SPDX-License-Identifier: Apache-2.0
 *
 * What a key of indexes chooses from an array, in the words of a gather or scatter along one axis:
 * slices are applied, masks become positions, and several indexes one, into the axes they stand for
 * taken as one. GIL.
 */
#pragma once

#include "numpy_describe.h"
#include "numpy_key.h"

struct gsh_choice {
    PyObject *array; /* the array, or a view of it; owned */
    PyObject *index; /* an array of integers, owned */
    struct gsh_view view;
    int axis;     /* of the view, that the index is for */
    bool is_safe; /* the index is known to be in bounds */
    int64_t shape[GSH_MAX_DIMS],
        strides[GSH_MAX_DIMS]; /* the view's, where it is not the array's */
};

/* Resolves a key of kind INDEX with a[basic key] = subscript. False and *why: declined; nothing is
 * owned then. */
bool gsh_numpy_choice_make(struct gsh_choice *choice, PyObject *self, PyObject *object,
                           const struct gsh_key *key,
                           PyObject *(*subscript)(PyObject *, PyObject *), enum gsh_reason *why);
void gsh_numpy_choice_drop(struct gsh_choice *choice);
