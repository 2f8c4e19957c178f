/* SPDX-License-Identifier: Apache-2.0
 *
 * The share is made of the report's rows, so the report's numbers give the same.
 */
#include "requirement.h"

#include "line_facts.h"
#include "log.h"
#include "options.h"
#include "report_sections.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double wanted; /* percent; 0: none */
static pid_t asked;   /* the process */

/* "80%", "80" or "80 %" */
static bool parse_percent(const char *text, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    end += *end == ' ';
    end += *end == '%';
    return end != text && *end == '\0' && *percent > 0 && *percent <= 100;
}

static double reached(void)
{
    double device = 0, all = 0;
    for (unsigned i = 0; i < gsh_stats_row_count(); i++) {
        struct gsh_stats_row_copy row;
        if (!gsh_stats_get_row(i, &row))
            continue;
        device += (double)row.device_ns;
        all += (double)row.device_ns + (double)row.host_ns;
    }
    return all > 0 ? 100 * device / all : 0;
}

/* The line with most time on the CPU. */
static bool find_worst(struct gsh_line_profile_copy *worst)
{
    worst->host_ns = 0;
    for (unsigned i = 0; i < gsh_line_profile_count(); i++) {
        struct gsh_line_profile_copy line;
        if (gsh_line_profile_get(i, &line) && line.line != 0 && line.host_ns > worst->host_ns)
            *worst = line;
    }
    return worst->host_ns != 0;
}

static void append_worst(struct gsh_fmt *fmt)
{
    struct gsh_line_profile_copy line;
    if (!find_worst(&line)) {
        gsh_fmt_text(fmt,
                     "no call was watched on the CPU: there is no device, or NumPy was not used");
        return;
    }
    const char *signature = "";
    const struct gsh_line_profile_call *call = gsh_line_facts_top_call(&line);
    const char *name = call != NULL ? gsh_line_facts_name(call, &signature) : "a call";
    enum gsh_reason reason = gsh_line_facts_of(&line).top_reason;
    gsh_fmt_printf(fmt, "most on the CPU: %s%s%s at %s:%u, %s: %s", name,
                   signature[0] != '\0' ? " " : "", signature, gsh_line_facts_file(line.file),
                   line.line, gsh_reason_codes[reason], gsh_reason_texts[reason]);
}

void gsh_requirement_at_exit(void)
{
    char worst[512];
    struct gsh_fmt fmt;
    if (wanted <= 0 || asked != getpid() || reached() >= wanted)
        return;
    gsh_fmt_init(&fmt, worst, sizeof worst);
    append_worst(&fmt);
    gsh_log(GSH_LOG_WARN,
            "%.3g %% of the time of NumPy's calls was on the device, required %.3g %%; %s",
            reached(), wanted, worst);
}

static void append_json(struct gsh_fmt *fmt)
{
    double share = reached();
    gsh_fmt_printf(fmt, "{\"wanted\": %.6g, \"reached\": %.6g, \"met\": %s}", wanted, share,
                   share >= wanted ? "true" : "false");
}

void gsh_requirement_init(void)
{
    static const struct gsh_report_section section = {.key = "require", .append_json = append_json};
    const char *text = gsh_option_text(GSH_OPTION_REQUIRE);
    if (text[0] == '\0')
        return;
    if (!parse_percent(text, &wanted)) {
        wanted = 0;
        gsh_log(GSH_LOG_WARN,
                "GPUSHIM_REQUIRE=%.100s: bad value, not required; allowed: 1%% to 100%%", text);
        return;
    }
    asked = getpid();
    gsh_stats_report_want_times();
    gsh_line_profile_want(false);
    gsh_report_sections_add(&section);
}
