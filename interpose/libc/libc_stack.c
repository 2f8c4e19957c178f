/* SPDX-License-Identifier: Apache-2.0
 *
 * The function is exported through an assembler label, as in libc_io.c.
 * tests/unit/interpose/libc/test_libc_stack.c measures how much stack a fault uses.
 */
#include "libc_stack.h"

#include "libc_calls.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "log.h"
#include "raw_syscall.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#ifndef ARCH_GET_XCOMP_PERM
#define ARCH_GET_XCOMP_PERM 0x1022 /* Linux 5.16 */
#endif
#define XSAVE_LEAF 0xd /* of CPUID: a sub-leaf for each state component (Intel SDM 1, 13.2) */
#define TILE_DATA 18U  /* state component of AMX's registers */

#define HANDLER_BYTES 3072 /* stack used by gsh_fault's handler and its callees */

GSH_EXPORT int entry_sigaltstack(const stack_t *stack, stack_t *old) __asm__("sigaltstack");

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_STACK)

static bool expects_numpy; /* constant once loaded */

/* The part of AT_MINSIGSTKSZ for AMX's registers. Only frames of processes that requested AMX from
 * the kernel contain them (Documentation/arch/x86/xstate.rst). */
static size_t find_unused_tile_bytes(void)
{
    uint64_t permitted = 0;
    unsigned size = 0, offset, flags, unused;
    if (gsh_raw_syscall3(SYS_arch_prctl, ARCH_GET_XCOMP_PERM, (long)&permitted, 0) != 0 ||
        (permitted >> TILE_DATA & 1) != 0)
        return 0;
    return __get_cpuid_count(XSAVE_LEAF, TILE_DATA, &size, &offset, &flags, &unused) ? size : 0;
}

size_t gsh_libc_stack_need(void)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ); /* 0 before Linux 5.14 */
    return GSH_MAX(frame - GSH_MIN(frame, find_unused_tile_bytes()), 2048) + HANDLER_BYTES;
}

/* Whether the stack must be refused. Stacks that the kernel itself refuses are left to it. */
static bool is_too_small(const stack_t *stack)
{
    return stack != NULL && !(stack->ss_flags & SS_DISABLE) && stack->ss_size >= 2048 &&
           stack->ss_size < gsh_libc_stack_need();
}

/* Fetches the arguments. A stack in an array stays pinned until the array is freed, since the
 * kernel cannot fault on it. */
static void open_memory(const stack_t *stack, stack_t *old)
{
    gsh_libc_io_reach(stack, sizeof *stack, false);
    gsh_libc_io_reach(old, sizeof *old, true);
    if (stack != NULL && !(stack->ss_flags & SS_DISABLE) &&
        gsh_arena_overlaps(stack->ss_sp, stack->ss_size))
        gsh_coherence_pin(stack->ss_sp, stack->ss_size, true);
}

int entry_sigaltstack(const stack_t *stack, stack_t *old)
{
    open_memory(stack, old);
    if (!expects_numpy || !is_too_small(stack))
        return REAL(sigaltstack)(stack, old);
    static _Atomic bool is_told;
    if (!atomic_exchange(&is_told, true))
        gsh_log_sigsafe("an alternate signal stack of less than 8 KiB is refused: page faults on "
                        "arrays are served on it");
    errno = ENOMEM;
    return -1;
}

void gsh_libc_stack_resolve(bool with_python)
{
    FIND(sigaltstack);
    expects_numpy = with_python;
}
