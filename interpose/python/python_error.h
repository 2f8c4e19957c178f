/* SPDX-License-Identifier: Apache-2.0
 *
 * Clears exceptions of gpushim's own queries to Python and NumPy. A query makes a call to find out
 * whether NumPy accepts it; an exception is then the answer and must not reach the program. But the
 * interpreter may run other Python code during the query, and an exception from that code belongs
 * to the program. PyErr_Clear is called nowhere else.
 */
#pragma once

#include <stdbool.h>

/* Clears the current exception, if any. True: there was none, or it was the query's own. False: it
 * was the program's (a signal handler's, for instance). It is raised again in this thread when the
 * interpreter is next between two instructions, as if the signal had arrived then. GIL. */
bool gsh_python_error_clear(void);
