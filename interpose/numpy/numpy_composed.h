/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NumPy that are composed of other functions of NumPy, each of which runs on the device or the host by itself.
 * numpy_composed.py and numpy_composed_*.py have the compositions. GIL.
 */
#pragma once

#include "numpy_method_patch.h"

/* The texts of the files; made by the build. */
#define GSH_NUMPY_COMPOSED_TEXTS(X)                                                                \
    X(numpy_composed)                                                                              \
    X(numpy_composed_arrays)                                                                       \
    X(numpy_composed_draws)                                                                        \
    X(numpy_composed_index)                                                                        \
    X(numpy_composed_order) X(numpy_composed_products)
/* Those that fewer programs need. They are compiled one after the other, until a function that was called is found. */
#define GSH_NUMPY_COMPOSED_LATER(X)                                                                \
    X(numpy_composed_legacy)                                                                       \
    X(numpy_composed_cosines)                                                                      \
    X(numpy_composed_chains)                                                                       \
    X(numpy_composed_polar)                                                                        \
    X(numpy_composed_distances)                                                                    \
    X(numpy_composed_images)                                                                       \
    X(numpy_composed_splines)                                                                      \
    X(numpy_composed_fourier)                                                                      \
    X(numpy_composed_quantiles)                                                                    \
    X(numpy_composed_shuffle)                                                                      \
    X(numpy_composed_sparse)                                                                       \
    X(numpy_composed_sparse_products)                                                              \
    X(numpy_composed_piecewise)                                                                    \
    X(numpy_composed_labels) X(numpy_composed_resampling) X(numpy_composed_vectorize)
#define X(name) extern const char gsh_python_text_##name[];
GSH_NUMPY_COMPOSED_TEXTS(X)
GSH_NUMPY_COMPOSED_LATER(X)
#undef X

/* Names that the texts use: the namespace that they run in, borrowed. NULL: they cannot be compiled now. */
PyObject *gsh_numpy_composed_names(void);
/* Puts functions there that the texts call, once each. False: they cannot be compiled now. */
bool gsh_numpy_composed_offer(struct gsh_pymethoddef *definitions, size_t count);
/* As gsh_numpy_composed_call, wherever the operands are. *why is not set. */
PyObject *gsh_numpy_composed_run(const char *name, const struct gsh_method_call *call,
                                 bool has_self);
/* Calls the composition of that name with the call's arguments, self first if `has_self`. NULL with *why NONE: no operand is on
 * the device (in force mode: none is a plain array). NULL with another *why: the composition declined, and nothing was changed.
 * Leaves no Python error. */
PyObject *gsh_numpy_composed_call(const char *name, const struct gsh_method_call *call,
                                  bool has_self, enum gsh_reason *why);
/* The same for a function whose call may upload its operands (composition.h): arguments that the original does not write, of which
 * `writes` has bits GSH_METHOD_WRITES_ARG. Where it does not, *why says so and *row counts the call; the original then runs, and
 * gsh_numpy_composed_note_original is told. */
PyObject *gsh_numpy_composed_call_priced(const char *name, const struct gsh_method_call *call,
                                         bool has_self, unsigned writes, enum gsh_reason *why,
                                         unsigned *row);
/* The original has returned, whether or not that call was priced. */
void gsh_numpy_composed_note_original(const struct gsh_method_call *call);
/* Of a list or tuple of arrays, or of such lists, the array that NumPy makes of it, as gsh_numpy_composed_call. NULL with *why NONE
 * for other objects. */
PyObject *gsh_numpy_composed_array(PyObject *operand, enum gsh_reason *why);
