/* SPDX-License-Identifier: Apache-2.0
 *
 * The share is the verdict's (report_verdict.h).
 */
#include "requirement.h"

#include "line_facts.h"
#include "log.h"
#include "option_words.h"
#include "options.h"
#include "report_sections.h"
#include "report_verdict.h"

#include <unistd.h>

static double wanted; /* 0 to 1; 0: none */
static pid_t asked;   /* the process */

static double reached(struct gsh_report_verdict *verdict)
{
    gsh_report_verdict_take(verdict, "");
    return gsh_report_verdict_share(verdict);
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

static void append_no_line(struct gsh_fmt *fmt, const struct gsh_report_work *work)
{
    gsh_fmt_text(fmt, work->cpu > 0
                          ? "the CPU's calls belong to no line of the program"
                          : "no call was watched on the CPU: there is no device, or NumPy "
                            "was not used");
}

static void append_worst(struct gsh_fmt *fmt, const struct gsh_report_work *work)
{
    struct gsh_line_profile_copy line;
    if (!find_worst(&line)) {
        append_no_line(fmt, work);
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
    struct gsh_report_verdict verdict;
    if (wanted <= 0 || asked != getpid() || reached(&verdict) >= wanted)
        return;
    gsh_fmt_init(&fmt, worst, sizeof worst);
    append_worst(&fmt, &verdict.work);
    gsh_log(GSH_LOG_WARN, "%.3g %% of NumPy's hooked work ran on the device, required %.3g %%; %s",
            100 * gsh_report_verdict_share(&verdict), 100 * wanted, worst);
}

static void append_json(struct gsh_fmt *fmt)
{
    struct gsh_report_verdict verdict;
    double share = reached(&verdict);
    gsh_fmt_printf(fmt, "{\"wanted\": %.6g, \"reached\": %.6g, \"met\": %s}", 100 * wanted,
                   100 * share, share >= wanted ? "true" : "false");
}

void gsh_requirement_init(void)
{
    static const struct gsh_report_section section = {.key = "require", .append_json = append_json};
    const char *text = gsh_option_text(GSH_OPTION_REQUIRE);
    if (text[0] == '\0')
        return;
    if (!gsh_option_words_percent(text, &wanted) || wanted <= 0) {
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
