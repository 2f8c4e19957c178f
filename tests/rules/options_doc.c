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
           "`make docs`; do not edit.\n\n%s",
           text);
    return 0;
}
