/* SPDX-License-Identifier: Apache-2.0
 *
 * np.where with three arguments on several cores of the CPU: a choice of elements of one dtype, which keeps their bytes. GIL; other
 * Python threads run meanwhile.
 */
#pragma once

#include "numpy_output.h"

/* Whether so many elements are enough. Cheap: asked before anything else where no device is live. */
bool gsh_numpy_parallel_where_may(int64_t elements);

/* Performs the described SELECT, which no device takes (`why`), to a fresh array of the layout, whose strides over the launch's
 * dimensions are set in the call. A new reference, or NULL without a Python error: nothing was done. */
PyObject *gsh_numpy_parallel_where_try(const struct gsh_call *call, const struct gsh_layout *layout,
                                       enum gsh_reason why);
