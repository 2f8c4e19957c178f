/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of the program that a thread is in: that of its innermost frame of Python code which is not NumPy's or SciPy's own; none
 * while a module of theirs is imported. It feeds config/line_profile.h. Nothing is called that allocates: frames are walked by reading memory (python_place.h), and
 * PyCode_Addr2Line reads a code object's table of lines. A page fault is taken while its thread's frames stand still, so it is
 * found there in the same way, with or without the GIL.
 */
#pragma once

#include "python_api.h"

/* Begins to find lines for the line profile, if that was asked for. Called once, at attach, in a thread that runs Python code. */
void gsh_python_line_init(void);
/* How many frames of libraries are between the calling code and the line of the program. GIL. */
unsigned gsh_python_line_depth(void);
