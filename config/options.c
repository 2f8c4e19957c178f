/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment as typed values. All state is in static memory. Values are copied, because programs that set their
 * title overwrite the environment block. Runs in the library's constructor, so it calls nothing that could allocate,
 * lock or print.
 */
#include "options.h"

#include "log.h"
#include "option_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PREFIX "GPUSHIM_"
#define TEXT_SIZE 4096
#define HELP_SIZE 8192

enum type { BOOL, INT, SIZE, CHOICE, TEXT, SWITCH };

struct row {
    const char *name;
    enum type type;
    const char *default_text; /* TEXT and SWITCH only */
    int64_t default_number, min, max;
    const char *help;
};

#define NUMBER_DEFAULTS(value) NULL, value
#define BOOL_DEFAULTS(value) NUMBER_DEFAULTS(value)
#define INT_DEFAULTS(value) NUMBER_DEFAULTS(value)
#define SIZE_DEFAULTS(value) NUMBER_DEFAULTS(value)
#define CHOICE_DEFAULTS(value) NUMBER_DEFAULTS(value)
#define TEXT_DEFAULTS(value) value, 0
#define SWITCH_DEFAULTS(value) TEXT_DEFAULTS(value)
static const struct row rows[GSH_OPTION_COUNT] = {
#define X(name, type, default_value, min, max, help)                                               \
    {#name, type, type##_DEFAULTS(default_value), min, max, help},
#include "options.def"
#undef X
};

/* The value of an option that is set. For a bad value `text` is the text from the environment. */
struct value {
    bool is_set, is_bad;
    int64_t number;
    char text[TEXT_SIZE];
};
static struct value values[GSH_OPTION_COUNT];
static bool is_read, is_announced;

static bool parse_value(const struct row *row, const char *text, int64_t *number)
{
    switch (row->type) {
    case BOOL:
        return gsh_option_words_bool(text, number);
    case INT:
    case SIZE:
        return gsh_option_words_number(text, number) && *number >= row->min && *number <= row->max;
    case CHOICE:
        return gsh_option_words_choice(text, row->help, number);
    case TEXT:
    case SWITCH:
        return strlen(text) < TEXT_SIZE;
    }
    return false;
}

static void set_value(enum gsh_option option, const char *text)
{
    struct value *value = &values[option];
    value->is_bad = !parse_value(&rows[option], text, &value->number);
    value->is_set = !value->is_bad;
    struct gsh_fmt copy;
    gsh_fmt_init(&copy, value->text, TEXT_SIZE);
    gsh_fmt_text(&copy, rows[option].type == SWITCH && gsh_option_words_is_off(text) ? "" : text);
}

void gsh_options_init_secure(void)
{
    values[GSH_OPTION_MODE] = (struct value){.is_set = true, .number = GSH_MODE_OFF};
    is_read = is_announced = true;
}

void gsh_options_init(void)
{
    if (!is_read && getauxval(AT_SECURE) != 0)
        gsh_options_init_secure();
    if (is_read)
        return;
    is_read = true;
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        char name[64];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, name, sizeof name);
        gsh_fmt_text(&fmt, PREFIX);
        gsh_fmt_text(&fmt, rows[option].name);
        const char *text = getenv(name);
        if (text != NULL && text[0] != '\0')
            set_value(option, text);
    }
    gsh_log_set_level((enum gsh_log_level)gsh_option_number(GSH_OPTION_LOG));
}

int64_t gsh_option_number(enum gsh_option option)
{
    return values[option].is_set ? values[option].number : rows[option].default_number;
}

const char *gsh_option_text(enum gsh_option option)
{
    return values[option].is_set ? values[option].text : rows[option].default_text;
}

/* The words of a CHOICE are at the start of its help, before ": ". */
static const char *meaning(const struct row *row)
{
    return row->type == CHOICE ? strstr(row->help, ": ") + 2 : row->help;
}

/* The words of a CHOICE row, or just the one with index `only` where it is not negative. */
static void append_words(struct gsh_fmt *fmt, const struct row *row, const char *separator,
                         int64_t only)
{
    const char *word = row->help;
    for (int64_t i = 0;; i++) {
        size_t length = strcspn(word, "|:");
        if (only < 0 || i == only)
            gsh_fmt_printf(fmt, "%s%.*s", i > 0 && only < 0 ? separator : "", (int)length, word);
        if (word[length] != '|')
            return;
        word += length + 1;
    }
}

/* The values that the row accepts; `separator` is put between words. */
static void append_allowed(struct gsh_fmt *fmt, const struct row *row, const char *separator)
{
    switch (row->type) {
    case BOOL:
        gsh_fmt_printf(fmt, "0%s1", separator);
        break;
    case INT:
    case SIZE:
        gsh_fmt_printf(fmt, "%lld..", (long long)row->min);
        if (row->max != INT64_MAX)
            gsh_fmt_printf(fmt, "%lld", (long long)row->max);
        if (row->type == SIZE)
            gsh_fmt_text(fmt, " bytes, or with K, M, G, T");
        break;
    case CHOICE:
        append_words(fmt, row, separator, -1);
        break;
    case TEXT:
        gsh_fmt_text(fmt, "text");
        break;
    case SWITCH:
        gsh_fmt_printf(fmt, "0%stext", separator);
        break;
    }
}

static bool is_text(const struct row *row)
{
    return row->type == TEXT || row->type == SWITCH;
}

static void append_default(struct gsh_fmt *fmt, const struct row *row)
{
    if (is_text(row))
        gsh_fmt_text(fmt, row->default_text);
    else if (row->type == CHOICE)
        append_words(fmt, row, "", row->default_number);
    else
        gsh_fmt_printf(fmt, "%lld", (long long)row->default_number);
}

static void warn_bad_value(const struct row *row, const struct value *value)
{
    char text[512];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_printf(&fmt, PREFIX "%s=%.100s: bad value, taken as ", row->name, value->text);
    append_default(&fmt, row);
    gsh_fmt_text(&fmt, "; allowed: ");
    append_allowed(&fmt, row, "|");
    int64_t nearest = row->type == CHOICE ? gsh_option_words_nearest(value->text, row->help) : -1;
    if (nearest >= 0) {
        gsh_fmt_text(&fmt, "; did you mean ");
        append_words(&fmt, row, "", nearest);
        gsh_fmt_text(&fmt, "?");
    }
    gsh_log(GSH_LOG_WARN, "%s", text);
}

static bool is_option(const char *name, size_t length)
{
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        if (strlen(rows[option].name) == length && memcmp(rows[option].name, name, length) == 0)
            return true;
    }
    return false;
}

/* The option whose name is the nearest; NULL: none is near. */
static const char *find_nearest(const char *name, size_t length)
{
    const char *nearest = NULL;
    unsigned least = gsh_option_words_most_changes(length) + 1;
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        unsigned distance = gsh_option_words_distance(name, length, rows[option].name);
        if (distance < least) {
            least = distance;
            nearest = rows[option].name;
        }
    }
    return nearest;
}

static void warn_unknown(const char *name, size_t length)
{
    const char *nearest = find_nearest(name, length);
    if (nearest != NULL)
        gsh_log(GSH_LOG_WARN, "unknown option " PREFIX "%.*s; did you mean " PREFIX "%s?",
                (int)length, name, nearest);
    else
        gsh_log(GSH_LOG_WARN, "unknown option " PREFIX "%.*s; GPUSHIM_HELP=1 lists them",
                (int)length, name);
}

static void warn_unknown_names(void)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const char *name = *entry + strlen(PREFIX);
        size_t length = strcspn(name, "=");
        if (!is_option(name, length))
            warn_unknown(name, length);
    }
}

void gsh_options_announce(void)
{
    if (is_announced)
        return;
    is_announced = true;
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        if (values[option].is_bad)
            warn_bad_value(&rows[option], &values[option]);
    }
    warn_unknown_names();
    if (gsh_option_number(GSH_OPTION_HELP)) {
        char text[HELP_SIZE];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, text, sizeof text);
        gsh_options_help(&fmt, false);
        gsh_log_raw_sigsafe(text, fmt.length);
    }
}

static bool differs(enum gsh_option option)
{
    if (is_text(&rows[option]))
        return strcmp(gsh_option_text(option), rows[option].default_text) != 0;
    return gsh_option_number(option) != rows[option].default_number;
}

void gsh_options_describe(struct gsh_fmt *fmt)
{
    bool any = false;
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        if (!differs(option))
            continue;
        any = true;
        gsh_fmt_printf(fmt, PREFIX "%s=%s\n", rows[option].name, values[option].text);
    }
    if (!any)
        gsh_fmt_text(fmt, "none differs\n");
}

static void append_markdown_row(struct gsh_fmt *fmt, const struct row *row)
{
    gsh_fmt_printf(fmt, "| `" PREFIX "%s` | ", row->name);
    append_allowed(fmt, row, ", ");
    gsh_fmt_text(fmt, " | ");
    append_default(fmt, row);
    gsh_fmt_printf(fmt, " | %s |\n", meaning(row));
}

static void append_plain_row(struct gsh_fmt *fmt, const struct row *row)
{
    gsh_fmt_printf(fmt, "  " PREFIX "%s=", row->name);
    append_allowed(fmt, row, "|");
    gsh_fmt_text(fmt, "  [");
    append_default(fmt, row);
    gsh_fmt_printf(fmt, "]\n      %s\n", meaning(row));
}

void gsh_options_help(struct gsh_fmt *fmt, bool markdown)
{
    gsh_fmt_text(fmt, markdown ? "| variable | values | default | meaning |\n|---|---|---|---|\n"
                               : "gpushim: options, from the environment [default]:\n");
    for (unsigned option = 0; option < GSH_OPTION_COUNT; option++) {
        if (markdown)
            append_markdown_row(fmt, &rows[option]);
        else
            append_plain_row(fmt, &rows[option]);
    }
}
