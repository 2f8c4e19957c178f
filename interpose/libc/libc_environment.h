/* SPDX-License-Identifier: Apache-2.0
 *
 * getenv: the environment, and what the thread has added to it (environment.h).
 */
#pragma once

/* Looks up the real function. */
void gsh_libc_environment_resolve(void);
