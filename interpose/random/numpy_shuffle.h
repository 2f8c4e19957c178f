/* SPDX-License-Identifier: Apache-2.0
 *
 * shuffle of numpy.random.Generator and RandomState, and with it permutation and permuted, of an array that is on the device, along its first
 * axis. The device makes the generator's words; numpy_composed_shuffle.py makes the order of them. Other arrays are left to NumPy.
 */
#pragma once

#include "numpy_method_patch.h"

#define GSH_NUMPY_SHUFFLES 2
extern struct gsh_method_hook *const gsh_numpy_shuffle_hooks[GSH_NUMPY_SHUFFLES];
