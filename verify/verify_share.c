/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "verify_share.h"

#include "log.h"
#include "option_words.h"
#include "options.h"

#include <stdatomic.h>
#include <strings.h>

bool gsh_verify_share_is_on;

static double chosen_share;
static _Atomic uint64_t calls;

bool gsh_verify_share_parse(const char *text, double *share)
{
    int64_t is_on;
    if (gsh_option_words_bool(text, &is_on) || strcasecmp(text, "all") == 0) {
        *share = strcasecmp(text, "all") == 0 || is_on;
        return true;
    }
    return gsh_option_words_percent(text, share);
}

void gsh_verify_share_check(void)
{
    const char *text = gsh_option_text(GSH_OPTION_VERIFY);
    double share;
    if (text[0] != '\0' && !gsh_verify_share_parse(text, &share))
        gsh_log(GSH_LOG_WARN,
                "GPUSHIM_VERIFY=%.100s: bad value, nothing is verified; allowed: all, "
                "yes, no, or a percentage, as 1%%",
                text);
}

void gsh_verify_share_init(void)
{
    const char *text = gsh_option_text(GSH_OPTION_VERIFY);
    if (text[0] != '\0' && !gsh_verify_share_parse(text, &chosen_share))
        chosen_share = 0;
    gsh_verify_share_is_on = chosen_share > 0;
}

/* splitmix64 */
static uint64_t scatter(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool gsh_verify_share_is_chosen(uint64_t number, double share)
{
    return (double)(scatter(number) >> 11) < share * 0x1p53;
}

bool gsh_verify_share_chooses(void)
{
    uint64_t number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return gsh_verify_share_is_chosen(number, chosen_share);
}

const char *gsh_verify_share_text(void)
{
    return chosen_share >= 1 ? "all" : gsh_option_text(GSH_OPTION_VERIFY);
}
