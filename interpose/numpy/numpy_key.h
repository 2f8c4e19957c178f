/* SPDX-License-Identifier: Apache-2.0
 *
 * What a key in a[key] is, told from its items' types alone: nothing here runs a program's code.
 * GIL.
 */
#pragma once

#include "numpy_abi.h"

enum gsh_key_kind {
    GSH_KEY_ELEMENT, /* names one element, or who knows: never worth a look */
    GSH_KEY_VIEW,    /* basic indexing */
    GSH_KEY_MASK,    /* one array of bool, alone */
    GSH_KEY_INDEX,   /* arrays or lists that index one axis each, with plain slices round them */
    GSH_KEY_OTHER    /* other advanced indexing, or bounds that run code */
};

#define GSH_KEY_INDEXES 4 /* most of them in one key */

struct gsh_key {
    enum gsh_key_kind kind;
    int count;                        /* MASK: 1; INDEX: at least 1 */
    PyObject *items[GSH_KEY_INDEXES]; /* the masks, arrays or lists, borrowed */
    int axes[GSH_KEY_INDEXES];        /* that they stand for, rising */
    int result_axis;                  /* where their dimensions go in the result */
};

/* The key of this array. */
struct gsh_key gsh_numpy_key_classify(const struct gsh_ndarray *array, PyObject *object);
/* Whether the key is [...] or [:]. */
bool gsh_numpy_key_is_whole(PyObject *object);
/* Whether a slice's bounds are exact ints or None. */
bool gsh_numpy_key_is_plain_slice(PyObject *slice);
