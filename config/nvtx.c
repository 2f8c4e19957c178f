/* SPDX-License-Identifier: Apache-2.0 */
#include "nvtx.h"

#include "fmt.h"
#include "forked.h"
#include "options.h"
#include "stats.h"

_Atomic bool gsh_nvtx_is_on;

static void stop_in_child_after_fork(void)
{
    gsh_nvtx_is_on = false;
}

void gsh_nvtx_init(void)
{
    if (!gsh_option_number(GSH_OPTION_NVTX) || !gsh_nvtx_range_start())
        return;
    gsh_forked_add(NULL, NULL, stop_in_child_after_fork);
    gsh_nvtx_is_on = true;
}

bool gsh_nvtx_push_row(unsigned row)
{
    char name[80];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, name, sizeof name);
    gsh_stats_append_name(row, &fmt);
    return gsh_nvtx_range_push(name, 0);
}
