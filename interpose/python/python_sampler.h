/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that stops the main thread's Python code some hundred times a second, by taking the GIL, and shows its stack.
 */
#pragma once

#include "python_place.h"

/* Begins. The callback gets the main thread's innermost frames and the nanoseconds since the last call; it runs in the sampler's
 * thread, with the GIL, and calls nothing of Python's that could run Python code. The sampler ends when the interpreter calls what
 * is registered with atexit. Called once, by the main thread, with the GIL; leaves no Python error. False: there are no samples. */
bool gsh_python_sampler_begin(void (*callback)(const struct gsh_python_place_frame *frames,
                                               unsigned count, uint64_t ns));
