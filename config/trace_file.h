/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the trace (trace.h) and writes its file at the end, in the format that Chrome and Perfetto read. A forked child has events
 * of its own, and a file of its own where "%p" in the name tells them apart.
 */
#pragma once

#include "base.h"

/* Reads GPUSHIM_TRACE. Called once, when NumPy is found. The names are kept, not copied. */
void gsh_trace_file_init(const char *const *reason_names, size_t reason_count);
/* Whether this process has a file to write. Safe in a signal handler. */
bool gsh_trace_file_is_due_sigsafe(void);
/* Writes the file, if it is due. One thread at a time. Allocates nothing and takes no lock: for handlers of signals that end the process, too. Returns 0 or
 * an errno (report_file.h). */
int gsh_trace_file_write_sigsafe(void);
const char *gsh_trace_file_name(void);
