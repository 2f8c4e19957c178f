/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "coherence_stop.h"

#include "fmt.h"
#include "log.h"

#include <stdlib.h>

_Noreturn void gsh_coherence_stop_sigsafe(const struct gsh_block *block, const char *why)
{
    char text[200];
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, text, sizeof text);
    gsh_fmt_text_sigsafe(&fmt, why);
    gsh_fmt_text_sigsafe(&fmt, ": the array at ");
    gsh_fmt_hex_sigsafe(&fmt, block->base);
    gsh_fmt_text_sigsafe(&fmt, " of ");
    gsh_fmt_decimal_sigsafe(&fmt, block->size);
    gsh_fmt_text_sigsafe(&fmt, " bytes; stopping rather than going on with wrong numbers");
    gsh_log_sigsafe(text);
    abort();
}
