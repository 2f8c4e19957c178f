/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of numpy.random.Generator whose numbers are exact functions of others that the device draws: rayleigh, standard_cauchy,
 * triangular, gumbel, laplace, logistic, geometric, binomial, poisson, weibull, logseries, zipf, multinomial, dirichlet, hypergeometric, and those of the gamma distribution's
 * family. Without a device they are left to NumPy.
 */
#pragma once

#include "numpy_method_patch.h"

#define GSH_NUMPY_DERIVED_METHODS 24
extern struct gsh_method_hook *const gsh_numpy_derived_hooks[GSH_NUMPY_DERIVED_METHODS];
