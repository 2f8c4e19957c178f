/* SPDX-License-Identifier: Apache-2.0
 *
 * sigaltstack, exported in front of libc's: page faults on arrays are served on a thread's alternate stack, so one on which
 * they do not fit is refused as too small, with one line, in programs with Python in them.
 */
#pragma once

#include "base.h"

/* Looks up the real function; in the constructor. with_python: NumPy may come. */
void gsh_libc_stack_resolve(bool with_python);
/* The bytes that a fault needs: the kernel's frame and the handler's. */
size_t gsh_libc_stack_need(void);
