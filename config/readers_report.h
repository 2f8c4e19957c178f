/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers (readers.h) in the report: those that brought most bytes back come first, each by its name, or by that of the library
 * whose code did. They may be called in the handler of a signal that ends the process.
 */
#pragma once

#include "fmt.h"

/* One line, or nothing where nothing was brought back. */
void gsh_readers_report_text(struct gsh_fmt *fmt);
/* Appends the name of one row's reader, "code of X" for a library. False: it has none. After one of the others, which find libraries'
 * names for the report that is being written. */
bool gsh_readers_report_name(unsigned row, struct gsh_fmt *fmt);
/* A list of {"name", "kind", "bytes", "transfers"} (docs/user/report.md). */
void gsh_readers_report_json(struct gsh_fmt *fmt);
