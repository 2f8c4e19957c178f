/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of the program that a thread is in: that of its innermost frame of Python code which is not NumPy's, SciPy's or Python's own; none
 * while a module of theirs is imported. It feeds config/line_profile.h. Nothing is called that allocates: frames are walked by reading memory (python_place.h), and
 * PyCode_Addr2Line reads a code object's table of lines. A page fault is taken while its thread's frames stand still, so it is
 * found there in the same way, with or without the GIL.
 */
#pragma once

#include "python_place.h"

/* Begins to find lines for the line profile, and in the report gathers calls that NumPy and SciPy make while they are imported or print
 * an array (gsh_stats_set_folding), if these were asked for. Called once, at attach, in a thread that runs Python code. */
void gsh_python_line_init(void);
/* The line profile's row for a stack of frames, the innermost first: as for a call made there. GIL. */
unsigned gsh_python_line_row(const struct gsh_python_place_frame *frames, unsigned count);
/* How many frames of libraries are between the calling code and the line of the program. GIL. */
unsigned gsh_python_line_depth(void);
