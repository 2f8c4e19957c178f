/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's constructor and destructor, which run in every process, with or without NumPy. The
 * constructor looks up the real functions, so that signal handlers and vfork children need no
 * lookup, and parses the options. The destructor writes the report if one was requested and NumPy
 * was found. Neither starts a thread, allocates, or touches a device, and the report is the only
 * output, but for a Python script whose profile says that the device will be wanted: its driver is opened from here on.
 * All else starts in gsh_numpy_attach.
 */
#include "blas_threads.h"
#include "decision_file.h"
#include "last_run.h"
#include "libc_direct.h"
#include "libc_dlopen.h"
#include "libc_environment.h"
#include "libc_exit.h"
#include "libc_files.h"
#include "libc_fork.h"
#include "libc_io.h"
#include "libc_limit.h"
#include "libc_memory.h"
#include "libc_signal.h"
#include "libc_stack.h"
#include "options.h"
#include "requirement.h"
#include "stats.h"
#include "verify_ledger.h"
#include "wall_time.h"

/* A weak reference to Python, which is not linked: NULL in a program that is not linked to Python.
 * A dlsym lookup would allocate an error text in every such program. */
extern int Py_IsInitialized(void) __attribute__((weak));

__attribute__((constructor)) static void load(void)
{
    gsh_wall_time_note_load();
    gsh_libc_direct_resolve();
    gsh_options_init();
    gsh_libc_environment_resolve();
    if (gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_AUTO)
        gsh_blas_threads_sleep_soon();
    gsh_libc_exit_resolve();
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
    if (with_python)
        gsh_last_run_foresee();
}

/* After the program's own exit functions. */
__attribute__((destructor)) static void unload(void)
{
    gsh_decision_file_flush();
    gsh_verify_ledger_tell_at_exit();
    gsh_stats_report_at_exit();
    gsh_requirement_at_exit();
}
