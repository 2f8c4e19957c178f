/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls made by the instruction itself. The library exports libc's functions of memory, and `syscall`, in front of
 * libc's: its own calls on its own pages must not be taken for the program's. Async-signal-safe; errno is left alone.
 */
#pragma once

#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

/* The kernel's result: a negative number of errno where the call failed. */
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
