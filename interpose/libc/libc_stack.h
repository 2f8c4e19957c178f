/* SPDX-License-Identifier: Apache-2.0
 *
 * sigaltstack, exported in front of libc's. Page faults on arrays are handled on a thread's
 * alternate stack. In programs with Python, a stack that is too small for that is refused, with one
 * line in the log.
 */
#pragma once

#include "base.h"

/* Looks up the real function. Called by the constructor. with_python: NumPy may be loaded. */
void gsh_libc_stack_resolve(bool with_python);
/* The bytes that a fault needs: the kernel's frame and the handler's frames. */
size_t gsh_libc_stack_need(void);
