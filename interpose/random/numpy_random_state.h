/* SPDX-License-Identifier: Apache-2.0
 *
 * A numpy.random.RandomState over an exact MT19937 (that of np.random.seed, too), whose layouts are those of NumPy 1.22 to 2.5: it holds
 * a bit generator, a copy of its bitgen_t, and the second number of a pair of normal ones (aug_bitgen_t); the bit generator
 * holds its mt19937_state. All functions need the GIL.
 */
#pragma once

#include "python_api.h"
#include "random_draw.h"
#include "reasons.h"

/* A normal number that is kept for the next call. */
struct gsh_numpy_spare {
    bool is_kept;
    double number; /* 0: none */
};

/* Whether the object is such a RandomState. No Python error. */
bool gsh_numpy_random_state_is_known(PyObject *object);
/* Its lock. False: a Python exception is set. Waits without the GIL. */
bool gsh_numpy_random_state_lock(PyObject *object);
void gsh_numpy_random_state_unlock(PyObject *object);
/* Of a known one that the caller has locked. The stream's key is the object's own memory. False: the state is not laid out as expected. */
bool gsh_numpy_random_state_read(PyObject *object, struct gsh_random_stream *stream,
                                 struct gsh_numpy_spare *spare);
/* How many words the rest of the block and as many whole blocks have that `count` words take. */
int64_t gsh_numpy_random_state_round(const struct gsh_random_stream *stream, int64_t count);
/* An array of so many words or more, made on the device; NULL: declined, no Python error. The state stays. */
PyObject *gsh_numpy_random_state_draw(const struct gsh_random_stream *stream, int64_t count,
                                      unsigned row, enum gsh_reason *why);
/* Moves the state behind `used` of the words of an array that holds the next ones in whole blocks. */
void gsh_numpy_random_state_write(PyObject *object, PyObject *words, int64_t used,
                                  const struct gsh_numpy_spare *spare);
/* A new one over a new MT19937, or NULL and no Python error. */
PyObject *gsh_numpy_random_state_fresh(PyObject *like);
