/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_ON_FALLBACK: a call of NumPy that ran on the CPU for a reason that the program can change (reasons.def), with an array
 * of at least GSH_DECIDE_LEAST_ELEMENTS elements, is named by a warning or an exception. GIL.
 */
#pragma once

#include "python_api.h"
#include "reasons.h"

extern bool gsh_numpy_fallback_is_on;

/* Reads the option. Once, at attach, before lines are found (python_line.h). */
void gsh_numpy_fallback_init(void);
/* After the original has run. False: a Python exception is set, by the option or by the program's filters of warnings. Nothing is
 * said where an exception is set already. Objects that are no arrays may be among the operands, and NULL. */
bool gsh_numpy_fallback_tell(unsigned row, enum gsh_reason why, PyObject *const *operands,
                             size_t count);

/* The same, and the result counts as an operand. */
bool gsh_numpy_fallback_tell_result(unsigned row, enum gsh_reason why, PyObject *result,
                                    PyObject *const *operands, size_t count);

static inline bool gsh_numpy_fallback_allows(unsigned row, enum gsh_reason why,
                                             PyObject *const *operands, size_t count)
{
    return !GSH_UNLIKELY(gsh_numpy_fallback_is_on) ||
           gsh_numpy_fallback_tell(row, why, operands, count);
}
/* The original's result, or NULL with an exception; the result is an operand too. */
static inline PyObject *gsh_numpy_fallback_pass(PyObject *result, unsigned row, enum gsh_reason why,
                                                PyObject *const *operands, size_t count)
{
    if (!GSH_UNLIKELY(gsh_numpy_fallback_is_on) || !result ||
        gsh_numpy_fallback_tell_result(row, why, result, operands, count))
        return result;
    gsh_py.Py_DecRef(result);
    return NULL;
}
