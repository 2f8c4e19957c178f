/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines are sorted once a report; rows that other threads change meanwhile may stand a place too far.
 */
#include "line_report.h"

#include "line_facts.h"
#include "readers_report.h"
#include "report_sections.h"

#define TEXT_LINES 20 /* the text shows the worst; JSON has all */

struct entry {
    double cost;
    uint64_t ns; /* of its calls: orders lines that cost nothing */
    uint16_t row;
};

static struct entry order[GSH_LINE_PROFILE_MAX_ROWS];

/* What belongs to no line comes last: nobody can change it. */
static bool is_before(const struct entry *a, const struct entry *b)
{
    if ((a->row == 0) != (b->row == 0))
        return b->row == 0;
    if (a->cost != b->cost)
        return a->cost > b->cost;
    return a->ns != b->ns ? a->ns > b->ns : a->row < b->row;
}

/* Inserts each line into those sorted so far. Returns how many there are. */
static unsigned sort_lines(void)
{
    unsigned count = 0;
    for (unsigned row = 0; row < gsh_line_profile_count(); row++) {
        struct gsh_line_profile_copy line;
        if (!gsh_line_profile_get(row, &line))
            continue;
        struct gsh_line_facts facts = gsh_line_facts_of(&line);
        struct entry entry = {gsh_line_advice_cost(&facts), line.device_ns + line.host_ns,
                              (uint16_t)row};
        unsigned place = count++;
        for (; place > 0 && is_before(&entry, &order[place - 1]); place--)
            order[place] = order[place - 1];
        order[place] = entry;
    }
    return count;
}

/* ---- text ---- */

/* Three digits and a unit; "-" for nothing. */
static const char *time_text(uint64_t ns, char *text, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    size_t unit = 0;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    for (; value >= 999.5 && unit + 1 < GSH_COUNT(units); unit++)
        value /= 1000;
    if (ns == 0)
        gsh_fmt_text(&fmt, "-");
    else
        gsh_fmt_printf(&fmt, "%.*f %s",
                       unit == 0 || value >= 99.95 ? 0
                       : value >= 9.995            ? 1
                                                   : 2,
                       value, units[unit]);
    return text;
}

static const char *moved_text(uint64_t bytes, uint64_t times, char *text, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    if (times == 0) {
        gsh_fmt_text(&fmt, "-");
        return text;
    }
    gsh_fmt_bytes(&fmt, (double)bytes, "bytes");
    gsh_fmt_printf(&fmt, " in %llu", (unsigned long long)times);
    return text;
}

/* file:line, without the folder that the program runs in, and the end of what is long. */
static void append_place(struct gsh_fmt *fmt, const struct gsh_line_profile_copy *line)
{
    enum { WIDTH = 32 };
    char place[GSH_LINE_PROFILE_FILE + 16];
    struct gsh_fmt text;
    gsh_fmt_init(&text, place, sizeof place);
    gsh_fmt_text(&text, gsh_line_facts_file(line->file));
    if (line->line != 0)
        gsh_fmt_printf(&text, ":%u", line->line);
    const char *end = text.length > WIDTH ? place + text.length - WIDTH : place;
    gsh_fmt_printf(fmt, " %-32s", end);
}

/* Who brought most back, where no call on the CPU says it. */
static void append_reader(struct gsh_fmt *fmt, unsigned reader, bool is_second)
{
    char name[64];
    struct gsh_fmt text;
    gsh_fmt_init(&text, name, sizeof name);
    if (gsh_readers_report_name(reader, &text))
        gsh_fmt_printf(fmt, "%s%s", is_second ? ", read by " : "   read by ", name);
    else if (!is_second)
        gsh_fmt_text(fmt, "   no hooked call");
}

static void append_why(struct gsh_fmt *fmt, const struct gsh_line_facts *facts)
{
    const struct gsh_line_profile_call *call = gsh_line_facts_top_call(facts->line);
    const char *signature = "", *name = call != NULL ? gsh_line_facts_name(call, &signature) : "";
    if (call != NULL)
        gsh_fmt_printf(fmt, "   %s%s%s", name, signature[0] != '\0' ? " " : "", signature);
    if (facts->line->host_calls != 0)
        gsh_fmt_printf(fmt, ": %s", gsh_reason_codes[facts->top_reason]);
    else
        append_reader(fmt, facts->line->reader, call != NULL);
    gsh_fmt_text(fmt, "\n");
}

/* The advice's code; NULL: there is none. */
static const char *append_advice(struct gsh_fmt *fmt, const struct gsh_line_facts *facts)
{
    return facts->line->line != 0 ? gsh_line_advice_append(facts, fmt) : NULL;
}

static void append_line(struct gsh_fmt *fmt, unsigned row)
{
    struct gsh_line_profile_copy line;
    char device[16], host[16], up[32], down[32], advice[256];
    if (!gsh_line_profile_get(row, &line))
        return;
    struct gsh_line_facts facts = gsh_line_facts_of(&line);
    uint64_t faults = line.faults_read + line.faults_write;
    append_place(fmt, &line);
    gsh_fmt_printf(fmt, " %8s %8s %18s %18s %7llu",
                   time_text(line.device_ns, device, sizeof device),
                   time_text(line.host_ns, host, sizeof host),
                   moved_text(line.upload_bytes, line.uploads, up, sizeof up),
                   moved_text(line.download_bytes, line.downloads, down, sizeof down),
                   (unsigned long long)faults);
    append_why(fmt, &facts);
    struct gsh_fmt text;
    gsh_fmt_init(&text, advice, sizeof advice);
    if (append_advice(&text, &facts) != NULL)
        gsh_fmt_printf(fmt, "   %s\n", advice);
}

static void append_text(struct gsh_fmt *fmt)
{
    unsigned count = sort_lines();
    gsh_fmt_text(fmt, "gpushim: lines, the worst round trips first\n");
    gsh_fmt_printf(fmt, " %-32s %8s %8s %18s %18s %7s   %s\n", "line", "device", "CPU",
                   "to the device", "to the CPU", "faults", "why");
    for (unsigned i = 0; i < GSH_MIN(count, TEXT_LINES); i++)
        append_line(fmt, order[i].row);
    if (count == 0)
        gsh_fmt_text(fmt, " (no line made a call that could run on a device)\n");
    if (count > TEXT_LINES)
        gsh_fmt_printf(fmt, " (%u more in GPUSHIM_REPORT=json:FILE,lines)\n", count - TEXT_LINES);
}

/* ---- JSON ---- */

static void append_json_reader(struct gsh_fmt *fmt, unsigned reader)
{
    char name[64];
    struct gsh_fmt text;
    gsh_fmt_init(&text, name, sizeof name);
    gsh_fmt_text(fmt, ", \"reader\": ");
    if (gsh_readers_report_name(reader, &text))
        gsh_fmt_json_string(fmt, name);
    else
        gsh_fmt_text(fmt, "null");
}

static void append_json_reasons(struct gsh_fmt *fmt, const struct gsh_line_profile_copy *line)
{
    const char *separator = "";
    gsh_fmt_text(fmt, ", \"reasons\": {");
    for (unsigned i = 0; i < GSH_REASON_COUNT; i++) {
        if (line->reasons[i] == 0)
            continue;
        gsh_fmt_printf(fmt, "%s\"%s\": %llu", separator, gsh_reason_codes[i],
                       (unsigned long long)line->reasons[i]);
        separator = ", ";
    }
    gsh_fmt_text(fmt, "}");
}

static void append_json_calls(struct gsh_fmt *fmt, const struct gsh_line_profile_copy *line)
{
    const char *separator = "", *signature;
    gsh_fmt_text(fmt, ", \"calls\": [");
    for (unsigned i = 0; i < GSH_LINE_PROFILE_CALLS; i++) {
        const struct gsh_line_profile_call *call = &line->calls[i];
        if (call->calls == 0)
            continue;
        gsh_fmt_printf(fmt, "%s{\"name\": ", separator);
        gsh_fmt_json_string(fmt, gsh_line_facts_name(call, &signature));
        gsh_fmt_text(fmt, ", \"signature\": ");
        gsh_fmt_json_string(fmt, signature);
        gsh_fmt_printf(fmt, ", \"on_device\": %s, \"calls\": %llu}",
                       call->is_on_device ? "true" : "false", (unsigned long long)call->calls);
        separator = ", ";
    }
    gsh_fmt_text(fmt, "]");
}

static void append_json_advice(struct gsh_fmt *fmt, const struct gsh_line_facts *facts)
{
    char advice[256];
    struct gsh_fmt text;
    gsh_fmt_init(&text, advice, sizeof advice);
    const char *code = append_advice(&text, facts);
    if (code == NULL) {
        gsh_fmt_text(fmt, ", \"advice\": null");
        return;
    }
    gsh_fmt_printf(fmt, ", \"advice\": {\"code\": \"%s\", \"text\": ", code);
    gsh_fmt_json_string(fmt, advice);
    gsh_fmt_text(fmt, "}");
}

static void append_json_line(struct gsh_fmt *fmt, const struct entry *entry)
{
    struct gsh_line_profile_copy line;
    if (!gsh_line_profile_get(entry->row, &line))
        return;
    struct gsh_line_facts facts = gsh_line_facts_of(&line);
    gsh_fmt_text(fmt, "{\"file\": ");
    gsh_fmt_json_string(fmt, line.file);
    gsh_fmt_printf(fmt, ", \"line\": %u, \"cost_ns\": %.0f, \"elements\": %llu", line.line,
                   entry->cost * 1e9, (unsigned long long)facts.elements);
#define X(member) gsh_fmt_printf(fmt, ", \"" #member "\": %llu", (unsigned long long)line.member);
    GSH_LINE_PROFILE_COUNTERS(X)
#undef X
    append_json_reader(fmt, line.reader);
    append_json_reasons(fmt, &line);
    append_json_calls(fmt, &line);
    append_json_advice(fmt, &facts);
    gsh_fmt_text(fmt, "}");
}

static void append_json(struct gsh_fmt *fmt)
{
    unsigned count = sort_lines();
    gsh_fmt_text(fmt, "[");
    for (unsigned i = 0; i < count; i++) {
        gsh_fmt_text(fmt, i > 0 ? ",\n  " : "\n  ");
        append_json_line(fmt, &order[i]);
    }
    gsh_fmt_text(fmt, "\n ]");
}

void gsh_line_report_init(void)
{
    static const struct gsh_report_section section = {append_text, "lines", append_json};
    if (gsh_line_profile_is_reported())
        gsh_report_sections_add(&section);
}
