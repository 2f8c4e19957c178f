/* SPDX-License-Identifier: Apache-2.0
 *
 * Monotonic time. Safe in a signal handler (clock_gettime is).
 */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t gsh_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
