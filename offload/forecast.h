/* SPDX-License-Identifier: Apache-2.0
 *
 * The forecast: what the program would take on a GPU that is not there. The emulated device runs the program as a GPU would: which
 * calls it gets, what is fused, what is resident, and when the host fetches it. It decides by the rates of the GPU that option
 * ADVISE names, and what each kernel and transfer would take there is added up. The report has the sums under the key `forecast`
 * (docs/user/report.md). Checked by tests/preload/test_advise.py.
 */
#pragma once

#include "status.h"

/* The value of ADVISE for a run whose time is measured, line by line, on the CPU, and which has no forecast. */
#define GSH_FORECAST_MEASURE "measure"

/* A value of ADVISE that names no GPU, or a device that is not the emulated one, gives a line on stderr. Once, when NumPy is found. */
void gsh_forecast_check(void);
/* Puts the forecast's device in place of the emulated one, where ADVISE is set; else nothing. FAILED: no such GPU, or the device
 * chosen is another. Called once, by gsh_startup. */
enum gsh_status gsh_forecast_begin(void);
