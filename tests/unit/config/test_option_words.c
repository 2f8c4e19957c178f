/* SPDX-License-Identifier: Apache-2.0
 *
 * config/option_words.c: what the values of options may look like.
 */
#include "option_words.h"

#include "check.h"

#include <string.h>

#define BAD INT64_MIN

static const struct {
    const char *text;
    int64_t number; /* BAD: none */
} numbers[] = {
    {"0", 0},           {"-17", -17},
    {"+5", 5},          {"64K", 65536},
    {"64kb", 65536},    {"3MiB", 3 << 20},
    {"2G", 2LL << 30},  {"1T", 1LL << 40},
    {"1e6", 1000000},   {"1E3", 1000},
    {"2.5e6", 2500000}, {"-1.25e2", -125},
    {"7e0", 7},         {"9223372036854775807", INT64_MAX},
    {"", BAD},          {"K", BAD},
    {"1.5", BAD},       {"1.5K", BAD},
    {"1.25e1", BAD},    {"1e", BAD},
    {"1e-3", BAD},      {"1e30", BAD},
    {"9e18K", BAD},     {"99999999999999999999", BAD},
    {"9000000T", BAD},  {"1 000", BAD},
    {"5x", BAD},        {"1KK", BAD},
    {"1.e3", BAD},      {"10e18", BAD},
};

static void test_numbers(void)
{
    for (size_t i = 0; i < GSH_COUNT(numbers); i++) {
        int64_t number = 0;
        bool is_number = gsh_option_words_number(numbers[i].text, &number);
        if (!CHECK(is_number == (numbers[i].number != BAD)) ||
            !CHECK(!is_number || number == numbers[i].number))
            printf("%s\n", numbers[i].text);
    }
}

static void test_percentages(void)
{
    static const char *const bad[] = {"",    "%",    "5",    "101%", "-1%",
                                      "5%%", "5  %", "nan%", "5% ",  "all"};
    double share;
    CHECK(gsh_option_words_percent("80%", &share) && share == 0.8);
    CHECK(gsh_option_words_percent("0.5 %", &share) && share == 0.005);
    CHECK(gsh_option_words_percent("0%", &share) && share == 0);
    CHECK(gsh_option_words_percent("100%", &share) && share == 1);
    for (size_t i = 0; i < GSH_COUNT(bad); i++)
        if (!CHECK(!gsh_option_words_percent(bad[i], &share)))
            printf("%s\n", bad[i]);
}

static void test_words(void)
{
    static const char *const on[] = {"1", "yes", "ON", "True"}, *const off[] = {"0", "NO", "off",
                                                                                "false"};
    int64_t value;
    for (size_t i = 0; i < GSH_COUNT(on); i++) {
        CHECK(gsh_option_words_bool(on[i], &value) && value == 1);
        CHECK(gsh_option_words_bool(off[i], &value) && value == 0);
        CHECK(gsh_option_words_choice(on[i], "auto|force|off: how", &value) && value == 0);
        CHECK(gsh_option_words_choice(off[i], "auto|force|off: how", &value) && value == 2);
        CHECK(!gsh_option_words_choice(on[i], "swap|procmem: how", &value));
    }
    CHECK(gsh_option_words_choice("on", "warn|info|debug: how", &value) && value == 1);
    CHECK(gsh_option_words_choice("no", "warn|info|debug: how", &value) && value == 0);
    CHECK(gsh_option_words_choice("1", "ignore|warn|raise: what", &value) && value == 1);
    CHECK(gsh_option_words_choice("0", "ignore|warn|raise: what", &value) && value == 0);
    CHECK(gsh_option_words_choice("false", "auto|cuda|none: what", &value) && value == 2);
    CHECK(gsh_option_words_choice("yes", "deferred|strict|off: what", &value) && value == 0);
    CHECK(gsh_option_words_choice("Force", "auto|force|off: how", &value) && value == 1);
    CHECK(!gsh_option_words_choice("how", "auto|force|off: how", &value));
    CHECK(!gsh_option_words_bool("2", &value) && !gsh_option_words_bool("", &value));
}

static unsigned distance(const char *text, const char *other)
{
    return gsh_option_words_distance(text, strlen(text), other);
}

static void test_distance(void)
{
    CHECK_INT(distance("REPORT", "REPORT"), 0);
    CHECK_INT(distance("report", "REPORT"), 0);
    CHECK_INT(distance("REPROT", "REPORT"), 1); /* a swap */
    CHECK_INT(distance("REPOR", "REPORT"), 1);
    CHECK_INT(distance("REPORTS", "REPORT"), 1);
    CHECK_INT(distance("DEVISE", "DEVICE"), 1);
    CHECK_INT(distance("", "MODE"), 4);
    CHECK_INT(distance("KITTEN", "SITTING"), 3);
    CHECK_INT(distance("A_NAME_THAT_IS_LONGER_THAN_ANY_OPTION", "MODE"), 37);
}

static void test_nearest_word(void)
{
    CHECK_INT(gsh_option_words_nearest("cdua", "auto|cuda|host: which"), 1);
    CHECK_INT(gsh_option_words_nearest("HOTS", "auto|cuda|host: which"), 2);
    CHECK_INT(gsh_option_words_nearest("GPU", "auto|cuda|host|none|cpu: which"), 1);
    CHECK_INT(gsh_option_words_nearest("gpu", "auto|cpu: which"), 1);
    CHECK_INT(gsh_option_words_nearest("which", "auto|cuda|host: which"), -1);
    CHECK_INT(gsh_option_words_nearest("", "auto|cuda|host: which"), -1);
    CHECK_INT(gsh_option_words_nearest("an-extremely-long-word-that-is-none", "auto|off: which"),
              -1);
}

int main(void)
{
    test_numbers();
    test_percentages();
    test_words();
    test_nearest_word();
    test_distance();
    return check_result();
}
