/* SPDX-License-Identifier: Apache-2.0
 *
 * The profile that a run of a script leaves for the next one, in mode auto: a run whose gains paid for the start of the device
 * leaves one. The next run opens the driver while the interpreter starts, starts the device while the script still imports,
 * and opens the libraries that were used. A run that does not pay removes it (policy/script_profile.h). A process without a
 * profile creates nothing here: no thread, no file.
 */
#pragma once

/* Called once, as the process begins, by its only thread, before the interpreter's own start: reads the profile, and begins
 * to open the device's driver if a start pays. No locks held; allocates no memory unless it begins. */
void gsh_last_run_foresee(void);
/* Called once, after gsh_startup, by the thread that loads NumPy: begins to start the device if it pays. Reads the profile where
 * gsh_last_run_foresee was not called. No locks held. Without effect where option PROFILE is 0. */
void gsh_last_run_resume(void);
/* Called once, at the end of the interpreter: leaves the profile, or removes it. Without effect in forked children, and where
 * gsh_last_run_resume found no script. */
void gsh_last_run_leave(void);
/* The same, for a process that is about to end by _exit, perhaps in a signal handler: takes no lock, allocates nothing. Whichever
 * of the two is called first leaves it. Without effect also in children of vfork, and where a signal handler interrupted
 * a critical section. */
void gsh_last_run_leave_at_once(void);
