/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens when the library is loaded into a process, NumPy's or not, and when that ends: the
 * functions that ours stand in front of are looked up, so that no signal handler and no vfork child
 * finds one missing; the options are parsed; at exit the report is written where one was asked for
 * and NumPy was found. No thread, no allocation, no output, no device here: all else waits for
 * gsh_numpy_attach.
 */
#include "libc_dlopen.h"
#include "libc_files.h"
#include "libc_fork.h"
#include "libc_io.h"
#include "libc_limit.h"
#include "libc_memory.h"
#include "libc_own.h"
#include "libc_signal.h"
#include "libc_stack.h"
#include "options.h"
#include "stats.h"

/* Of Python, which is not linked: NULL in a program that starts without it. A search with dlsym would allocate the text of
 * its error in every such program. */
extern int Py_IsInitialized(void) __attribute__((weak));

__attribute__((constructor)) static void load(void)
{
    gsh_libc_own_resolve();
    gsh_options_init();
    gsh_libc_files_resolve();
    gsh_libc_fork_resolve();
    gsh_libc_io_resolve();
    gsh_libc_limit_resolve();
    gsh_libc_memory_resolve();
    bool with_python =
        gsh_option_number(GSH_OPTION_MODE) != GSH_MODE_OFF && Py_IsInitialized != NULL;
    gsh_libc_signal_resolve(with_python);
    gsh_libc_stack_resolve(with_python);
    gsh_libc_dlopen_resolve();
}

/* After the program's own exit functions. */
__attribute__((destructor)) static void unload(void)
{
    gsh_stats_report_at_exit();
}
