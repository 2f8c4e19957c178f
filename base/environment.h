/* SPDX-License-Identifier: Apache-2.0
 *
 * A variable that getenv finds on one thread although the environment lacks it (interpose/libc/libc_environment.c): an argument for a
 * library that reads its arguments from the environment. setenv would change it for the whole process and its children, and is
 * not safe beside other threads that read it.
 */
#pragma once

/* Until this thread's next call, its getenv finds `name` with this value where the environment does not have it. Both strings live
 * as long; NULL, NULL: no variable. */
void gsh_environment_add(const char *name, const char *value);
/* The value that this thread has added for `name`; NULL: none. */
char *gsh_environment_added(const char *name);
