/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands a launch to the file of its kind: column `host` of launch_kinds.def.
 */
#include "host_ops.h"

#include "host_draw.h"
#include "host_elementwise.h"
#include "host_filter.h"
#include "host_index.h"
#include "host_reduce.h"
#include "host_scan.h"
#include "host_selection.h"
#include "host_sort.h"
#include "host_spmv.h"

struct executor {
    bool (*supports)(const struct gsh_launch *launch); /* NULL: nothing */
    void (*run)(const struct gsh_launch *launch);
    enum gsh_status (*try)(const struct gsh_launch *launch); /* instead of run: it needs memory */
};

static const struct executor *executor_of(const struct gsh_launch *launch)
{
    static const struct executor none = {NULL, NULL, NULL},
                                 elementwise = {gsh_host_elementwise_supports,
                                                gsh_host_elementwise_run, NULL},
                                 reduce = {gsh_host_reduce_supports, gsh_host_reduce_run, NULL},
                                 scan = {gsh_host_scan_supports, gsh_host_scan_run, NULL},
                                 indexed = {gsh_host_index_supports, gsh_host_index_run, NULL},
                                 draw = {gsh_host_draw_supports, gsh_host_draw_run, NULL},
                                 sort = {gsh_host_sort_supports, NULL, gsh_host_sort_run},
                                 filter = {gsh_host_filter_supports, gsh_host_filter_run, NULL},
                                 spmv = {gsh_launch_is_spmv, gsh_host_spmv_run, NULL},
                                 selection = {gsh_launch_is_selection, gsh_host_selection_run,
                                              NULL},
                                 search = {gsh_host_sort_search_supports, gsh_host_sort_search,
                                           NULL};
    static const struct executor *const executors[] = {
#define X(kind, dtypes, errors, replay, host, ...) [GSH_LAUNCH_##kind] = &host,
#include "launch_kinds.def"
#undef X
    };
    return executors[launch->kind];
}

bool gsh_host_ops_supports(const struct gsh_launch *launch)
{
    const struct executor *executor = executor_of(launch);
    return executor->supports && executor->supports(launch);
}

enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch)
{
    if (!gsh_host_ops_supports(launch))
        return GSH_DECLINED;
    if (executor_of(launch)->try)
        return executor_of(launch)->try(launch);
    executor_of(launch)->run(launch);
    return GSH_OK;
}
