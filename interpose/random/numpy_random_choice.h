/* SPDX-License-Identifier: Apache-2.0
 *
 * choice of numpy.random.Generator and RandomState with probabilities that are on the device, and with replacement. NumPy itself adds them
 * up on the CPU before it draws; the rest of its way is the same here (numpy_composed_draws.py).
 */
#pragma once

#include "numpy_method_patch.h"

#define GSH_NUMPY_RANDOM_CHOICES 2
extern struct gsh_method_hook *const gsh_numpy_random_choice_hooks[GSH_NUMPY_RANDOM_CHOICES];
