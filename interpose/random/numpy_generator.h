/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a numpy.random.Generator as a raw stream. Only exact Generators over an exact PCG64, PCG64DXSM or Philox, whose
 * layouts are those of NumPy 1.22 to 2.5: a Generator holds a bit generator and a copy of its bitgen_t; a bit generator holds the
 * C structure of its state (pcg64_state, philox_state), and what that points to. All functions need the GIL.
 */
#pragma once

#include "python_api.h"
#include "random_draw.h"

/* The type numpy.random.Generator, borrowed; NULL: numpy.random is not imported, or not to its end. */
PyObject *gsh_numpy_generator_type(void);
/* Whether the object is such a Generator. No Python error. */
bool gsh_numpy_generator_is_known(PyObject *generator);
/* As `with generator.bit_generator.lock:`. False: a Python exception is set. Waits without the GIL. */
bool gsh_numpy_generator_lock(PyObject *generator);
void gsh_numpy_generator_unlock(PyObject *generator);
/* Of a known Generator that the caller has locked. False: its state is not laid out as expected. */
bool gsh_numpy_generator_read(PyObject *generator, struct gsh_random_stream *stream);
/* After a read under the same lock. */
void gsh_numpy_generator_write(PyObject *generator, const struct gsh_random_stream *stream);
/* A new Generator over a new bit generator of the same types, or NULL and no Python error. */
PyObject *gsh_numpy_generator_like(PyObject *generator);
