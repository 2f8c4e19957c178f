/* SPDX-License-Identifier: Apache-2.0
 *
 * One row for each call and line that differed, in the order in which they came; of each the worst element. Texts are complete
 * before the row counts, as a handler that writes the report may interrupt.
 */
#include "verify_ledger.h"

#include "log.h"
#include "report_sections.h"
#include "verify_share.h"
#include "witness.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROWS = 64, SHOWN_ROWS = 10, CALL_TEXT = 48, INDEX_TEXT = 96 };

struct row {
    char call[CALL_TEXT], index[INDEX_TEXT];
    struct gsh_verify_place place;
    uint64_t calls; /* that differed here */
    struct gsh_verify_outcome worst;
};

static struct row rows[MOST_ROWS];
static unsigned row_count;
static uint64_t checked, different, gaps[GSH_VERIFY_GAPS];
static pid_t process;

static const char *const gap_names[GSH_VERIFY_GAPS] = {
    [GSH_VERIFY_GAP_ARGUMENTS] = "arguments", [GSH_VERIFY_GAP_OUTPUT] = "output",
    [GSH_VERIFY_GAP_RAISED] = "raised",       [GSH_VERIFY_GAP_RESULT] = "result",
    [GSH_VERIFY_GAP_CONTRACT] = "contract",
};

/* Those of hooks that verify nothing are told apart by nobody: each is one. */
static uint64_t count_unchecked(void)
{
    uint64_t count = gsh_witness_unattended();
    for (unsigned i = 0; i < GSH_VERIFY_GAPS; i++)
        count += gaps[i];
    return count;
}

/* ---- notes ---- */

void gsh_verify_ledger_note_checked(void)
{
    checked++;
}

void gsh_verify_ledger_note_gap(enum gsh_verify_gap gap)
{
    gaps[gap]++;
}

static void copy_text(char *to, size_t size, const char *text)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, to, size);
    gsh_fmt_text(&fmt, text);
}

/* "[3, 4]"; "" for a scalar */
static void write_index(char *text, int64_t index, const struct gsh_verify_array *array)
{
    struct gsh_fmt fmt;
    int64_t elements = 1;
    gsh_fmt_init(&fmt, text, INDEX_TEXT);
    for (int d = 0; d < array->ndim; d++)
        elements *= array->shape[d];
    for (int d = 0; d < array->ndim; d++) {
        elements /= array->shape[d];
        gsh_fmt_printf(&fmt, "%s%lld", d == 0 ? "[" : ", ", (long long)(index / elements));
        index %= elements;
    }
    gsh_fmt_text(&fmt, array->ndim > 0 ? "]" : "");
}

static struct row *find_row(const char *call, const struct gsh_verify_place *place)
{
    for (unsigned i = 0; i < row_count; i++)
        if (rows[i].place.line == place->line && strcmp(rows[i].call, call) == 0 &&
            strcmp(rows[i].place.file, place->file) == 0)
            return &rows[i];
    if (row_count == MOST_ROWS)
        return NULL;
    struct row *row = &rows[row_count];
    copy_text(row->call, sizeof row->call, call);
    row->place = *place;
    return row;
}

void gsh_verify_ledger_note_different(const char *call, const struct gsh_verify_place *place,
                                      const struct gsh_verify_outcome *outcome,
                                      const struct gsh_verify_array *shape)
{
    struct row *row = find_row(call, place);
    different++;
    if (row == NULL)
        return;
    if (row->calls == 0 || outcome->ulps > row->worst.ulps) {
        row->worst = *outcome;
        write_index(row->index, outcome->index, shape);
    }
    row->calls++;
    __atomic_store_n(&row_count, GSH_MAX(row_count, (unsigned)(row - rows) + 1), __ATOMIC_RELEASE);
}

/* ---- the report ---- */

/* The rows, the worst first. */
static unsigned sort_rows(const struct row *sorted[MOST_ROWS])
{
    unsigned count = __atomic_load_n(&row_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1]->worst.ulps < rows[i].worst.ulps; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &rows[i];
    }
    return count;
}

static void append_distance(struct gsh_fmt *fmt, double ulps)
{
    if (isinf(ulps))
        gsh_fmt_text(fmt, "no number beside a number");
    else
        gsh_fmt_printf(fmt, "%.3g ulp", ulps);
}

static void append_row(struct gsh_fmt *fmt, const struct row *row)
{
    gsh_fmt_printf(fmt, "  %s:%d: %s%s: ", row->place.file, row->place.line, row->call, row->index);
    append_distance(fmt, row->worst.ulps);
    gsh_fmt_printf(fmt, ", allowed %.3g; device %s, CPU %s", row->worst.bound, row->worst.device,
                   row->worst.cpu);
    gsh_fmt_printf(fmt, "; %llu elements, %llu calls\n", (unsigned long long)row->worst.different,
                   (unsigned long long)row->calls);
}

static void append_text(struct gsh_fmt *fmt)
{
    const struct row *sorted[MOST_ROWS];
    unsigned count = sort_rows(sorted);
    gsh_fmt_printf(fmt,
                   " verified (%s): %llu calls of the device compared with NumPy, %llu differ, "
                   "%llu not compared\n",
                   gsh_verify_share_text(), (unsigned long long)checked,
                   (unsigned long long)different, (unsigned long long)count_unchecked());
    for (unsigned i = 0; i < GSH_MIN(count, (unsigned)SHOWN_ROWS); i++)
        append_row(fmt, sorted[i]);
}

static void append_json_row(struct gsh_fmt *fmt, const struct row *row)
{
    gsh_fmt_text(fmt, "{\"call\": ");
    gsh_fmt_json_string(fmt, row->call);
    gsh_fmt_text(fmt, ", \"file\": ");
    gsh_fmt_json_string(fmt, row->place.file);
    gsh_fmt_printf(
        fmt, ", \"line\": %d, \"calls\": %llu, \"elements\": %llu, \"ulps\": ", row->place.line,
        (unsigned long long)row->calls, (unsigned long long)row->worst.different);
    if (isinf(row->worst.ulps))
        gsh_fmt_text(fmt, "null");
    else
        gsh_fmt_printf(fmt, "%.6g", row->worst.ulps);
    gsh_fmt_printf(fmt, ", \"allowed\": %.6g, \"index\": ", row->worst.bound);
    gsh_fmt_text(fmt, row->index[0] != '\0' ? row->index : "[]");
    gsh_fmt_text(fmt, ", \"device\": ");
    gsh_fmt_json_string(fmt, row->worst.device);
    gsh_fmt_text(fmt, ", \"cpu\": ");
    gsh_fmt_json_string(fmt, row->worst.cpu);
    gsh_fmt_text(fmt, "}");
}

static void append_json(struct gsh_fmt *fmt)
{
    const struct row *sorted[MOST_ROWS];
    unsigned count = sort_rows(sorted);
    gsh_fmt_text(fmt, "{\"share\": ");
    gsh_fmt_json_string(fmt, gsh_verify_share_text());
    gsh_fmt_printf(fmt,
                   ", \"checked\": %llu, \"different\": %llu, \"not_checked\": %llu, \"why\": {",
                   (unsigned long long)checked, (unsigned long long)different,
                   (unsigned long long)count_unchecked());
    for (unsigned i = 0; i < GSH_VERIFY_GAPS; i++)
        gsh_fmt_printf(fmt, "\"%s\": %llu, ", gap_names[i], (unsigned long long)gaps[i]);
    gsh_fmt_printf(fmt, "\"not covered\": %llu},\n  \"worst\": [",
                   (unsigned long long)gsh_witness_unattended());
    for (unsigned i = 0; i < count; i++) {
        gsh_fmt_text(fmt, i > 0 ? ",\n   " : "\n   ");
        append_json_row(fmt, sorted[i]);
    }
    gsh_fmt_text(fmt, "]}");
}

void gsh_verify_ledger_init(void)
{
    static const struct gsh_report_section section = {append_text, "verify", append_json};
    process = getpid();
    gsh_report_sections_add(&section);
}

void gsh_verify_ledger_tell_at_exit(void)
{
    const struct row *sorted[MOST_ROWS];
    char text[1024];
    struct gsh_fmt fmt;
    if (different == 0 || process != getpid() || sort_rows(sorted) == 0)
        return;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_printf(&fmt,
                   "%llu of %llu verified calls differ from NumPy by more than the contract "
                   "allows; the worst is %s%s at %s:%d, by ",
                   (unsigned long long)different, (unsigned long long)checked, sorted[0]->call,
                   sorted[0]->index, sorted[0]->place.file, sorted[0]->place.line);
    append_distance(&fmt, sorted[0]->worst.ulps);
    gsh_log(GSH_LOG_WARN, "%s", text);
}
