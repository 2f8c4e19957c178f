/* SPDX-License-Identifier: Apache-2.0
 *
 * Python code of gpushim's own, which only runs while NumPy is being imported, unseen by the program's tracer, profiler and
 * monitoring tools.
 */
#pragma once

#include <stdbool.h>

/* Until end, this thread's tracer, profiler and monitoring tools are not told of anything. False: they cannot be kept from it
 * (Python before 3.11 with one set); nothing is to be run then, and end is not to be called. GIL. */
bool gsh_python_quiet_begin(void);
void gsh_python_quiet_end(void);
