/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of a Generator's method on the device. The array stays there.
 */
#pragma once

#include "numpy_draw.h"

/* A new reference; NULL and *why: declined, array and generator are as they were. The kind of draw is one that NumPy makes as we do.
 * GIL, but given up while a GPU is waited for. */
PyObject *gsh_numpy_device_draw_run(const struct gsh_numpy_draw *request, unsigned row,
                                    enum gsh_reason *why);
/* The same with the generator's lock, which the caller holds. */
PyObject *gsh_numpy_device_draw_locked(const struct gsh_numpy_draw *request, unsigned row,
                                       enum gsh_reason *why);
