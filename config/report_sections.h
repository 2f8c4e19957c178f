/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the report (stats.h) that other folders add to it: what their tables say, behind the counters. They are added at start,
 * before there are other threads, and stay.
 */
#pragma once

#include "fmt.h"

struct gsh_report_section {
    /* Lines behind the report's text, each with its line's end; NULL: none. Called twice, once to measure. It may be called in the
     * handler of a signal that ends the process: it takes no lock that may be held, and allocates nothing. */
    void (*append_text)(struct gsh_fmt *fmt);
    const char *key; /* in JSON; NULL: not there */
    /* The JSON value of that key. The same holds. */
    void (*append_json)(struct gsh_fmt *fmt);
};

/* At most 8; more are left out. The section is kept, not copied. */
void gsh_report_sections_add(const struct gsh_report_section *section);
void gsh_report_sections_text(struct gsh_fmt *fmt);
/* Each as ,\n "key": value */
void gsh_report_sections_json(struct gsh_fmt *fmt);
