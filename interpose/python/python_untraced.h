/* SPDX-License-Identifier: Apache-2.0
 *
 * Hides Python code of gpushim from the program's tracer, profiler and monitoring tools. Such code
 * runs only during NumPy's import.
 */
#pragma once

#include <stdbool.h>

/* Disables this thread's tracer, profiler and monitoring tools until end. False: not possible
 * (Python before 3.11 with one set); then run no code and do not call end. GIL. */
bool gsh_python_untraced_begin(void);
void gsh_python_untraced_end(void);
