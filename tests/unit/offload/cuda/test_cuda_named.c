/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs by name: the H200's rates are those of cuda_rates.h, and others are lower in proportion.
 */
#include "check.h"
#include "cuda_named.h"
#include "cuda_rates.h"

#include <math.h>
#include <string.h>

static bool is_near(double x, double y)
{
    return fabs(x - y) < 0.01 * y;
}

static void test_measured(void)
{
    const struct gsh_rates rates = gsh_cuda_named_rates(gsh_cuda_named_find("H200"));
    CHECK(memcmp(&rates, &gsh_cuda_rates, sizeof rates) == 0);
}

/* Each name of the list is found, and no other. */
static void test_names(void)
{
    char names[256], *rest = NULL;
    unsigned count = 0;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, names, sizeof names);
    gsh_cuda_named_list(&fmt);
    for (char *name = strtok_r(names, ", ", &rest); name != NULL;
         name = strtok_r(NULL, ", ", &rest), count++)
        CHECK(gsh_cuda_named_find(name) != NULL);
    CHECK(count == 10);
    CHECK(gsh_cuda_named_find("h2000") == NULL && gsh_cuda_named_find("") == NULL);
}

static void test_slower(void)
{
    const struct gsh_cuda_named *l4 = gsh_cuda_named_find("l4");
    const struct gsh_rates rates = gsh_cuda_named_rates(l4), speed = gsh_cuda_named_speed(l4);
    CHECK(is_near(rates.device_memory, gsh_cuda_rates.device_memory * 0.3 / 4.8));
    CHECK(is_near(rates.device_flops[1], gsh_cuda_rates.device_flops[1] * 0.47 / 67));
    CHECK(is_near(rates.transfer_pinned, gsh_cuda_rates.transfer_pinned * 0.5));
    CHECK(rates.host_memory == gsh_cuda_rates.host_memory);
    CHECK(speed.device_memory > rates.device_memory && speed.device_memory < l4->bandwidth);
    CHECK(speed.device_flops[0] < l4->flops[0] && speed.transfer_pinned < l4->bus);
}

int main(void)
{
    test_measured();
    test_names();
    test_slower();
    return check_result();
}
