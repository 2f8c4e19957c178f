/* SPDX-License-Identifier: Apache-2.0
 *
 * Which advice a line's numbers give, and which of two lines costs more.
 */
#include "line_advice.h"

#include "check.h"

static char text[256];

static const char *code_of(const struct gsh_line_profile_copy *line, uint64_t elements,
                           enum gsh_reason reason)
{
    const struct gsh_line_facts facts = {line, elements, reason};
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    const char *code = gsh_line_advice_append(&facts, &fmt);
    return code != NULL ? code : "none";
}

static double cost_of(const struct gsh_line_profile_copy *line, enum gsh_reason reason)
{
    const struct gsh_line_facts facts = {line, 0, reason};
    return gsh_line_advice_cost(&facts);
}

static void test_elements(void)
{
    struct gsh_line_profile_copy line = {
        .device_calls = 300, .downloads = 300, .small_downloads = 300, .download_bytes = 2400};
    CHECK_STR(code_of(&line, 300, GSH_REASON_NONE), "elements");
    CHECK_STR(text, "`x[i]` in a loop reads 8 bytes 300 times: take `x.tolist()` or the whole row");
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "results");
    line = (struct gsh_line_profile_copy){
        .downloads = 4, .small_downloads = 3, .download_bytes = 3 * 8 + 1048576, .faults_read = 1};
    CHECK_STR(code_of(&line, 3, GSH_REASON_NONE), "elements");
    CHECK_STR(
        text,
        "`x[i]` in a loop reads 8 bytes 3 times, then 1.0 MiB: take `x.tolist()` or the whole row");
}

static void test_others(void)
{
    struct gsh_line_profile_copy line = {.downloads = 2, .download_bytes = 4096, .faults_read = 2};
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "others");
    line.small_downloads = 1;
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "back");
    line.small_downloads = 2; /* a few bytes, twice: nothing worth a change */
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "none");
    line.small_downloads = 0;
    line.faults_read = 0;
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "back");
    line = (struct gsh_line_profile_copy){.uploads = 10, .upload_bytes = 10240};
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "sent");
    CHECK_STR(text, "the CPU's arrays go to the device, 1.0 KiB 10 times: make them once before "
                    "the loop, or make them "
                    "by calls that run on the device");
    line.uploads = 1;
    CHECK_STR(code_of(&line, 0, GSH_REASON_NONE), "none");
}

static void test_reasons(void)
{
    struct gsh_line_profile_copy line = {.host_calls = 1, .host_ns = 5000000};
    CHECK_STR(code_of(&line, 0, GSH_REASON_DTYPE), "reason");
    CHECK_STR(code_of(&line, 0, GSH_REASON_TOO_SMALL), "none");
    CHECK_STR(code_of(&line, 0, GSH_REASON_DATA_ON_HOST), "none");
    CHECK(cost_of(&line, GSH_REASON_DTYPE) == 5e-3);
    CHECK(cost_of(&line, GSH_REASON_DATA_ON_HOST) == 0);
    line.host_calls = 10;
    CHECK_STR(code_of(&line, 0, GSH_REASON_TOO_SMALL), "reason");
}

static void test_order(void)
{
    const struct gsh_line_profile_copy many = {.downloads = 1000, .download_bytes = 8000},
                                       large = {.downloads = 1, .download_bytes = 12000000},
                                       larger = {.downloads = 1, .download_bytes = 1200000000};
    CHECK(cost_of(&many, GSH_REASON_NONE) > cost_of(&large, GSH_REASON_NONE));
    CHECK(cost_of(&many, GSH_REASON_NONE) < cost_of(&larger, GSH_REASON_NONE));
}

int main(void)
{
    test_elements();
    test_others();
    test_reasons();
    test_order();
    return check_result();
}
