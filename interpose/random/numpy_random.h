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

#define GSH_NUMPY_RANDOM_MOST_ITEMS 16
/* A parameter that is a list of numbers, two or more. */
struct gsh_numpy_random_list {
    double items[GSH_NUMPY_RANDOM_MOST_ITEMS];
    unsigned count;
};
/* False: not a list or a tuple of 2 to GSH_NUMPY_RANDOM_MOST_ITEMS such numbers. */
bool gsh_numpy_random_parse_list(PyObject *object, struct gsh_numpy_random_list *list);
