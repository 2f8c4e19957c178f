/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over the few operations of a line.
 */
#include "line_facts.h"

#include <string.h>
#include <unistd.h>

const char *gsh_line_facts_name(const struct gsh_line_profile_call *call, const char **signature)
{
    struct gsh_stats_row_copy names;
    (void)gsh_stats_get_row(call->row, &names);
    *signature = names.signature;
    return names.name;
}

static uint64_t count_elements(const struct gsh_line_profile_copy *line)
{
    uint64_t count = 0;
    const char *signature;
    for (unsigned i = 0; i < GSH_LINE_PROFILE_CALLS; i++)
        if (line->calls[i].is_on_device &&
            strcmp(gsh_line_facts_name(&line->calls[i], &signature), "element") == 0)
            count += line->calls[i].calls;
    return count;
}

struct gsh_line_facts gsh_line_facts_of(const struct gsh_line_profile_copy *line)
{
    enum gsh_reason top = gsh_stats_top_reason(line->reasons, line->reason_ns);
    return (struct gsh_line_facts){line, count_elements(line), top};
}

const struct gsh_line_profile_call *
gsh_line_facts_top_call(const struct gsh_line_profile_copy *line)
{
    const struct gsh_line_profile_call *top = NULL;
    for (unsigned i = 0; i < GSH_LINE_PROFILE_CALLS; i++) {
        const struct gsh_line_profile_call *call = &line->calls[i];
        if (call->calls == 0 || (top != NULL && call->is_on_device && !top->is_on_device))
            continue;
        if (top == NULL || top->is_on_device != call->is_on_device || call->calls > top->calls)
            top = call;
    }
    return top;
}

const char *gsh_line_facts_file(const char *file)
{
    char folder[1024];
    size_t length = getcwd(folder, sizeof folder) != NULL ? strlen(folder) : 0;
    bool is_inside = length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/';
    return is_inside ? file + length + 1 : file;
}
