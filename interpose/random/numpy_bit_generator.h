/* SPDX-License-Identifier: Apache-2.0
 *
 * What a numpy.random.Generator and a RandomState have in common, in NumPy 1.22 to 2.5: each owns a bit generator, and holds a copy of
 * its bitgen_t. All functions need the GIL.
 */
#pragma once

#include "python_api.h"

#include <stdbool.h>
#include <stddef.h>

/* numpy/random/bitgen.h: bitgen_t */
struct gsh_numpy_bitgen {
    void *state;
    void *next_uint64, *next_uint32, *next_double, *next_raw;
};

/* A class of a module that is imported; NULL and no Python error: it is not. Borrowed. */
PyObject *gsh_numpy_bit_generator_class(const char *module, const char *name);
/* Whether the owner's attribute of that name is `bits`, and `copy` one of its bitgen_t. No Python error. */
bool gsh_numpy_bit_generator_is_owned(PyObject *owner, const char *attribute, PyObject *bits,
                                      const struct gsh_numpy_bitgen *copy);
/* Its lock. False: a Python exception is set. Waits without the GIL. */
bool gsh_numpy_bit_generator_lock(PyObject *bits);
void gsh_numpy_bit_generator_unlock(PyObject *bits);
/* Whether the object's own memory has `size` bytes at the address, which is a multiple of `alignment`. */
bool gsh_numpy_bit_generator_holds(PyObject *bits, const void *address, size_t size,
                                   size_t alignment);
/* A new owner of the class of `like`, over a new bit generator of the class of `bits` and of any seed, always the same one; NULL and
 * no Python error: there is none. */
PyObject *gsh_numpy_bit_generator_make_owner(PyObject *like, PyObject *bits);
