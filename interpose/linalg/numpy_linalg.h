/* SPDX-License-Identifier: Apache-2.0
 *
 * The gufuncs of numpy.linalg._umath_linalg that have a row in lapack.def (see gsh_gufunc_offer).
 * Their loops are registered with the host device.
 */
#pragma once

#include "numpy_ufunc.h"

gsh_ufunc_handler gsh_numpy_linalg_offer(const struct gsh_ufunc *ufunc);
