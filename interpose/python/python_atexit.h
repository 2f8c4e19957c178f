/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of ours among those of Python's module atexit, which run before the interpreter takes modules down.
 */
#pragma once

#include "python_api.h"

/* Registers the function of no arguments; `definition` lives as long as the process. Functions registered last run first. False: it
 * was not registered. Leaves no Python error. GIL. */
bool gsh_python_atexit_register(struct gsh_pymethoddef *definition);
