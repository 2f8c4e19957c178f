/* SPDX-License-Identifier: Apache-2.0
 *
 * The prelude of a kernel's text. Compilation dominates the first use of an operation, so a text holds only the
 * needed sections of kernels/cuda/: those for the dtypes that occur, and of the sections of helpers those that define
 * a helper which an expression names.
 */
#include "critical.h"
#include "source_parts.h"
#include "source_texts.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#define FLOAT16 (1u << GSH_FLOAT16)
#define EVERY (unsigned)GSH_SET_ALL
#define COMPLEX (unsigned)GSH_SET_COMPLEX

enum { MOST_WANTS = 4, MOST_DEFINITIONS = 1024 };
enum need { ALWAYS, WHERE_NAMED, WHERE_WANTED, FOR_ERRORS, FOR_COLLECTIVE };

/* In the order of the text. */
static const struct section {
    const char *text;
    unsigned dtypes; /* one of these occurs */
    enum need need;
    const char *wants[MOST_WANTS]; /* other sections that it calls, all of them; NULL: none */
} sections[] = {
    {gsh_cuda_text_types, EVERY, ALWAYS, {NULL}},
    {gsh_cuda_text_cast, EVERY, ALWAYS, {NULL}},
    {gsh_cuda_text_half, FLOAT16, ALWAYS, {NULL}},
    {gsh_cuda_text_arithmetic, EVERY, ALWAYS, {NULL}},
    {gsh_cuda_text_complex, COMPLEX, ALWAYS, {NULL}},
    {gsh_cuda_text_integers, (unsigned)(GSH_SET_INTEGERS | GSH_SET_BOOL), WHERE_NAMED, {NULL}},
    {gsh_cuda_text_floats, EVERY, WHERE_NAMED, {NULL}},
    {gsh_cuda_text_round, (unsigned)GSH_SET_INEXACT, WHERE_NAMED, {NULL}},
    {gsh_cuda_text_real_math, EVERY, WHERE_WANTED, {NULL}},
    {gsh_cuda_text_transcendental,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_real_math}},
    {gsh_cuda_text_hypot, EVERY, WHERE_NAMED, {NULL}},
    {gsh_cuda_text_complex_length, COMPLEX, WHERE_NAMED, {gsh_cuda_text_hypot}},
    {gsh_cuda_text_complex_exp, COMPLEX, WHERE_NAMED, {gsh_cuda_text_hypot}},
    {gsh_cuda_text_complex_hyperbolic, COMPLEX, WHERE_NAMED, {NULL}},
    {gsh_cuda_text_complex_inverse, COMPLEX, WHERE_NAMED, {gsh_cuda_text_hypot}},
    {gsh_cuda_text_special_base, EVERY, WHERE_WANTED, {NULL}},
    {gsh_cuda_text_special_erf,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_gamma,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_bessel,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_modified,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_log,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_degrees,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_integrals,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_certain,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_exp_table, EVERY, WHERE_WANTED, {NULL}},
    {gsh_cuda_text_special_power,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_certain, gsh_cuda_text_special_exp_table}},
    {gsh_cuda_text_special_incomplete,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_erf, gsh_cuda_text_special_gamma,
      gsh_cuda_text_special_log}},
    {gsh_cuda_text_special_sines,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base}},
    {gsh_cuda_text_special_beta,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_gamma}},
    {gsh_cuda_text_special_zeta,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_gamma}},
    {gsh_cuda_text_special_order,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_gamma}},
    {gsh_cuda_text_special_elliptic,
     (unsigned)GSH_SET_FLOATS,
     WHERE_NAMED,
     {gsh_cuda_text_special_base, gsh_cuda_text_special_log, gsh_cuda_text_special_integrals}},
    {gsh_cuda_text_memory, EVERY, ALWAYS, {NULL}},
    {gsh_cuda_text_collective, EVERY, FOR_COLLECTIVE, {NULL}},
    {gsh_cuda_text_errors, EVERY, FOR_ERRORS, {NULL}},
};

static size_t name_length(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    return length;
}

/* True where the expression calls the helper. */
static bool calls(const char *expression, const char *name, size_t length)
{
    for (const char *at = expression; at && (at = strstr(at, "gsh_")) != NULL;) {
        size_t found = name_length(at);
        if (found == length && memcmp(at, name, length) == 0)
            return true;
        at += found;
    }
    return false;
}

/* The helpers that sections of the kind WHERE_NAMED define, section by section. */
static struct definition {
    const char *name; /* in the section's text */
    size_t length;
} definitions[MOST_DEFINITIONS];
static size_t definition_count;
static size_t first_definition[GSH_COUNT(sections) + 1]; /* of a section; its end: the next one's */

/* A definition begins in the first column of a line, and the first name with gsh_ in that line is its name. */
static void list_definitions(const char *text)
{
    for (const char *line = text, *end; *line != '\0'; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        const char *name = *line == ' ' ? NULL : strstr(line, "gsh_");
        if (name != NULL && name < end && definition_count < MOST_DEFINITIONS)
            definitions[definition_count++] = (struct definition){name, name_length(name)};
    }
}

static void list_all_definitions(void)
{
    for (size_t i = 0; i < GSH_COUNT(sections); i++) {
        first_definition[i] = definition_count;
        if (sections[i].need == WHERE_NAMED)
            list_definitions(sections[i].text);
    }
    first_definition[GSH_COUNT(sections)] = definition_count;
}

/* Whether an expression calls a helper that the section defines. Of a section that lies behind the table's end it is not known:
 * true. */
static bool defines_named(const struct section *section, const struct gsh_source_prelude *prelude)
{
    size_t number = (size_t)(section - sections);
    for (size_t k = first_definition[number]; k < first_definition[number + 1]; k++)
        for (size_t i = 0; i < GSH_COUNT(prelude->expressions); i++)
            if (calls(prelude->expressions[i], definitions[k].name, definitions[k].length))
                return true;
    return first_definition[number + 1] == MOST_DEFINITIONS;
}

static bool is_needed(const struct section *section, const struct gsh_source_prelude *prelude)
{
    if ((section->dtypes & prelude->dtypes) == 0)
        return false;
    switch (section->need) {
    case ALWAYS:
        return true;
    case WHERE_NAMED:
        return defines_named(section, prelude);
    case WHERE_WANTED:
        return false;
    case FOR_ERRORS:
        return prelude->errors;
    case FOR_COLLECTIVE:
        return prelude->collective;
    }
    return true;
}

static bool wants(const struct section *section, const struct section *other)
{
    for (size_t i = 0; i < MOST_WANTS; i++)
        if (section->wants[i] == other->text)
            return true;
    return false;
}

void gsh_source_text_write_prelude(struct gsh_fmt *fmt, const struct gsh_source_prelude *prelude)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct gsh_source_prelude wanted = *prelude;
    gsh_critical_enter(); /* a signal handler here would leave other threads waiting */
    pthread_once(&once, list_all_definitions);
    gsh_critical_leave();
    wanted.dtypes |= 1u << GSH_BOOL; /* every kernel may have a mask */
    bool is_taken[GSH_COUNT(sections)];
    for (size_t i = 0; i < GSH_COUNT(sections); i++)
        is_taken[i] = is_needed(&sections[i], &wanted);
    for (size_t i = 0; i < GSH_COUNT(sections); i++)
        for (size_t k = 0; k < GSH_COUNT(sections); k++)
            is_taken[i] = is_taken[i] || (is_taken[k] && wants(&sections[k], &sections[i]));
    gsh_fmt_printf(fmt, "constexpr bool is_half = %s, PROPAGATES_NAN = %s;\n#define ERRORS %d\n",
                   prelude->is_half ? "true" : "false", prelude->propagates_nan ? "true" : "false",
                   prelude->errors);
    for (size_t i = 0; i < GSH_COUNT(sections); i++)
        if (is_taken[i])
            gsh_fmt_text(fmt, sections[i].text);
}

enum gsh_status gsh_source_text_put_sink(struct gsh_source_stage *stage,
                                         const struct gsh_launch *launch)
{
    GSH_TRY(gsh_source_put(stage, launch->errors.claims));
    GSH_TRY(gsh_source_put(stage, launch->errors.found));
    return gsh_source_put(stage, launch->errors.sequence);
}

uint64_t gsh_source_text_magic(int64_t d)
{
    uint64_t shift = 0;
    if (d <= 0 || d > INT32_MAX)
        return 0;
    while ((INT64_C(1) << shift) < d)
        shift++;
    uint64_t multiplier =
        ((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - (uint64_t)d)) / (uint64_t)d + 1;
    return shift << 32 | multiplier;
}

enum gsh_status gsh_source_text_put_magic(struct gsh_source_stage *stage, const int64_t *divisors,
                                          int count, int room)
{
    for (int i = 0; i < room; i++)
        GSH_TRY(gsh_source_put(stage, i < count ? gsh_source_text_magic(divisors[i]) : 0));
    return GSH_OK;
}
