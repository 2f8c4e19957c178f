/* SPDX-License-Identifier: Apache-2.0
 *
 * SCAN, COMPRESS and EXPAND launches as text: the functions of source.h, the entry point, for these kinds.
 */
#pragma once

#include "source.h"

size_t gsh_source_scan_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_scan_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan);
void gsh_source_scan_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

size_t gsh_source_compress_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_compress_plan(const struct gsh_launch *launch, uint64_t scratch,
                                         struct gsh_source_plan *plan);
void gsh_source_compress_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);

/* The stage between two passes over chunks: `rows` times `chunks` values of type `stored` at `sums` become
 * prefixes (kernels/cuda/scan/scan_sums.cuh). SCAN, COMPRESS and EXPAND use it. */
#define GSH_SOURCE_SCAN_WIDE 64 /* WIDE in the texts: a row has at most its square of chunks */
enum gsh_status gsh_source_scan_plan_sums(int64_t rows, int64_t chunks, uint64_t sums,
                                          uint64_t supers, struct gsh_source_stage *stage);

/* Writes three definitions. `Errors`: the base of a kernel's Args, a Sink where `checked`. `look(errors, a, b,
 * joined)`: reports a join that met an error of `flags` (`divides`: a division of integers). `look_cast(errors, x,
 * y, source)`: the same for a cast of x to y. `Stored`, the loop's type, must be defined before. */
void gsh_source_scan_write_look(struct gsh_fmt *fmt, bool checked, unsigned flags, bool divides);
/* Writes types Moved and Out and `convert(errors, x)`, a copy from operand 0's dtype to the output's through the
 * loop's dtype; `raw`: bytes unchanged. */
void gsh_source_scan_write_convert(struct gsh_fmt *fmt, const struct gsh_launch *launch, bool raw);
