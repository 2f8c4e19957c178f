/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of numpy.random.RandomState (np.random.rand, randn, randint ... are those of one) over MT19937. The device makes the
 * generator's words; numpy_composed_legacy.py and numpy_composed_polar.py make the method's numbers of them. Without a device they are
 * left to NumPy.
 */
#pragma once

#include "numpy_method_patch.h"

#define GSH_NUMPY_LEGACY_METHODS 34
extern struct gsh_method_hook *const gsh_numpy_legacy_hooks[GSH_NUMPY_LEGACY_METHODS];
