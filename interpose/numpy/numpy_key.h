/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies the key of a[key] by the types of its items. Runs no code of the program. GIL.
 */
#pragma once

#include "numpy_abi.h"

enum gsh_key_kind {
    GSH_KEY_ELEMENT, /* one element, or an unknown key: left to NumPy */
    GSH_KEY_VIEW,    /* basic indexing */
    GSH_KEY_MASK,    /* a single bool array */
    GSH_KEY_INDEX, /* arrays or lists that index one axis each, with plain slices, ints and None */
    GSH_KEY_OTHER  /* other advanced indexing, or slice bounds that run code */
};

#define GSH_KEY_INDEXES 8 /* maximum number of indexes in one key */

struct gsh_key {
    enum gsh_key_kind kind;
    int count;                        /* MASK: 1; INDEX: at least 1 */
    PyObject *items[GSH_KEY_INDEXES]; /* the masks, arrays or lists, borrowed */
    /* INDEX: in the view that the key makes with a full slice in place of each index: */
    int axes[GSH_KEY_INDEXES]; /* the axes they apply to, ascending */
    int result_axis;           /* first axis of their dimensions in the result */
};

/* Classifies a key of this array. */
struct gsh_key gsh_numpy_key_classify(const struct gsh_ndarray *array, PyObject *object);
/* Whether the key is [...] or [:]. */
bool gsh_numpy_key_is_whole(PyObject *object);
/* Whether a slice's bounds are exact ints or None. */
bool gsh_numpy_key_is_plain_slice(PyObject *slice);
