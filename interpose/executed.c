/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library does where it is executed itself: it prints its version and how to use it (linked as its entry point). The loader
 * has relocated it by then, but no constructor has run, so this makes system calls only.
 */
#include "raw_syscall.h"
#include "version.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without it the kernel would enter the library unrelocated. */
static const char interpreter[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2";

void gsh_executed_enter(void) __attribute__((noreturn, force_align_arg_pointer));

static void print(const char *text)
{
    gsh_raw_syscall3(SYS_write, STDOUT_FILENO, (long)text, (long)strlen(text));
}

void gsh_executed_enter(void)
{
    __asm__ volatile("" : : "r"(interpreter)); /* linkers drop sections that nothing uses */
    print("gpushim ");
    print(gsh_version_get());
    print("\nLD_PRELOAD=THIS_FILE python script.py runs a NumPy script on an NVIDIA GPU; "
          "GPUSHIM_HELP=1 lists the options\n");
    for (;;)
        gsh_raw_syscall3(SYS_exit_group, 0, 0, 0);
}
