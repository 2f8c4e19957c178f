/* SPDX-License-Identifier: Apache-2.0
 *
 * base/fmt.c: bounds, termination and the count of what was cut.
 */
#include "check.h"
#include "fmt.h"

static void test_append(void)
{
    char text[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    CHECK_STR(text, "");
    gsh_fmt_text(&fmt, "a=");
    gsh_fmt_decimal(&fmt, 0);
    gsh_fmt_text(&fmt, " b=");
    gsh_fmt_decimal(&fmt, UINT64_MAX);
    gsh_fmt_text(&fmt, " c=");
    gsh_fmt_hex(&fmt, 0xdeadbeef01ULL);
    gsh_fmt_printf(&fmt, " %d%%", -5);
    CHECK_STR(text, "a=0 b=18446744073709551615 c=0xdeadbeef01 -5%");
    CHECK_INT(fmt.length, strlen(text));
    CHECK_INT(fmt.required, fmt.length);
}

/* Every size cuts at the same place for all ways of appending, and nothing is written past it. */
static void test_cut(void)
{
    for (size_t size = 0; size <= 12; size++) {
        char by_text[16], by_printf[16];
        memset(by_text, '#', sizeof by_text);
        memset(by_printf, '#', sizeof by_printf);
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, by_text, size);
        gsh_fmt_text(&fmt, "123");
        gsh_fmt_decimal(&fmt, 4567);
        gsh_fmt_text(&fmt, "89");
        CHECK_INT(fmt.required, 9);
        CHECK_INT(fmt.length, size == 0 ? 0 : GSH_MIN(size - 1, (size_t)9));
        gsh_fmt_init(&fmt, by_printf, size);
        gsh_fmt_printf(&fmt, "%d", 123);
        gsh_fmt_printf(&fmt, "%d%s", 4567, "89");
        CHECK_INT(fmt.required, 9);
        CHECK_INT(fmt.length, size == 0 ? 0 : GSH_MIN(size - 1, (size_t)9));
        CHECK(memcmp(by_text, by_printf, sizeof by_text) == 0);
        CHECK_INT(by_text[size], '#');
        if (size > 0)
            CHECK_INT(by_text[fmt.length], '\0');
    }
}

static void test_json_string(void)
{
    char text[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_fmt_json_string(&fmt, "a\"b\\c\n\x01\xc3\xa9");
    CHECK_STR(text, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\"");
}

static const char *json(const char *text)
{
    static char out[128];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, out, sizeof out);
    gsh_fmt_json_string(&fmt, text);
    return out;
}

static void test_json_not_utf8(void)
{
    CHECK_STR(json("\xf0\x9f\x98\x80 \xe2\x82\xac"), "\"\xf0\x9f\x98\x80 \xe2\x82\xac\"");
    CHECK_STR(json("caf\xe9s"), "\"caf\\ufffds\"");
    CHECK_STR(json("\xe2\x82"), "\"\\ufffd\\ufffd\"");            /* cut */
    CHECK_STR(json("\xc0\xaf"), "\"\\ufffd\\ufffd\"");            /* too long */
    CHECK_STR(json("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
    CHECK_STR(json("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void test_count(void)
{
    char text[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    for (uint64_t count = 0; count < 3; count++)
        gsh_fmt_count(&fmt, count, "launch ", "launches ");
    CHECK_STR(text, "0 launches 1 launch 2 launches ");
}

int main(void)
{
    test_count();
    test_append();
    test_cut();
    test_json_string();
    test_json_not_utf8();
    return check_result();
}
