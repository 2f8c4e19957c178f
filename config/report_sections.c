/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of sections.
 */
#include "report_sections.h"

#include "base.h"

enum { MOST = 8 };

static const struct gsh_report_section *sections[MOST];
static unsigned count;

void gsh_report_sections_add(const struct gsh_report_section *section)
{
    if (count < MOST)
        sections[count++] = section;
}

void gsh_report_sections_text(struct gsh_fmt *fmt)
{
    for (unsigned i = 0; i < count; i++)
        if (sections[i]->append_text != NULL)
            sections[i]->append_text(fmt);
}

void gsh_report_sections_json(struct gsh_fmt *fmt)
{
    for (unsigned i = 0; i < count; i++) {
        if (sections[i]->key == NULL)
            continue;
        gsh_fmt_printf(fmt, ",\n \"%s\": ", sections[i]->key);
        sections[i]->append_json(fmt);
    }
}
