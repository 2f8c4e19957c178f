/* SPDX-License-Identifier: Apache-2.0
 *
 * Equal operations that follow each other are one word; what is beyond a few words is a number.
 */
#include "node_group_row.h"

#include "stats.h"

#include <string.h>

enum { MOST_WORDS = 5, NAME = 96, MOST_ROWS = GSH_STATS_MAX_ROWS / 2 };

static bool is_sink(const struct gsh_node *node)
{
    return gsh_launch_has(&node->launch, GSH_TRAIT_REDUCES);
}

/* The item's node from `index` on that is a sink, or not; node_count: there is none. */
static unsigned next_of(const struct gsh_plan_item *item, const struct gsh_node *nodes,
                        unsigned index, bool sinks)
{
    while (index < item->node_count && is_sink(&nodes[item->nodes[index]]) != sinks)
        index++;
    return index;
}

/* The words of the item's sinks, or of the others. */
static void append_words(struct gsh_fmt *fmt, const struct gsh_plan_item *item,
                         const struct gsh_node *nodes, bool sinks)
{
    unsigned words = 0, left = 0;
    for (unsigned index = next_of(item, nodes, 0, sinks); index < item->node_count;) {
        const char *name = gsh_launch_name(&nodes[item->nodes[index]].launch);
        unsigned times = 0;
        for (; index < item->node_count &&
               strcmp(gsh_launch_name(&nodes[item->nodes[index]].launch), name) == 0;
             times++)
            index = next_of(item, nodes, index + 1, sinks);
        if (words++ >= MOST_WORDS) {
            left += times;
            continue;
        }
        gsh_fmt_printf(fmt, "%s%s", words > 1 ? ", " : "", name);
        if (times > 1)
            gsh_fmt_printf(fmt, " x%u", times);
    }
    if (left > 0)
        gsh_fmt_printf(fmt, ", %u more", left);
}

void gsh_node_group_row_append(struct gsh_fmt *fmt, const struct gsh_plan_item *item,
                               const struct gsh_node *nodes)
{
    bool has_steps = next_of(item, nodes, 0, false) < item->node_count;
    bool has_sinks = next_of(item, nodes, 0, true) < item->node_count;
    gsh_fmt_text(fmt, "group: ");
    append_words(fmt, item, nodes, false);
    if (has_sinks)
        gsh_fmt_text(fmt, has_steps ? " -> " : "");
    append_words(fmt, item, nodes, true);
}

/* The row of all of the item's nodes; 0: they have several. */
static unsigned common_row(const struct gsh_plan_item *item, const struct gsh_node *nodes)
{
    unsigned row = nodes[item->nodes[0]].row;
    for (unsigned index = 1; index < item->node_count; index++)
        if (nodes[item->nodes[index]].row != row)
            return 0;
    return row;
}

unsigned gsh_node_group_row_locked(const struct gsh_plan_item *item, const struct gsh_node *nodes)
{
    static unsigned others;
    char name[NAME];
    struct gsh_fmt fmt;
    unsigned row = common_row(item, nodes);
    if (row != 0)
        return row;
    if (others == 0)
        others = gsh_stats_row("groups", "");
    if (!gsh_stats_report_is_wanted() || gsh_stats_row_count() >= MOST_ROWS)
        return others;
    gsh_fmt_init(&fmt, name, sizeof name);
    gsh_node_group_row_append(&fmt, item, nodes);
    return gsh_stats_row(name, "");
}
