/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions are exported through assembler labels, as in libc_io.c. libc's exit does not call the exported _exit. Checked by
 * tests/preload/test_script_profile.py.
 */
#include "libc_exit.h"

#include "last_run.h"
#include "libc_calls.h"
#include "libc_real.h"
#include "stats.h"

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_EXIT)

static void leave_at_once(void)
{
    gsh_last_run_leave_at_once();
    gsh_stats_report_at_abrupt_exit_sigsafe();
}

GSH_LIBC_CALLS_EXIT(GSH_LIBC_REAL_ENTRY)

void gsh_libc_exit_resolve(void)
{
#define X(result, name, ...) FIND(name);
    GSH_LIBC_CALLS_EXIT(X)
#undef X
}
