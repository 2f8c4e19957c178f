/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between arrays of one dtype on several cores of the CPU: assignments to arrays and views, and fresh copies. Each element
 * keeps its bytes, so the result is NumPy's. A copy is left to NumPy where it does not pay, where the arrays' memory meets, and where
 * a signal may come of reading memory (files that are mapped, memory of other libraries). GIL; other Python threads run meanwhile.
 */
#pragma once

#include "numpy_key.h"
#include "numpy_output.h"
#include "numpy_parallel.h"

/* Performs the described COPY of `source` to the array `dst`, which no device takes (`why`). False: nothing was changed. */
bool gsh_numpy_parallel_copy_try(const struct gsh_call *call, PyObject *dst, PyObject *source,
                                 enum gsh_reason why);

/* The same to a fresh array of the layout, whose strides over the launch's dimensions are set in the call; the source is in the
 * arena. A new reference, or NULL without a Python error. */
PyObject *gsh_numpy_parallel_copy_new(struct gsh_call *call, const struct gsh_layout *layout,
                                      enum gsh_reason why);

enum { GSH_PARALLEL_COPY_LEAST = 1 << 14 }; /* elements: fewer never pay */

/* Whether self[key] = value may be large enough. Every assignment of an array asks: the sizes come first, and the key is read only
 * where an array of fewer dimensions may be broadcast to the whole. */
static inline bool gsh_numpy_parallel_copy_may_assign(PyObject *self, PyObject *key,
                                                      PyObject *value)
{
    if (!gsh_numpy_is_array(value) || !gsh_numpy_is_array(self))
        return false;
    const struct gsh_ndarray *to = gsh_numpy_array(self), *from = gsh_numpy_array(value);
    return (gsh_numpy_describe_size(from) >= GSH_PARALLEL_COPY_LEAST ||
            (from->nd < to->nd && gsh_numpy_describe_size(to) >= GSH_PARALLEL_COPY_LEAST &&
             gsh_numpy_key_is_whole(key))) &&
           gsh_numpy_parallel_is_on();
}
