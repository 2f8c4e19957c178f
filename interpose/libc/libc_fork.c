/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions are exported through assembler labels, as in libc_io.c. Checked by
 * tests/preload/test_raw_fork.py.
 */
#include "libc_fork.h"

#include "critical.h"
#include "forked.h"
#include "libc_calls.h"
#include "libc_real.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

typedef int clone_body(void *argument);

#define X(result, name, parameters, arguments)                                                     \
    GSH_EXPORT result entry_##name parameters __asm__(#name);
GSH_LIBC_CALLS_FORK(X)
#undef X

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_FORK)

static bool may_prepare(void)
{
    return !gsh_critical_is_inside() && gsh_critical_here.handlers == 0;
}

static long call_fork(void *unused)
{
    (void)unused;
    return REAL(_Fork)();
}

pid_t entry__Fork(void)
{
    return may_prepare() ? (pid_t)gsh_forked_around(call_fork, NULL) : REAL(_Fork)();
}

/* ---- clone ---- */

struct clone_request {
    clone_body *body;
    void *argument;
};

/* Runs in the child on its own stack. The request is the child's copy. */
static int run_child(void *argument)
{
    struct clone_request request = *(struct clone_request *)argument;
    gsh_forked_child_after_fork();
    return request.body(request.argument);
}

int entry_clone(clone_body *body, void *stack, int flags, void *argument, void *parent, void *tls,
                void *child)
{
    if ((flags & CLONE_VM) || body == NULL || stack == NULL || !may_prepare())
        return REAL(clone)(body, stack, flags, argument, parent, tls, child);
    struct clone_request request = {.body = body, .argument = argument};
    gsh_forked_prepare();
    int outcome = REAL(clone)(run_child, stack, flags, &request, parent, tls, child);
    int keep = errno;
    gsh_forked_parent();
    errno = keep;
    return outcome;
}

void gsh_libc_fork_resolve(void)
{
#define X(result, name, parameters, arguments) FIND(name);
    GSH_LIBC_CALLS_FORK(X)
#undef X
}
