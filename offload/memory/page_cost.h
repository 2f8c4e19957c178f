/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds that NumPy alone would have taken for the pages of large new arrays, which have those of earlier ones here: for the verdict's
 * estimate of a plain run, and for nothing that is decided. What new pages take is measured once, where the first such array is made: 0.1
 * us to 3 us for each 4 KiB, by machine. Any thread that holds no lock of ours.
 */
#pragma once

#include "base.h"

/* An array of `size` bytes is made in memory of which `bytes` have pages. Counts only what malloc would have mapped
 * (GSH_PLAIN_TIME_MAPPED), and only where times are wanted. */
void gsh_page_cost_note_reused(size_t size, size_t bytes);
