/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of a Generator's method that several cores compute. The array and the generator's state afterwards are NumPy's, to the bit.
 */
#pragma once

#include "host_random.h"
#include "numpy_method_patch.h"
#include "numpy_output.h"

#define GSH_NUMPY_DRAW_LEAST 16384 /* values: fewer are left to NumPy unseen */

struct gsh_numpy_draw {
    const struct gsh_method_call *from;
    const char *const *parameters; /* of the method */
    PyObject **slots;              /* their values; NULL: not given */
    unsigned count;                /* of parameters */
    const char *method;
    struct gsh_random_draw draw; /* without the stream */
    enum gsh_dtype dtype;
    struct gsh_layout layout;
    int64_t elements;
    PyObject *out; /* a C-contiguous array of that dtype and shape, or NULL: a new one */
};

/* A new reference, or NULL and *why: declined, the generator is as it was, no Python error; *why NONE: not worth counting. NULL
 * with a Python error: it is the program's. GIL. */
PyObject *gsh_numpy_draw_run(const struct gsh_numpy_draw *request, enum gsh_reason *why,
                             unsigned *row);
/* The same, on the device only, with the generator's lock, which the caller holds. */
PyObject *gsh_numpy_draw_on_device(const struct gsh_numpy_draw *request, enum gsh_reason *why,
                                   unsigned *row);
/* The next `count` words as the Generator of the call gives them, of dtype uint32 or uint64, in an array of one dimension. As
 * gsh_numpy_draw_on_device. NULL also where `count` is 0 or there is no memory; no Python error. */
PyObject *gsh_numpy_draw_words(const struct gsh_method_call *from, enum gsh_dtype dtype,
                               int64_t count, enum gsh_reason *why, unsigned *row);
