/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints docs/user/options.md from the options table.
 */
#include "options.h"

#include <stdio.h>

int main(void)
{
    static char text[1 << 16];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_options_help(&fmt, true);
    if (fmt.length != fmt.required)
        return 1;
    printf("# Options\n\n"
           "Environment variables, read once when the library is loaded. A bad value keeps the "
           "default and is\n"
           "reported by one line on stderr, as is a `GPUSHIM_` name that is not in this table; "
           "both only in\n"
           "processes that load NumPy. `GPUSHIM_HELP=1` prints the table. Made from "
           "`config/options.def` by\n"
           "`make docs`; do not edit.\n\n"
           "For on and off, `1`, `yes`, `on`, `true` and `0`, `no`, `off`, `false` may be written, "
           "in any case. "
           "With\n`GPUSHIM_MODE` they mean `auto` and `off`. Numbers may have an exponent of ten "
           "(`1e6`), or one of "
           "K, M, G, T for\npowers of 1024 (`64K`, `2GiB`). An unknown name is answered with the "
           "nearest one.\n\n%s",
           text);
    return 0;
}
