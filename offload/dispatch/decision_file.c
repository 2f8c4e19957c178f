/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers are written with all their digits. The point of a locale never gets into them.
 */
#include "decision_file.h"

#include "backend.h"
#include "clock.h"
#include "decision_fields.h"
#include "decision_log.h"
#include "fmt.h"
#include "lock.h"
#include "log.h"
#include "options.h"
#include "price.h"
#include "readiness.h"
#include "report_file.h"
#include "stats.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 8192, BUFFER_SIZE = 65536 };

bool gsh_decision_file_is_on;

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_DECISIONS);
/* Guarded by the lock. */
static struct {
    size_t length;
    bool is_begun; /* the file holds what this process wrote */
    bool has_rates;
    struct gsh_rates rates; /* that the last lines were made at */
    char text[BUFFER_SIZE];
} buffer;
static char file[PATH_MAX];
static pid_t owner;
static _Atomic uint64_t decisions;

/* The calling thread's last decision that left a call to the CPU. */
static _Thread_local struct {
    uint64_t decision; /* 0: none */
    uint64_t begin_ns; /* 0: the original has not been called */
} measured;

void gsh_decision_file_init(void)
{
    const char *name = gsh_option_text(GSH_OPTION_DECISIONS);
    owner = getpid();
    gsh_decision_file_is_on = name[0] != '\0' && gsh_report_file_name(name, file, sizeof file);
}

/* ---- the file ---- */

static void flush_buffer(void)
{
    int error = buffer.is_begun ? gsh_report_file_extend_sigsafe(file, buffer.text, buffer.length)
                                : gsh_report_file_write_sigsafe(file, buffer.text, buffer.length);
    buffer.is_begun = true;
    buffer.length = 0;
    if (error != 0)
        gsh_log_once("cannot write decisions to %s: %s", file, strerror(error));
}

/* A line that was cut is left out. */
static void add_line(const struct gsh_fmt *line)
{
    if (line->required != line->length)
        return;
    if (buffer.length + line->length > sizeof buffer.text)
        flush_buffer();
    memcpy(buffer.text + buffer.length, line->text, line->length);
    buffer.length += line->length;
}

void gsh_decision_file_flush(void)
{
    if (!gsh_decision_file_is_on || getpid() != owner)
        return;
    GSH_LOCKED(&lock);
    if (buffer.length > 0)
        flush_buffer();
}

void gsh_decision_file_reset_after_fork(void)
{
    gsh_decision_file_is_on = false;
}

/* ---- JSON ---- */

static void append_key(struct gsh_fmt *fmt, const char *key)
{
    bool is_first = fmt->length > 0 && fmt->text[fmt->length - 1] == '{';
    gsh_fmt_printf(fmt, is_first ? "\"%s\":" : ",\"%s\":", key);
}

static void append_text(struct gsh_fmt *fmt, const char *key, const char *text)
{
    append_key(fmt, key);
    gsh_fmt_json_string(fmt, text);
}

/* What is no digit, sign or exponent is the locale's point, of one or more bytes. */
static void append_number(struct gsh_fmt *fmt, const char *key, double number)
{
    char digits[64], plain[64];
    size_t length = 0;
    snprintf(digits, sizeof digits, "%.17g", isfinite(number) ? number : 0);
    for (const char *c = digits; *c != '\0'; c++) {
        if (strchr("0123456789+-e", *c) != NULL)
            plain[length++] = *c;
        else if (length > 0 && plain[length - 1] != '.')
            plain[length++] = '.';
    }
    plain[length] = '\0';
    append_key(fmt, key);
    gsh_fmt_text(fmt, plain);
}

static void open_object(struct gsh_fmt *fmt, const char *key)
{
    append_key(fmt, key);
    gsh_fmt_text(fmt, "{");
}

static void append_members(struct gsh_fmt *fmt, enum gsh_decision_group group, const void *object)
{
    const struct gsh_decision_field *field = NULL;
    while ((field = gsh_decision_fields_next(group, field)) != NULL)
        append_number(fmt, field->name, gsh_decision_fields_get(field, object));
}

static void append_object(struct gsh_fmt *fmt, const char *key, enum gsh_decision_group group,
                          const void *object)
{
    open_object(fmt, key);
    append_members(fmt, group, object);
    gsh_fmt_text(fmt, "}");
}

/* ---- lines ---- */

static void begin_line(struct gsh_fmt *fmt, char *line)
{
    gsh_fmt_init(fmt, line, LINE_SIZE);
    gsh_fmt_text(fmt, "{");
}

static bool are_same(const struct gsh_rates *rates, const struct gsh_rates *others)
{
    const struct gsh_decision_field *field = NULL;
    bool is_same = true;
    while ((field = gsh_decision_fields_next(GSH_DECISION_RATE, field)) != NULL)
        is_same &= gsh_decision_fields_get(field, rates) == gsh_decision_fields_get(field, others);
    return is_same;
}

/* At the begin of the file, and whenever the rates have changed: those of the decisions that follow. */
static void add_rates(const struct gsh_rates *rates)
{
    char line[LINE_SIZE];
    struct gsh_fmt fmt;
    if (buffer.has_rates && are_same(rates, &buffer.rates))
        return;
    buffer.has_rates = true;
    buffer.rates = *rates;
    begin_line(&fmt, line);
    append_number(&fmt, "version", 1);
    append_number(&fmt, "pid", owner);
    append_text(&fmt, "backend", gsh_backend_get()->name);
    append_object(&fmt, "rates", GSH_DECISION_RATE, rates);
    gsh_fmt_text(&fmt, "}\n");
    add_line(&fmt);
}

static void append_call(struct gsh_fmt *fmt, const struct gsh_call *call)
{
    static const char *const kinds[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, price, traits, label)                  \
    [GSH_LAUNCH_##kind] = label,
#include "launch_kinds.def"
#undef X
    };
    struct gsh_stats_row_copy names = {.name = "", .signature = ""};
    (void)gsh_stats_get_row(call->row, &names); /* false before anything was counted */
    append_text(fmt, "call", names.name);
    append_text(fmt, "signature", names.signature);
    append_text(fmt, "kind", kinds[call->launch.kind]);
    append_text(fmt, "op", gsh_launch_name(&call->launch));
    append_text(fmt, "loop", gsh_dtype_name(call->launch.loop));
    append_number(fmt, "elements", (double)gsh_launch_elements(&call->launch));
}

static void append_operands(struct gsh_fmt *fmt, const struct gsh_decision_inputs *inputs)
{
    append_key(fmt, "operands");
    gsh_fmt_text(fmt, "[");
    for (unsigned k = 0; k < inputs->price.cost.count; k++) {
        gsh_fmt_text(fmt, k > 0 ? ",{" : "{");
        append_members(fmt, GSH_DECISION_OPERAND, &inputs->price.cost.operands[k]);
        append_object(fmt, "ledger", GSH_DECISION_LEDGER, &inputs->ledgers[k]);
        gsh_fmt_text(fmt, "}");
    }
    gsh_fmt_text(fmt, "]");
}

/* Bytes that only one side has, of all operands. */
static void append_bytes(struct gsh_fmt *fmt, const struct gsh_call_cost *cost)
{
    double host = 0, device = 0;
    for (unsigned k = 0; k < cost->count; k++) {
        const struct gsh_operand_facts *operand = &cost->operands[k];
        host += operand->missing + (operand->is_read ? operand->bytes : 0);
        device += operand->away;
    }
    append_number(fmt, "host_bytes", host);
    append_number(fmt, "device_bytes", device);
}

static void append_inputs(struct gsh_fmt *fmt, const struct gsh_decision_inputs *inputs,
                          const struct gsh_verdict *verdict)
{
    const struct gsh_call_cost *cost = &inputs->price.cost;
    append_bytes(fmt, cost);
    append_object(fmt, "facts", GSH_DECISION_FACT, &verdict->facts);
    append_object(fmt, "work", GSH_DECISION_WORK, &cost->work);
    append_operands(fmt, inputs);
    append_number(fmt, "host_factor",
                  verdict->modelled > 0 ? verdict->facts.host / verdict->modelled : 1);
    append_number(fmt, "result_bytes", cost->result_bytes);
    append_number(fmt, "result_share", cost->result_share);
}

static void append_verdict(struct gsh_fmt *fmt, const struct gsh_verdict *verdict,
                           enum gsh_reason reason)
{
    append_text(fmt, "verdict", reason == GSH_REASON_NONE ? "device" : "host");
    append_text(fmt, "rule", gsh_reason_codes[verdict->reason]);
    append_text(fmt, "reason", gsh_reason_codes[reason]);
    append_number(fmt, "forced", verdict->is_forced);
    append_number(fmt, "gain", verdict->gain);
    append_text(fmt, "device", gsh_decision_log_device());
    append_number(fmt, "foregone", gsh_readiness_foregone());
    append_number(fmt, "start", gsh_readiness_start_price());
}

void gsh_decision_file_gather(const struct gsh_call *call, struct gsh_decision_inputs *inputs)
{
    measured.decision = 0;
    gsh_price_gather(call, &inputs->price);
    for (unsigned k = 0; k < inputs->price.cost.count; k++) {
        struct gsh_operand_facts *operand = &inputs->price.cost.operands[k];
        inputs->ledgers[k] = operand->ledger ? *operand->ledger : (struct gsh_ledger){.debt = 0};
        operand->ledger = &inputs->ledgers[k];
    }
}

void gsh_decision_file_write(const struct gsh_call *call, const struct gsh_decision_inputs *inputs,
                             const struct gsh_verdict *verdict, enum gsh_reason reason)
{
    char line[LINE_SIZE];
    struct gsh_fmt fmt;
    if (getpid() != owner) /* a child that ran no handlers of fork */
        return;
    uint64_t decision = atomic_fetch_add_explicit(&decisions, 1, memory_order_relaxed) + 1;
    begin_line(&fmt, line);
    append_number(&fmt, "decision", (double)decision);
    append_call(&fmt, call);
    append_verdict(&fmt, verdict, reason);
    append_inputs(&fmt, inputs, verdict);
    gsh_fmt_text(&fmt, "}\n");
    GSH_LOCKED(&lock);
    add_rates(inputs->price.rates);
    add_line(&fmt);
    measured.decision = reason == GSH_REASON_NONE ? 0 : decision;
    measured.begin_ns = 0;
}

/* ---- measured calls ---- */

void gsh_decision_file_begin(void)
{
    if (measured.decision != 0 && measured.begin_ns == 0)
        measured.begin_ns = gsh_clock_ns();
}

void gsh_decision_file_end(void)
{
    char line[LINE_SIZE];
    struct gsh_fmt fmt;
    if (measured.decision == 0 || measured.begin_ns == 0)
        return;
    double seconds = (double)(gsh_clock_ns() - measured.begin_ns) * 1e-9;
    begin_line(&fmt, line);
    append_number(&fmt, "measured", (double)measured.decision);
    append_number(&fmt, "seconds", seconds);
    gsh_fmt_text(&fmt, "}\n");
    measured.decision = 0;
    GSH_LOCKED(&lock);
    add_line(&fmt);
}
