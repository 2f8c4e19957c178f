/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over the report's rows.
 */
#include "report_reasons.h"

#include "reasons.h"
#include "stats.h"

static void add_row(const struct gsh_stats_row_copy *row,
                    struct gsh_report_reason all[GSH_REASON_COUNT])
{
    for (unsigned i = 0; i < GSH_REASON_COUNT; i++) {
        all[i].seconds += (double)row->reason_ns[i] * 1e-9;
        all[i].calls += row->reasons[i];
    }
}

/* Puts the reason among those that are sorted, if it costs more than one of them. */
static void insert(const struct gsh_report_reason *reason,
                   struct gsh_report_reason reasons[GSH_REPORT_REASONS])
{
    struct gsh_report_reason moved = *reason;
    for (unsigned i = 0; i < GSH_REPORT_REASONS; i++) {
        const struct gsh_report_reason here = reasons[i];
        if (here.code != NULL && here.seconds >= moved.seconds)
            continue;
        reasons[i] = moved;
        moved = here;
    }
}

void gsh_report_reasons_take(struct gsh_report_reason reasons[GSH_REPORT_REASONS])
{
    struct gsh_report_reason all[GSH_REASON_COUNT] = {0};
    struct gsh_stats_row_copy row;
    for (unsigned i = 0; i < gsh_stats_row_count(); i++)
        if (gsh_stats_get_row(i, &row))
            add_row(&row, all);
    for (unsigned i = 0; i < GSH_REASON_COUNT; i++) {
        all[i].code = gsh_reason_codes[i];
        all[i].text = gsh_reason_texts[i];
        all[i].advice = gsh_reason_advice[i];
        if (all[i].calls > 0)
            insert(&all[i], reasons);
    }
}
