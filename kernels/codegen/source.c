/* SPDX-License-Identifier: Apache-2.0
 *
 * The way in: each kind of launch has a file of its own: column `source` of launch_kinds.def.
 */
#include "source.h"

#include "source_draw.h"
#include "source_index.h"
#include "source_parts.h"
#include "source_scan.h"
#include "source_sort.h"

struct maker {
    size_t (*scratch)(const struct gsh_launch *launch); /* NULL: none needed */
    enum gsh_status (*plan)(const struct gsh_launch *launch, uint64_t scratch,
                            struct gsh_source_plan *plan);
    void (*text)(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt);
    bool (*is_made)(const struct gsh_launch *launch); /* of a grid that fits; NULL: not known */
};

static const struct maker *maker_of(const struct gsh_launch *launch)
{
    static const struct maker
        none = {NULL, NULL, NULL, NULL},
        elementwise = {NULL, gsh_source_elementwise_plan, gsh_source_elementwise_text,
                       gsh_source_elementwise_is_made},
        reduce = {gsh_source_reduce_scratch, gsh_source_reduce_plan, gsh_source_reduce_text,
                  gsh_source_reduce_is_made},
        scan = {gsh_source_scan_scratch, gsh_source_scan_plan, gsh_source_scan_text, NULL},
        compress = {gsh_source_compress_scratch, gsh_source_compress_plan, gsh_source_compress_text,
                    NULL},
        product = {gsh_source_product_scratch, gsh_source_product_plan, gsh_source_product_text,
                   gsh_source_product_is_made},
        indexed = {gsh_source_index_scratch, gsh_source_index_plan, gsh_source_index_text,
                   gsh_source_index_is_made},
        draw = {gsh_source_draw_scratch, gsh_source_draw_plan, gsh_source_draw_text, NULL},
        sort = {gsh_source_sort_scratch, gsh_source_sort_plan, gsh_source_sort_text, NULL},
        filter = {NULL, gsh_source_filter_plan, gsh_source_filter_text, gsh_source_filter_is_made},
        spmv = {NULL, gsh_source_spmv_plan, gsh_source_spmv_text, gsh_launch_is_spmv},
        selection = {NULL, gsh_source_selection_plan, gsh_source_selection_text,
                     gsh_launch_is_selection},
        search = {NULL, gsh_source_search_plan, gsh_source_search_text, NULL};
    static const struct maker *const makers[] = {
#define X(kind, dtypes, errors, replay, host, source, ...) [GSH_LAUNCH_##kind] = &source,
#include "launch_kinds.def"
#undef X
    };
    return makers[launch->kind];
}

size_t gsh_source_scratch(const struct gsh_launch *launch)
{
    const struct maker *maker = maker_of(launch);
    return maker->scratch ? maker->scratch(launch) : 0;
}

enum gsh_status gsh_source_plan(const struct gsh_launch *launch, uint64_t scratch,
                                struct gsh_source_plan *plan)
{
    const struct maker *maker = maker_of(launch);
    return maker->plan ? maker->plan(launch, scratch, plan) : GSH_DECLINED;
}

/* So few elements never exceed a grid. */
bool gsh_source_is_certain(const struct gsh_launch *launch)
{
    const struct maker *maker = maker_of(launch);
    int64_t elements = gsh_launch_elements(launch);
    return maker->is_made != NULL && elements > 0 && elements <= INT32_MAX &&
           maker->is_made(launch);
}

void gsh_source_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    const struct maker *maker = maker_of(launch);
    if (maker->text)
        maker->text(launch, stage, fmt);
}
