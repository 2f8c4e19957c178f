/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of advice: the first row whose condition holds is given.
 */
#include "line_advice.h"

#define TRANSFER_SECONDS 10e-6 /* usual on PCIe: what a transfer takes beside its bytes */
#define FAULT_SECONDS 5e-6
#define BYTES_PER_SECOND 12e9
#define OFTEN 10        /* so often is a loop */
#define ELEMENT_BYTES 8 /* of most arrays */

static double round_trip_seconds(const struct gsh_line_profile_copy *line)
{
    double bytes = (double)(line->upload_bytes + line->download_bytes);
    double transfers = (double)(line->uploads + line->downloads);
    double faults = (double)(line->faults_read + line->faults_write);
    return bytes / BYTES_PER_SECOND + transfers * TRANSFER_SECONDS + faults * FAULT_SECONDS;
}

/* Whether its calls on the CPU have a reason to change; small calls have where they are many. */
static bool has_reason(const struct gsh_line_facts *facts)
{
    uint64_t least = facts->top_reason == GSH_REASON_TOO_SMALL ? OFTEN : 1;
    return facts->line->host_calls >= least && gsh_reason_advice[facts->top_reason][0] != '\0';
}

double gsh_line_advice_cost(const struct gsh_line_facts *facts)
{
    double cpu = has_reason(facts) ? (double)facts->line->host_ns * 1e-9 : 0;
    return round_trip_seconds(facts->line) + cpu;
}

/* ---- conditions ---- */

/* Whether the line reads single elements, and then had the array fetched. */
static bool fetches_rest(const struct gsh_line_facts *facts)
{
    return facts->elements != 0 && facts->line->faults_read != 0 &&
           facts->line->downloads > facts->elements;
}

/* A device that is far answers a few reads one by one; the next one fetches the array. */
static bool reads_elements(const struct gsh_line_facts *facts)
{
    return facts->elements >= OFTEN || (facts->elements >= 2 && fetches_rest(facts));
}

static bool reads_results(const struct gsh_line_facts *facts)
{
    return facts->line->small_downloads >= OFTEN;
}

static bool is_read_by_others(const struct gsh_line_facts *facts)
{
    return facts->line->faults_read + facts->line->faults_write != 0 &&
           facts->line->downloads >= facts->line->small_downloads + 2;
}

static bool comes_back(const struct gsh_line_facts *facts)
{
    return facts->line->downloads > facts->line->small_downloads;
}

static bool is_sent_often(const struct gsh_line_facts *facts)
{
    return facts->line->uploads >= OFTEN;
}

/* ---- sentences ---- */

static void append_each(struct gsh_fmt *fmt, uint64_t bytes, uint64_t times)
{
    gsh_fmt_bytes(fmt, (double)bytes / (double)GSH_MAX(times, 1), "bytes");
    if (times == 1)
        gsh_fmt_text(fmt, " once");
    else
        gsh_fmt_printf(fmt, " %llu times", (unsigned long long)times);
}

static void tell_elements(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    uint64_t bytes = facts->line->download_bytes, times = facts->elements;
    bool has_rest = fetches_rest(facts);
    gsh_fmt_text(fmt, "`x[i]` in a loop reads ");
    append_each(fmt, has_rest ? times * ELEMENT_BYTES : bytes, times);
    if (has_rest) {
        gsh_fmt_text(fmt, ", then ");
        gsh_fmt_bytes(fmt, (double)(bytes - times * ELEMENT_BYTES), "bytes");
    }
    gsh_fmt_text(fmt, ": take `x.tolist()` or the whole row");
}

static void tell_reason(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, gsh_reason_advice[facts->top_reason]);
}

static void tell_results(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(
        fmt,
        "a single number is waited for %llu times: look at it every tenth time, or after the loop",
        (unsigned long long)facts->line->small_downloads);
}

static void tell_others(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "Python or code outside NumPy touches the array, which comes back, ");
    append_each(fmt, facts->line->download_bytes, facts->line->downloads);
    gsh_fmt_text(fmt, ": touch it once, after the loop, or do that step by NumPy's function "
                      "(np.sort, not sorted)");
}

static void tell_back(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "the CPU takes the array back here, ");
    append_each(fmt, facts->line->download_bytes, facts->line->downloads);
    gsh_fmt_text(fmt, ": do this step before the first or after the last one on the device");
    if (facts->line->device_calls + facts->line->host_calls == 0)
        gsh_fmt_text(fmt, "; of an array of a subclass, pass np.asarray(x)");
}

static void tell_sent(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "the CPU's arrays go to the device, ");
    append_each(fmt, facts->line->upload_bytes, facts->line->uploads);
    gsh_fmt_text(fmt,
                 ": make them once before the loop, or make them by calls that run on the device");
}

const char *gsh_line_advice_append(const struct gsh_line_facts *facts, struct gsh_fmt *fmt)
{
    static const struct {
        const char *code;
        bool (*holds)(const struct gsh_line_facts *facts);
        void (*tell)(const struct gsh_line_facts *facts, struct gsh_fmt *fmt);
    } rows[] = {
        {"elements", reads_elements, tell_elements},
        {"reason", has_reason, tell_reason},
        {"results", reads_results, tell_results},
        {"others", is_read_by_others, tell_others},
        {"back", comes_back, tell_back},
        {"sent", is_sent_often, tell_sent},
    };
    for (size_t i = 0; i < GSH_COUNT(rows); i++)
        if (rows[i].holds(facts)) {
            rows[i].tell(facts, fmt);
            return rows[i].code;
        }
    return NULL;
}
