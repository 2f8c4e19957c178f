/* SPDX-License-Identifier: Apache-2.0
 *
 * The name comes through an assembler label, as in libc_io.c. What a fault uses of a stack is measured by
 * tests/unit/test_libc_stack.c.
 */
#include "libc_stack.h"

#include "libc_io.h"
#include "libc_real.h"
#include "log.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>

#define HANDLER_BYTES 3072 /* of gsh_fault's handler, with what it calls */

#define STACK_CALLS(X) X(int, sigaltstack, (const stack_t *stack, stack_t *old), (stack, old))

GSH_EXPORT int entry_sigaltstack(const stack_t *stack, stack_t *old) __asm__("sigaltstack");

GSH_LIBC_REAL_TABLE(STACK_CALLS)

static bool expects_numpy; /* constant once loaded */

size_t gsh_libc_stack_need(void)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ); /* 0 before Linux 5.14 */
    return GSH_MAX(frame, 2048) + HANDLER_BYTES;
}

/* What the kernel itself refuses is left to it. */
static bool is_too_small(const stack_t *stack)
{
    return stack != NULL && !(stack->ss_flags & SS_DISABLE) && stack->ss_size >= 2048 &&
           stack->ss_size < gsh_libc_stack_need();
}

/* A stack in an array stays open until the array is freed: the kernel does not fault on it either. */
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
