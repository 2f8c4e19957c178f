/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison by the contract: units in the last place, signs of zeros, NaN, magnitudes, lines, and which calls a share chooses.
 */
#include "check.h"
#include "verify_compare.h"
#include "verify_share.h"

#include <math.h>

static const int64_t shape[2] = {2, 3}, strides[2] = {24, 8}, turned[2] = {8, 16};

static struct gsh_verify_outcome compare(const double *got, const double *want, const double *size,
                                         enum gsh_contract_kind kind, double factor)
{
    const struct gsh_verify_array a = {GSH_FLOAT64, 2, shape, strides, (const char *)got},
                                  b = {GSH_FLOAT64, 2, shape, strides, (const char *)want},
                                  c = {GSH_FLOAT64, 2, shape, strides, (const char *)size};
    struct gsh_verify_outcome outcome;
    gsh_verify_compare(&a, &b, size ? &c : NULL,
                       (struct gsh_contract){.kind = kind, .factor = factor}, &outcome);
    return outcome;
}

static void test_ulps_and_index(void)
{
    const double want[6] = {1, 2, 3, 4, 5, 6};
    double got[6] = {1, 2, 3, 4, 5 + 3 * 0x1p-50, 6};
    struct gsh_verify_outcome outcome = compare(got, want, NULL, GSH_CONTRACT_ULPS, 2);
    CHECK_INT(outcome.different, 1);
    CHECK_INT(outcome.index, 4);
    CHECK(outcome.ulps == 3);
    CHECK_STR(outcome.cpu, "5");
    CHECK_INT(compare(got, want, NULL, GSH_CONTRACT_ULPS, 3).different, 0);
}

static void test_special_values(void)
{
    const double want[6] = {0, NAN, INFINITY, 1, 0x1.fffffffffffffp1023, 1};
    const double same[6] = {0, -NAN, INFINITY, 1, INFINITY, 1};
    const double other[6] = {-0.0, NAN, INFINITY, NAN, 0x1.fffffffffffffp1023, 1};
    CHECK_INT(compare(same, want, NULL, GSH_CONTRACT_ULPS, 1).different, 0);
    CHECK_INT(compare(same, want, NULL, GSH_CONTRACT_EXACT, 0).different, 1);
    struct gsh_verify_outcome outcome = compare(other, want, NULL, GSH_CONTRACT_EXACT, 0);
    CHECK_INT(outcome.different, 2); /* the zero's sign, and the NaN */
    CHECK(isinf(outcome.ulps));
    CHECK_INT(outcome.index, 3);
    CHECK_INT(compare(other, want, NULL, GSH_CONTRACT_EQUAL, 0).different, 1);
}

static void test_magnitudes(void)
{
    const double got[6] = {1e-10, 1, 1, 1, 1, 1}, want[6] = {2e-10, 1, 1, 1, 1, 1};
    const double large[6] = {1e6, 1, 1, 1, 1, 1}, small[6] = {1, 1, 1, 1, 1, 1};
    CHECK_INT(compare(got, want, large, GSH_CONTRACT_MAGNITUDE, 64).different, 0);
    CHECK_INT(compare(got, want, small, GSH_CONTRACT_MAGNITUDE, 64).different, 1);
}

/* Units are at least those of a number: where a function crosses zero. */
static void test_least_unit(void)
{
    const double got[6] = {1e-14, 1, 1, 1, 1, 1}, want[6] = {1e-14 + 0x1p-52, 1, 1, 1, 1, 1};
    const struct gsh_verify_array a = {GSH_FLOAT64, 2, shape, strides, (const char *)got},
                                  b = {GSH_FLOAT64, 2, shape, strides, (const char *)want};
    struct gsh_contract contract = {.kind = GSH_CONTRACT_ULPS, .factor = 2};
    struct gsh_verify_outcome outcome;
    gsh_verify_compare(&a, &b, NULL, contract, &outcome);
    CHECK_INT(outcome.different, 1);
    contract.least = 1;
    gsh_verify_compare(&a, &b, NULL, contract, &outcome);
    CHECK_INT(outcome.different, 0);
    contract = gsh_contract_of(
        &(struct gsh_launch){.op = GSH_OP_SPECIAL_J0, .loop = GSH_FLOAT64, .nin = 1, .nout = 1});
    CHECK(contract.least == 1 && contract.factor == 8);
}

/* The index is that of C order in the array as it is seen. */
static void test_lines(void)
{
    const double want[6] = {1, 2, 3, 4, 5, 6};
    double got[6] = {1, 2, 3, 4, 5, 6 + 1e-13};
    const struct gsh_verify_array a = {GSH_FLOAT64, 2, shape, turned, (const char *)got},
                                  b = {GSH_FLOAT64, 2, shape, turned, (const char *)want};
    struct gsh_verify_outcome outcome;
    for (int line = 0; line < 2; line++) {
        const bool is_line[2] = {line == 0, line == 1};
        gsh_verify_compare_lines(&a, &b, is_line,
                                 (struct gsh_contract){.kind = GSH_CONTRACT_NORM, .factor = 4},
                                 &outcome);
        CHECK_INT(outcome.different, 1);
        CHECK_INT(outcome.index, 5);
        gsh_verify_compare_lines(&a, &b, is_line,
                                 (struct gsh_contract){.kind = GSH_CONTRACT_NORM, .factor = 100},
                                 &outcome);
        CHECK_INT(outcome.different, 0);
    }
}

static void test_share(void)
{
    double share;
    unsigned chosen = 0;
    CHECK(gsh_verify_share_parse("1%", &share) && share == 0.01);
    CHECK(gsh_verify_share_parse("yes", &share) && share == 1);
    CHECK(gsh_verify_share_parse("All", &share) && share == 1);
    CHECK(gsh_verify_share_parse("off", &share) && share == 0);
    CHECK(!gsh_verify_share_parse("2", &share) && !gsh_verify_share_parse("101%", &share));
    for (uint64_t i = 0; i < 100000; i++) {
        chosen += gsh_verify_share_is_chosen(i, 0.01);
        CHECK(gsh_verify_share_is_chosen(i, 1));
    }
    CHECK(chosen > 900 && chosen < 1100);
}

int main(void)
{
    test_ulps_and_index();
    test_special_values();
    test_magnitudes();
    test_least_unit();
    test_lines();
    test_share();
    return check_result();
}
