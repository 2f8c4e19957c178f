/* SPDX-License-Identifier: Apache-2.0
 *
 * Why NumPy's calls stayed on the CPU, all operations together, for the verdict.
 */
#pragma once

#include "report_verdict.h"

/* The reasons that cost most, the most expensive first; of those that are not there, code is NULL. A row's time is divided among its
 * reasons by their calls. Allocates nothing, so that it may run in the handler of a signal that ends the process. */
void gsh_report_reasons_take(struct gsh_report_reason reasons[GSH_REPORT_REASONS]);
