/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of np.errstate in this thread or context. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* Finds where this NumPy keeps the state. Called once, at attach. */
void gsh_numpy_errstate_init(void);
enum gsh_errstate_kind {
    GSH_ERRSTATE_DIVIDE,
    GSH_ERRSTATE_OVER,
    GSH_ERRSTATE_UNDER,
    GSH_ERRSTATE_INVALID
};
enum gsh_errstate_mode {
    GSH_ERRSTATE_IGNORE,
    GSH_ERRSTATE_WARN,
    GSH_ERRSTATE_RAISE,
    GSH_ERRSTATE_LOG = 5
}; /* 3, 4: call, print */

/* NumPy's mask: three bits for each kind. -1: the state cannot be read. */
int gsh_numpy_errstate_mask(void);
/* The mask in a ufunc's extobj= (NumPy 1). */
int gsh_numpy_errstate_mask_of(PyObject *extobj);
static inline unsigned gsh_numpy_errstate_mode(unsigned mask, enum gsh_errstate_kind kind)
{
    return mask >> (3 * kind) & 7;
}
/* Sets the mask (modes ignore, warn and log only) and, unless NULL, the object that "log" writes
 * to. Pass the result to gsh_numpy_errstate_restore. NULL: nothing was changed; the Python error is
 * cleared. */
PyObject *gsh_numpy_errstate_replace(unsigned mask, PyObject *log);
void gsh_numpy_errstate_restore(PyObject *previous);

/* Whether every kind of floating-point error is ignored or warned about. False: a kind has another
 * mode (exception, callback, print, log), or the state cannot be read. */
bool gsh_numpy_errstate_ignores_or_warns(void);
