/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls by the syscall instruction. The library interposes libc's memory functions and `syscall`, so its calls
 * on its own pages must not go through them. Async-signal-safe; keeps errno.
 */
#pragma once

#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

/* Returns the kernel's result: on failure a negative errno number. */
static inline long gsh_raw_syscall5(long number, long a, long b, long c, long d, long e)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long gsh_raw_syscall3(long number, long a, long b, long c)
{
    return gsh_raw_syscall5(number, a, b, c, 0, 0);
}
