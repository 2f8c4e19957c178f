/* SPDX-License-Identifier: Apache-2.0
 *
 * CERTAIN_LOG, CERTAIN_EXP and CERTAIN_POWER beside the C library's functions: never another number, and few that are not certain.
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

static void compute(enum gsh_op op, const double *in, const double *powers, double *out, int count)
{
    struct gsh_host_block block = {.in = {in, powers}, .out = {out}, .n = count};
    gsh_host_loops_find(op, GSH_FLOAT64)(&block);
}

static double expected(enum gsh_op op, double x, double power)
{
    return op == GSH_OP_CERTAIN_LOG ? log(x) : op == GSH_OP_CERTAIN_EXP ? exp(x) : pow(x, power);
}

/* Up to 40, up to 0.1, and up to 700. */
static double exponent_of(double x, int form)
{
    return form == 0 ? 80 * x - 40 : form == 1 ? x - 1 : log(x);
}

/* Of numbers of the form. `most`: the share that may be uncertain. */
static void test_numbers(enum gsh_op op, int form, double power, double most)
{
    uint64_t seed = 88172645463325252u;
    int unsure = 0, wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double in[COUNT], powers[COUNT], out[COUNT];
        for (int i = 0; i < COUNT; i++) {
            in[i] = make_number(&seed, form);
            if (op == GSH_OP_CERTAIN_EXP)
                in[i] = exponent_of(in[i], form);
            powers[i] = power;
        }
        compute(op, in, powers, out, COUNT);
        for (int i = 0; i < COUNT; i++) {
            unsure += isnan(out[i]);
            wrong += !isnan(out[i]) && out[i] != expected(op, in[i], power);
        }
    }
    CHECK_INT(wrong, 0);
    CHECK(unsure > 0 && unsure < most * COUNT * ROUNDS);
}

static void test_special_numbers(void)
{
    const double in[] = {0, -1, -0.0, HUGE_VAL, NAN, 5e-324, 1, 2.2250738585072014e-308};
    double out[GSH_COUNT(in)];
    compute(GSH_OP_CERTAIN_LOG, in, in, out, GSH_COUNT(in));
    for (int i = 0; i < 6; i++)
        CHECK(isnan(out[i]));
    CHECK(out[6] == 0 && !signbit(out[6]));
    CHECK(isnan(out[7]) || out[7] == log(in[7]));
}

static void test_special_exponents(void)
{
    const double in[] = {0, -0.0, 1, 1e-300, 710, -710, HUGE_VAL, NAN, -745};
    double out[GSH_COUNT(in)];
    compute(GSH_OP_CERTAIN_EXP, in, in, out, GSH_COUNT(in));
    CHECK(out[0] == 1 && out[1] == 1 && out[3] == 1 && (isnan(out[2]) || out[2] == exp(1)));
    for (int i = 4; i < (int)GSH_COUNT(in); i++)
        CHECK(isnan(out[i]));
}

static void test_special_powers(void)
{
    const double in[] = {1, 2, 0.25, 0, -1, HUGE_VAL, NAN, 5e-324, 1e300};
    const double powers[] = {1e10, 0, 0.5, 0.5, 2, 0.5, 0.5, 0.5, 2};
    const double exact[] = {1, 1, 0.5};
    double out[GSH_COUNT(in)];
    compute(GSH_OP_CERTAIN_POWER, in, powers, out, GSH_COUNT(in));
    for (int i = 0; i < (int)GSH_COUNT(in); i++)
        CHECK(i < 3 ? out[i] == exact[i] : isnan(out[i]));
}

int main(void)
{
    test_numbers(GSH_OP_CERTAIN_LOG, 0, 0, 0.02);
    test_numbers(GSH_OP_CERTAIN_LOG, 1, 0, 0.05);
    test_numbers(GSH_OP_CERTAIN_LOG, 2, 0, 0.001);
    test_special_numbers();
    test_numbers(GSH_OP_CERTAIN_EXP, 0, 0, 0.03);
    test_numbers(GSH_OP_CERTAIN_EXP, 1, 0, 0.03);
    test_numbers(GSH_OP_CERTAIN_EXP, 2, 0, 0.05);
    test_special_exponents();
    for (int i = 1; i < 9; i++) {
        test_numbers(GSH_OP_CERTAIN_POWER, 0, 1.0 / (i + 1), 0.03);
        test_numbers(GSH_OP_CERTAIN_POWER, 1, 1.7 * i, 0.05);
        test_numbers(GSH_OP_CERTAIN_POWER, 2, (i + 0.5) / 3, 1);
    }
    test_special_powers();
    return check_result();
}
