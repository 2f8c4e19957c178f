/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_DOCTOR=1: writes to stderr which components were found and which hooks work.
 */
#pragma once

#include "fmt.h"

/* Prints device, NumPy, hooks and options. `dormant` is the reason why nothing was patched: the
 * text is printed at once. NULL: gpushim is attached; the text is printed after `import numpy`,
 * after one call of each hook through NumPy. GIL; leaves no Python error. */
void gsh_doctor_schedule(const char *dormant);
/* Lines on the device, its libraries and their paths, as they are now. Any thread. */
void gsh_doctor_describe_device(struct gsh_fmt *fmt);
