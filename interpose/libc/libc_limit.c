/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes only the arena's reserve, before the real call. Functions are exported through assembler
 * labels, as in libc_io.c. Checked by tests/preload/test_robustness.py.
 */
#include "libc_limit.h"

#include "arena.h"
#include "libc_calls.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "libc_signal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_LIMIT)

/* Releases reserve to meet a new limit. A child between vfork and exec is skipped: it has its own
 * limits, but its parent's arena. */
static void make_room(pid_t pid, int resource, const struct rlimit *limit)
{
    int keep = errno;
    if ((resource == RLIMIT_AS || resource == RLIMIT_DATA) && limit != NULL &&
        (pid == 0 || pid == getpid()) && gsh_libc_signal_is_owner())
        gsh_arena_yield(limit->rlim_cur);
    gsh_libc_io_reach(limit, sizeof *limit, false);
    errno = keep;
}

/* Locked memory is populated, including the reserve. The reserve is released, and not reserved
 * again while MCL_FUTURE is set. */
static void yield_to_mlockall(int flags)
{
    int keep = errno;
    if (gsh_libc_signal_is_owner()) {
        gsh_arena_yield(0);
        gsh_arena_permit((flags & MCL_FUTURE) == 0);
    }
    errno = keep;
}

GSH_LIBC_CALLS_LIMIT(GSH_LIBC_REAL_ENTRY)

void gsh_libc_limit_resolve(void)
{
#define X(result, name, ...) FIND(name);
    GSH_LIBC_CALLS_LIMIT(X)
#undef X
}
