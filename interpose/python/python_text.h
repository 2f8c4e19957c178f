/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of Python's str objects.
 */
#pragma once

#include "python_api.h"

/* The UTF-8 of a str, which owns it. NULL: the object is no str, or has no UTF-8 (names of files that are not UTF-8 have lone surrogates,
 * PEP 383); no exception is left. GIL. */
const char *gsh_python_text_utf8(PyObject *object);
