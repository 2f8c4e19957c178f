/* SPDX-License-Identifier: Apache-2.0
 *
 * The parsers.
 */
#include "option_words.h"

#include "fmt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 31 };
#define SWITCHES "0|1|no|yes|off|on|false|true"

/* ---- words ---- */

/* The index of the word among "a|b|c", which ":" or " " may end. */
static bool find_word(const char *text, const char *words, int64_t *index)
{
    size_t length = strlen(text);
    for (int64_t i = 0;; i++) {
        size_t word_length = strcspn(words, "|: ");
        if (word_length == length && strncasecmp(words, text, length) == 0) {
            *index = i;
            return true;
        }
        if (words[word_length] != '|')
            return false;
        words += word_length + 1;
    }
}

bool gsh_option_words_bool(const char *text, int64_t *number)
{
    if (!find_word(text, SWITCHES, number))
        return false;
    *number %= 2;
    return true;
}

bool gsh_option_words_is_off(const char *text)
{
    int64_t is_on;
    return gsh_option_words_bool(text, &is_on) && !is_on;
}

bool gsh_option_words_choice(const char *text, const char *words, int64_t *index)
{
    static const char *const meant[2][4] = {{"off", "none", "ignore", "warn"},
                                            {"auto", "info", "deferred", "warn"}};
    int64_t is_on;
    if (find_word(text, words, index))
        return true;
    if (!gsh_option_words_bool(text, &is_on))
        return false;
    for (size_t i = 0; i < GSH_COUNT(meant[0]); i++)
        if (find_word(meant[is_on][i], words, index))
            return true;
    return false;
}

/* ---- numbers ---- */

/* Digits with an optional sign; *end is the text behind them. */
static bool parse_digits(const char *text, int64_t *number, const char **end)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits))
        return false;
    int saved_errno = errno;
    errno = 0;
    char *stop;
    *number = strtoll(text, &stop, 10);
    bool in_range = errno == 0;
    errno = saved_errno;
    *end = stop;
    return in_range;
}

/* K, KB, KiB and so on up to T. */
static bool apply_unit(const char *text, int64_t *number)
{
    static const char units[] = "KMGT";
    const char *unit = strchr(units, toupper((unsigned char)*text));
    if (unit == NULL ||
        !(text[1] == '\0' || strcasecmp(text + 1, "B") == 0 || strcasecmp(text + 1, "iB") == 0))
        return false;
    return !__builtin_mul_overflow(*number, INT64_C(1) << (10 * (unit - units + 1)), number);
}

/* ".25e4" behind the digits of the number: a fraction must be gone once the exponent is applied. */
static bool apply_exponent(const char *text, int64_t *number)
{
    const char *fraction = *text == '.' ? text + 1 : text;
    size_t places = strspn(fraction, "0123456789");
    const char *exponent = fraction + places, *end;
    int64_t power, sign = *number < 0 ? -1 : 1;
    if ((*text == '.') != (places > 0) || tolower((unsigned char)*exponent) != 'e' ||
        !parse_digits(exponent + 1, &power, &end) || *end != '\0' || power < (int64_t)places ||
        power > 18)
        return false;
    for (int64_t i = 0; i < power; i++) {
        int64_t digit = i < (int64_t)places ? fraction[i] - '0' : 0;
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, sign * digit, number))
            return false;
    }
    return true;
}

bool gsh_option_words_number(const char *text, int64_t *number)
{
    const char *end;
    if (!parse_digits(text, number, &end))
        return false;
    return *end == '\0' || apply_unit(end, number) || apply_exponent(end, number);
}

bool gsh_option_words_percent(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end) / 100;
    if (end == text)
        return false;
    end += *end == ' ';
    return strcmp(end, "%") == 0 && *share >= 0 && *share <= 1;
}

/* ---- nearness ---- */

static bool is_same(char x, char y)
{
    return tolower((unsigned char)x) == tolower((unsigned char)y);
}

/* The row for the next character of `text`, from the two rows before. */
static void fill_row(const char *text, size_t i, const char *other, size_t columns,
                     const unsigned *last, const unsigned *last_but_one, unsigned *row)
{
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= columns; j++) {
        unsigned replaced = last[j - 1] + !is_same(text[i - 1], other[j - 1]);
        row[j] = GSH_MIN(GSH_MIN(last[j], row[j - 1]) + 1, replaced);
        bool is_swap = i > 1 && j > 1 && is_same(text[i - 1], other[j - 2]) &&
                       is_same(text[i - 2], other[j - 1]);
        if (is_swap)
            row[j] = GSH_MIN(row[j], last_but_one[j - 2] + 1);
    }
}

unsigned gsh_option_words_distance(const char *text, size_t length, const char *other)
{
    unsigned rows[3][LONGEST + 1] = {{0}};
    size_t columns = strlen(other);
    if (length > LONGEST || columns > LONGEST)
        return (unsigned)GSH_MAX(length, columns);
    for (size_t j = 0; j <= columns; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= length; i++)
        fill_row(text, i, other, columns, rows[(i - 1) % 3], rows[(i + 1) % 3], rows[i % 3]);
    return rows[length % 3][columns];
}

int64_t gsh_option_words_nearest(const char *text, const char *words)
{
    int64_t cuda;
    if (strcasecmp(text, "gpu") == 0 && find_word("cuda", words, &cuda))
        return cuda; /* and not cpu, though that is one letter off */
    size_t length = strlen(text);
    unsigned least = gsh_option_words_most_changes(length) + 1;
    int64_t nearest = -1;
    for (int64_t i = 0;; i++) {
        char word[LONGEST + 1];
        size_t word_length = strcspn(words, "|: ");
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, word, sizeof word);
        gsh_fmt_printf(&fmt, "%.*s", (int)word_length, words);
        unsigned distance = gsh_option_words_distance(text, length, word);
        if (distance < least) {
            least = distance;
            nearest = i;
        }
        if (words[word_length] != '|')
            return nearest;
        words += word_length + 1;
    }
}
