/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of numpy.random.Generator that several cores compute: random, uniform, standard_normal, normal, lognormal,
 * standard_exponential, exponential, integers.
 */
#pragma once

#include "python_api.h"

#include <stdbool.h>

/* Called before the module is opened. Hooks its methods once the package is imported. Any thread. */
void gsh_numpy_random_adopt_module(void);
/* A parameter of a distribution. False: not a finite plain number. */
bool gsh_numpy_random_parse_number(PyObject *object, double *number);
