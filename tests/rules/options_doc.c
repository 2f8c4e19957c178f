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
           "Where\nan option has words of its own, off is `off`, `none`, `ignore` or `warn`, and "
           "on is `auto`, `info`, "
           "`deferred` or\n`warn`, the first of them that it has. `GPUSHIM_REPORT` and "
           "`GPUSHIM_VERIFY` know both words, and other "
           "texts with\nthe value 0 know off: a file of such a name is `./off`. Numbers may have "
           "an exponent of ten (`1e6`), or "
           "one of\nK, M, G, T for powers of 1024 (`64K`, `2GiB`). An unknown name, or word, is "
           "answered with the nearest one.\n\n%s",
           text);
    return 0;
}
