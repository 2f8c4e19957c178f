/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_DOCTOR=1: what was found and what works, on stderr.
 */
#pragma once

/* Prints device, NumPy, hooks and options: at once where `dormant` says why nothing was patched,
 * else (NULL) as soon as `import numpy` has ended, after calling each hook once through NumPy. GIL;
 * leaves no Python error behind. */
void gsh_doctor_schedule(const char *dormant);
