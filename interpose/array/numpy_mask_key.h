/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys in which a mask of several dimensions stands beside other items: a[:, mask], a[0, mask], a[mask, 1:]. NumPy defines such a
 * mask as the arrays of its positions, one for each of its dimensions (NumPy's manual, "Boolean array indexing").
 */
#pragma once

#include "numpy_key.h"

/* The key with positions in place of such masks. A new reference; NULL and no Python error: the key has no such mask, or one that
 * does not fit the array's dimensions, or an item whose dimensions are not known. Finds the positions on the device or the host. GIL. */
PyObject *gsh_numpy_mask_key_expand(const struct gsh_ndarray *array, PyObject *key);
