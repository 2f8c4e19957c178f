/* SPDX-License-Identifier: Apache-2.0
 *
 * Times are whole nanoseconds: a locale's decimal comma cannot get into them.
 */
#include "decision_log.h"

#include "device.h"
#include "fmt.h"
#include "launch_work.h"
#include "log.h"
#include "price.h"
#include "readiness.h"
#include "stats.h"

#include <string.h>

#define LINE_SIZE 896 /* with "gpushim: decide: " it is a line of the log */
#define MOST 9e18     /* what an int64_t holds, rounded down */

bool gsh_decision_log_is_on;

void gsh_decision_log_init(void)
{
    gsh_decision_log_is_on = gsh_log_enabled(GSH_LOG_DECIDE);
}

/* " key=text", with no space in the text. */
static void append_word(struct gsh_fmt *fmt, const char *key, const char *text)
{
    gsh_fmt_printf(fmt, " %s=", key);
    size_t begin = fmt->length;
    gsh_fmt_text(fmt, text[0] != '\0' ? text : "-");
    for (char *c = fmt->text + begin; *c != '\0'; c++)
        if (*c == ' ')
            *c = '_';
}

static void append_number(struct gsh_fmt *fmt, const char *key, double number)
{
    double bounded = number > MOST ? MOST : number >= -MOST ? number : -MOST; /* NaN: -MOST */
    gsh_fmt_printf(fmt, " %s=%lld", key, (long long)bounded);
}

static void append_work(struct gsh_fmt *fmt, const struct gsh_launch *launch)
{
    static const char *const kinds[] = {[GSH_WORK_LOOP] = "loop",
                                        [GSH_WORK_PRODUCT] = "product",
                                        [GSH_WORK_PLAIN_PRODUCT] = "plain-product",
                                        [GSH_WORK_TRANSFORM] = "transform",
                                        [GSH_WORK_DRAW] = "draw"};
    const struct gsh_work work = gsh_launch_work(launch);
    append_word(fmt, "work", kinds[work.kind]);
    append_number(fmt, "elements", (double)gsh_launch_elements(launch));
    append_number(fmt, "bytes", work.bytes);
    append_number(fmt, "flops", work.flops);
}

static void append_facts(struct gsh_fmt *fmt, const struct gsh_verdict *verdict)
{
    const struct gsh_facts *facts = &verdict->facts;
    const struct {
        const char *key;
        double seconds;
    } times[] = {{"host_ns", facts->host},         {"modelled_ns", verdict->modelled},
                 {"device_ns", facts->device},     {"upload_ns", facts->upload},
                 {"download_ns", facts->download}, {"fetch_ns", facts->fetch},
                 {"debt_ns", facts->debt},         {"gain_ns", verdict->gain}};
    for (size_t i = 0; i < GSH_COUNT(times); i++)
        append_number(fmt, times[i].key, times[i].seconds * 1e9);
    append_number(fmt, "forced", verdict->is_forced);
}

const char *gsh_decision_log_device(void)
{
    static const char *const states[] = {[GSH_DEVICE_IDLE] = "idle",
                                         [GSH_DEVICE_STARTING] = "starting",
                                         [GSH_DEVICE_READY] = "ready",
                                         [GSH_DEVICE_RETIRED] = "retired"};
    return states[gsh_device_get_state()];
}

static void append_device(struct gsh_fmt *fmt)
{
    append_word(fmt, "device", gsh_decision_log_device());
    append_number(fmt, "foregone_ns", gsh_readiness_foregone() * 1e9);
    append_number(fmt, "start_ns", gsh_readiness_start_price() * 1e9);
}

static void append_call(struct gsh_fmt *fmt, unsigned row)
{
    struct gsh_stats_row_copy names = {.name = "", .signature = ""};
    (void)gsh_stats_get_row(row, &names); /* false before anything was counted */
    append_word(fmt, "call", names.name);
    append_word(fmt, "signature", names.signature);
}

void gsh_decision_log_write(const struct gsh_call *call, const struct gsh_verdict *verdict,
                            enum gsh_reason reason)
{
    char line[LINE_SIZE];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, line, sizeof line);
    append_call(&fmt, call->row);
    append_work(&fmt, &call->launch);
    append_device(&fmt);
    append_facts(&fmt, verdict);
    append_word(&fmt, "verdict", reason == GSH_REASON_NONE ? "device" : "host");
    append_word(&fmt, "reason", gsh_reason_codes[reason]);
    gsh_log(GSH_LOG_DECIDE, "decide:%s", line);
}
