/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_LOG=decide: one line on stderr for each decision of gsh_dispatch_decide, as key=value pairs that docs/user/report.md
 * explains. Takes no lock, allocates nothing.
 */
#pragma once

#include "call.h"
#include "decide.h"

/* Whether decisions are logged; set once, by gsh_decision_log_init. */
extern bool gsh_decision_log_is_on;

/* Reads the option. */
void gsh_decision_log_init(void);
/* The device's state in a word. */
const char *gsh_decision_log_device(void);
/* Writes the line. `verdict`: zeros where the call was declined before it was priced. `reason`: what became of it. */
void gsh_decision_log_write(const struct gsh_call *call, const struct gsh_verdict *verdict,
                            enum gsh_reason reason);
