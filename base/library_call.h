/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls into a library that changes signal actions of the process, though the program has not called it. NVRTC 13.0 replaces
 * the actions of SIGINT, SIGTERM and SIGXFSZ in a process's first compilation, ends the process at such a signal, and sets
 * SIG_DFL afterwards.
 */
#pragma once

#include "base.h"

/* Whether the thread is in such a call. Its changes of actions seem to succeed and have no effect
 * (interpose/libc/libc_signal.c). Set by gsh_library_call_begin, cleared by gsh_library_call_end; calls do not nest. */
extern _Thread_local bool gsh_library_call_is_inside;

void gsh_library_call_begin(void);
void gsh_library_call_end(void);
