/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of scipy.special (kernels/special_*.cuh) compiled as C. Used through host_math.h.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

#define SPECIAL static inline
#define SPECIAL_INLINE static inline
#define SPECIAL_INF ((double)INFINITY)
#define SPECIAL_NAN ((double)NAN)
#define SPECIAL_UNROLL
#define SPECIAL_TABLE static const

#include "special_base.cuh"

#include "special_bessel.cuh"
#include "special_certain.cuh"
#include "special_degrees.cuh"
#include "special_erf.cuh"
#include "special_exp_table.cuh"
#include "special_gamma.cuh"
#include "special_integrals.cuh"
#include "special_log.cuh"
#include "special_modified.cuh"
#include "special_sines.cuh"

#include "special_beta.cuh" /* these call functions of others */
#include "special_elliptic.cuh"
#include "special_incomplete.cuh"
#include "special_order.cuh"
#include "special_power.cuh"
#include "special_zeta.cuh"
