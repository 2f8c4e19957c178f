/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank filters as one launch, for the compositions of scipy.ndimage's and scipy.signal's (numpy_composed_images.py). GIL.
 */
#pragma once

#include <stdbool.h>

/* Offers select_ranked(padded, offsets, rank, output) to the compositions: output[x] = the element of that rank among padded[x + offset],
 * for all offsets of the list, each in elements of `padded`, which is in C order. True: so it is computed; false: nothing was
 * changed. False where it cannot be offered. */
bool gsh_scipy_select_offer(void);
