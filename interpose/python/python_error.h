/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets the exceptions of gpushim's own questions to Python and NumPy: "does NumPy take this call?" is asked by making one
 * like it. What such a question raises is its answer and nobody else's; but the interpreter may meanwhile have run somebody
 * else's Python code, and what that raised is the program's. PyErr_Clear is called nowhere else.
 */
#pragma once

#include <stdbool.h>

/* Clears the exception that is set, if any. True: there was none, or it was the question's own. False: it was the program's
 * (a signal handler's, say); it is raised again in this thread when the interpreter is between two instructions next, as if
 * the signal had come then. GIL. */
bool gsh_python_error_clear(void);
