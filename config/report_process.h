/* SPDX-License-Identifier: Apache-2.0
 *
 * Which process a report is of: the file's name with GPUSHIM_REPORT=dir:DIR, and the JSON key "process".
 */
#pragma once

#include "base.h"

/* Notes host, start time and command line, and adds the key to the report. Called once, when NumPy is found. */
void gsh_report_process_init(void);
/* A forked child begins now. */
void gsh_report_process_begin_after_fork(void);
/* DIR/HOST-PID-MILLISECONDS.json, so that neither hosts that share the folder nor process ids that come again collide. The folder is
 * absolute. False: `path` has no room for it. */
bool gsh_report_process_file_sigsafe(const char *folder, char *path, size_t size);
