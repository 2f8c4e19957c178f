/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands a launch to the file of its kind: column `host` of launch_kinds.def.
 */
#include "host_ops.h"

#include "host_draw.h"
#include "host_elementwise.h"
#include "host_index.h"
#include "host_reduce.h"
#include "host_scan.h"

struct executor {
    bool (*supports)(const struct gsh_launch *launch); /* NULL: nothing */
    void (*run)(const struct gsh_launch *launch);
};

static const struct executor *executor_of(const struct gsh_launch *launch)
{
    static const struct executor none = {NULL, NULL},
                                 elementwise = {gsh_host_elementwise_supports,
                                                gsh_host_elementwise_run},
                                 reduce = {gsh_host_reduce_supports, gsh_host_reduce_run},
                                 scan = {gsh_host_scan_supports, gsh_host_scan_run},
                                 indexed = {gsh_host_index_supports, gsh_host_index_run},
                                 draw = {gsh_host_draw_supports, gsh_host_draw_run};
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
    executor_of(launch)->run(launch);
    return GSH_OK;
}
