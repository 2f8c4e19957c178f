/* SPDX-License-Identifier: Apache-2.0
 *
 * A build without NVTX's header: GPUSHIM_NVTX=1 gives one line on stderr and nothing is on. tests/preload/test_nvtx.py judges builds
 * with the header.
 */
#undef GSH_HAS_NVTX
#include "nvtx_range.c"

#include "capture.h"
#include "check.h"
#include "nvtx.h"
#include "options.h"

static void ask(void)
{
    gsh_options_init();
    gsh_nvtx_init();
    GSH_NVTX_RANGE("flush", 3);
    if (gsh_nvtx_is_on)
        fputs("it is on\n", stderr);
}

static void make_ranges(void)
{
    if (!gsh_nvtx_range_push("transfer", 8))
        fputs("no range\n", stderr);
    gsh_nvtx_range_pop();
}

int main(void)
{
    char text[256];
    CHECK_INT(capture_stderr(ask, text, sizeof text), 0);
    CHECK_STR(text, "");
    setenv("GPUSHIM_NVTX", "1", 1);
    CHECK_INT(capture_stderr(ask, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: GPUSHIM_NVTX: this library was built without NVTX's header\n");
    CHECK_INT(capture_stderr(make_ranges, text, sizeof text), 0);
    CHECK_STR(text, "");
    return check_result();
}
