/* SPDX-License-Identifier: Apache-2.0
 *
 * CERTAIN_LOG beside the C library's log: never another number, and few that are not certain.
 */
#include "host_loops.h"

#include "check.h"

#include <math.h>

enum { COUNT = 1000, ROUNDS = 1000 };

static double unit_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* In (0, 1); around 1; of all magnitudes. */
static double make_number(uint64_t *seed, int form)
{
    double unit = unit_of(seed);
    if (form == 0)
        return unit;
    return form == 1 ? 0.9 + 0.2 * unit : ldexp(1 + unit, (int)(unit_of(seed) * 2040) - 1021);
}

static void compute(const double *in, double *out, int count)
{
    struct gsh_host_block block = {.in = {in}, .out = {out}, .n = count};
    gsh_host_loops_find(GSH_OP_CERTAIN_LOG, GSH_FLOAT64)(&block);
}

static void test_numbers(int form, double most)
{
    uint64_t seed = 88172645463325252u;
    int unsure = 0, wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double in[COUNT], out[COUNT];
        for (int i = 0; i < COUNT; i++)
            in[i] = make_number(&seed, form);
        compute(in, out, COUNT);
        for (int i = 0; i < COUNT; i++) {
            unsure += isnan(out[i]);
            wrong += !isnan(out[i]) && out[i] != log(in[i]);
        }
    }
    CHECK_INT(wrong, 0);
    CHECK(unsure > 0 && unsure < most * COUNT * ROUNDS);
}

static void test_special_numbers(void)
{
    const double in[] = {0, -1, -0.0, HUGE_VAL, NAN, 5e-324, 1, 2.2250738585072014e-308};
    double out[GSH_COUNT(in)];
    compute(in, out, GSH_COUNT(in));
    for (int i = 0; i < 6; i++)
        CHECK(isnan(out[i]));
    CHECK(out[6] == 0 && !signbit(out[6]));
    CHECK(isnan(out[7]) || out[7] == log(in[7]));
}

int main(void)
{
    test_numbers(0, 0.02);
    test_numbers(1, 0.05);
    test_numbers(2, 0.001);
    test_special_numbers();
    return check_result();
}
