/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the decisions of logs (GPUSHIM_DECISIONS=FILE) again by the functions of policy/, at other rates or by another rule, and
 * says what that would change:
 *
 *     build/replay_decisions LOG... [--rate device_memory=3e12]... [--rule gain] [--list]
 *
 * Each decision is made on its own, with its operands where the log says they were: what another verdict would have changed for
 * later calls is not followed.
 */
#include "decision_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64, MOST_RATES = 32 };

/* One decision of a log. */
struct decision {
    double id;
    char call[NAME_SIZE], rule[NAME_SIZE], reason[NAME_SIZE];
    struct gsh_call_cost cost;
    struct gsh_ledger ledgers[GSH_CALL_COST_OPERANDS];
    struct gsh_facts logged;
    struct gsh_rates rates; /* at which it was made */
    double measured;        /* s on the CPU; 0: not measured */
};

/* All decisions of the logs. */
static struct decision *decisions;
static size_t count, capacity;

static struct {
    const struct gsh_decision_field *field;
    double value;
} changed_rates[MOST_RATES];
static size_t changed_count;
static bool lists;

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "replay_decisions: %s: %s\n", what, name);
    exit(2);
}

/* ---- one line ---- */

/* What follows "key": in the object; NULL: it has no such key. Texts of the log cannot hold an unescaped quote. */
static const char *find(const char *object, const char *key)
{
    char quoted[NAME_SIZE + 4];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = object ? strstr(object, quoted) : NULL;
    return found ? found + strlen(quoted) : NULL;
}

/* 0 without the key. */
static double read_number(const char *object, const char *key)
{
    const char *found = find(object, key);
    return found ? strtod(found, NULL) : 0;
}

static void read_text(const char *object, const char *key, char *text)
{
    const char *found = find(object, key);
    size_t length = found && *found == '"' ? strcspn(found + 1, "\"") : 0;
    snprintf(text, NAME_SIZE, "%.*s", (int)length, length ? found + 1 : "");
}

static void read_members(const char *object, enum gsh_decision_group group, void *to)
{
    const struct gsh_decision_field *field = NULL;
    while ((field = gsh_decision_fields_next(group, field)) != NULL)
        gsh_decision_fields_set(field, to, read_number(object, field->name));
}

/* Each operand's own members come before its ledger. */
static void read_operands(const char *line, struct decision *decision)
{
    const char *object = find(line, "operands");
    unsigned k = 0;
    for (; object && k < GSH_CALL_COST_OPERANDS && (object = strpbrk(object, "{]")) && *object == '{'; k++) {
        read_members(object, GSH_DECISION_OPERAND, &decision->cost.operands[k]);
        object = find(object, "ledger");
        read_members(object, GSH_DECISION_LEDGER, &decision->ledgers[k]);
        object = object ? strstr(object, "}}") : NULL;
        object = object ? object + 2 : NULL;
    }
    decision->cost.count = k;
}

static void read_decision(const char *line, const struct gsh_rates *rates, struct decision *decision)
{
    *decision = (struct decision){.id = read_number(line, "decision"), .rates = *rates};
    read_text(line, "call", decision->call);
    read_text(line, "rule", decision->rule);
    read_text(line, "reason", decision->reason);
    read_members(find(line, "facts"), GSH_DECISION_FACT, &decision->logged);
    read_members(find(line, "work"), GSH_DECISION_WORK, &decision->cost.work);
    read_operands(line, decision);
    decision->cost.host_factor = read_number(line, "host_factor");
    decision->cost.result_bytes = read_number(line, "result_bytes");
    decision->cost.result_share = read_number(line, "result_share");
}

/* ---- logs ---- */

static struct decision *add_decision(void)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        decisions = realloc(decisions, capacity * sizeof *decisions);
        if (decisions == NULL)
            fail("no memory", "decisions");
    }
    return &decisions[count++];
}

/* The log's decisions begin at `first`. */
static void note_measured(const char *line, size_t first)
{
    double id = read_number(line, "measured");
    for (size_t i = count; i-- > first;)
        if (decisions[i].id == id) {
            decisions[i].measured = read_number(line, "seconds");
            return;
        }
}

static void read_log(const char *path)
{
    FILE *stream = fopen(path, "r");
    char *line = NULL;
    size_t size = 0, first = count;
    struct gsh_rates rates = {.host_call = 0};
    if (stream == NULL)
        fail(path, strerror(errno));
    while (getline(&line, &size, stream) > 0) {
        if (find(line, "rates"))
            read_members(find(line, "rates"), GSH_DECISION_RATE, &rates);
        else if (find(line, "decision"))
            read_decision(line, &rates, add_decision());
        else if (find(line, "measured"))
            note_measured(line, first);
    }
    free(line);
    fclose(stream);
}

/* ---- rules ---- */

static bool by_policy(const struct gsh_facts *facts)
{
    return gsh_decide(facts).reason == GSH_REASON_NONE;
}

/* As if no upload had to be paid for. */
static bool by_gain(const struct gsh_facts *facts)
{
    return gsh_decide(facts).gain > 0;
}

static bool never(const struct gsh_facts *facts)
{
    (void)facts;
    return false;
}

static bool always(const struct gsh_facts *facts)
{
    (void)facts;
    return true;
}

static const struct rule {
    const char *name;
    bool (*sends)(const struct gsh_facts *facts);
} rules[] = {{"policy", by_policy}, {"gain", by_gain}, {"host", never}, {"device", always}};
static const struct rule *chosen_rule = &rules[0];

/* ---- sums ---- */

static struct {
    size_t priced, unpriced, other_facts, to_device, to_host, measured;
    double logged, predicted; /* s by the log's verdicts, and by these */
    double least, least_with_debts;
    double measured_seconds, measured_predicted;
} sums;

static double seconds_of(const struct gsh_facts *facts, bool on_device)
{
    return on_device ? facts->device + facts->upload + facts->fetch : facts->host + facts->download;
}

/* Of an upload only what the debts have not paid for. */
static double least_with_debts(const struct gsh_facts *facts)
{
    double upload = GSH_MAX(facts->upload - GSH_MAX(facts->debt, 0), 0);
    return GSH_MIN(facts->host + facts->download, facts->device + facts->fetch + upload);
}

static bool is_near(double x, double y)
{
    double far = x > y ? x - y : y - x;
    return far <= 1e-9 * GSH_MAX(GSH_MAX(x, y), GSH_MAX(-x, -y));
}

/* Whether the facts at the log's own rates are those of the log. */
static bool is_as_logged(const struct decision *decision)
{
    const struct gsh_facts facts = gsh_call_cost_facts(&decision->rates, &decision->cost);
    const struct gsh_decision_field *field = NULL;
    bool is_same = true;
    while ((field = gsh_decision_fields_next(GSH_DECISION_FACT, field)) != NULL)
        is_same &= is_near(gsh_decision_fields_get(field, &facts),
                           gsh_decision_fields_get(field, &decision->logged));
    return is_same;
}

static struct gsh_rates rates_of(const struct decision *decision)
{
    struct gsh_rates rates = decision->rates;
    for (size_t i = 0; i < changed_count; i++)
        gsh_decision_fields_set(changed_rates[i].field, &rates, changed_rates[i].value);
    return rates;
}

static void note_difference(const struct decision *decision, const struct gsh_facts *facts,
                            bool on_device)
{
    sums.to_device += on_device;
    sums.to_host += !on_device;
    if (lists)
        printf("decision %.0f of %s: %s instead of %s; host %.3e device %.3e upload %.3e s\n",
               decision->id, decision->call, on_device ? "device" : "host", decision->rule,
               facts->host, facts->device, facts->upload);
}

static void add_measured(const struct decision *decision, const struct gsh_facts *facts)
{
    if (decision->measured == 0)
        return;
    sums.measured++;
    sums.measured_seconds += decision->measured;
    sums.measured_predicted += facts->host;
}

static void replay(struct decision *decision)
{
    for (unsigned k = 0; k < decision->cost.count; k++)
        decision->cost.operands[k].ledger = &decision->ledgers[k];
    if (decision->logged.host == 0) { /* an option decided, or the call was declined at once */
        sums.unpriced++;
        return;
    }
    const struct gsh_rates rates = rates_of(decision);
    const struct gsh_facts facts = gsh_call_cost_facts(&rates, &decision->cost);
    bool was_on_device = strcmp(decision->rule, "none") == 0, on_device = chosen_rule->sends(&facts);
    sums.priced++;
    sums.other_facts += !is_as_logged(decision);
    sums.logged += seconds_of(&facts, was_on_device);
    sums.predicted += seconds_of(&facts, on_device);
    sums.least += GSH_MIN(facts.host, facts.device);
    sums.least_with_debts += least_with_debts(&facts);
    add_measured(decision, &facts);
    if (on_device != was_on_device)
        note_difference(decision, &facts, on_device);
}

/* Seconds that device calls would have taken on the CPU are not measured: regret is of predictions. */
static void print_sums(void)
{
    printf("decisions                      %zu\n", sums.priced);
    printf("without a price                %zu\n", sums.unpriced);
    printf("facts other than logged        %zu\n", sums.other_facts);
    printf("verdicts other than logged     %zu\n", sums.to_device + sums.to_host);
    printf("  to the device                %zu\n", sums.to_device);
    printf("  to the CPU                   %zu\n", sums.to_host);
    printf("predicted, logged verdicts     %.9f s\n", sums.logged);
    printf("predicted, these verdicts      %.9f s\n", sums.predicted);
    printf("regret, moves ignored          %.9f s\n", sums.predicted - sums.least);
    printf("regret, uploads less debts     %.9f s\n", sums.predicted - sums.least_with_debts);
    printf("measured on the CPU            %zu\n", sums.measured);
    printf("  measured                     %.9f s\n", sums.measured_seconds);
    printf("  predicted                    %.9f s\n", sums.measured_predicted);
}

/* ---- arguments ---- */

static void change_rate(const char *text)
{
    const char *value = strchr(text, '=');
    const struct gsh_decision_field *field = NULL;
    if (value == NULL || changed_count == MOST_RATES)
        fail("not a rate", text);
    size_t length = (size_t)(value - text);
    while ((field = gsh_decision_fields_next(GSH_DECISION_RATE, field)) != NULL &&
           (strlen(field->name) != length || strncmp(field->name, text, length) != 0))
        ;
    if (field == NULL)
        fail("no such rate", text);
    changed_rates[changed_count].field = field;
    changed_rates[changed_count++].value = strtod(value + 1, NULL);
}

static void choose_rule(const char *name)
{
    for (size_t i = 0; i < GSH_COUNT(rules); i++)
        if (strcmp(rules[i].name, name) == 0) {
            chosen_rule = &rules[i];
            return;
        }
    fail("no such rule (policy, gain, host, device)", name);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fail("usage", "replay_decisions LOG... [--rate NAME=VALUE]... [--rule policy|gain|host|device] [--list]");
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0)
            lists = true;
        else if (strcmp(argv[i], "--rate") == 0 && has_value)
            change_rate(argv[++i]);
        else if (strcmp(argv[i], "--rule") == 0 && has_value)
            choose_rule(argv[++i]);
        else
            read_log(argv[i]);
    }
    for (size_t i = 0; i < count; i++)
        replay(&decisions[i]);
    print_sums();
    free(decisions);
    return 0;
}
