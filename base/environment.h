/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables that getenv finds although the environment lacks them (interpose/libc/libc_environment.c): arguments for a
 * library that reads its arguments from the environment. setenv would change it for the process's children too, and is
 * not safe beside other threads that read it.
 */
#pragma once

/* Until this thread's next call, its getenv finds `name` with this value where the environment does not have it. Both strings live
 * as long; NULL, NULL: no variable. */
void gsh_environment_add(const char *name, const char *value);
/* From now on all threads find `name` with this value where the environment does not have it. Once, before there are other threads. Both
 * strings live as long as the process. */
void gsh_environment_set_default(const char *name, const char *value);
/* The value that this thread has added for `name`, or its default; NULL: none. */
char *gsh_environment_added(const char *name);
