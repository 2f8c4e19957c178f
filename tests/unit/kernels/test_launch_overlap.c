/* SPDX-License-Identifier: Apache-2.0
 *
 * Compared with a search of all pairs of indices: what is said to be harmless is, and the forms that programs have are found.
 */
#include "launch_overlap.h"

#include "check.h"

#include <stdlib.h>

enum { SIZE = 8, BASE = 1 << 20 };

static struct gsh_launch make(int ndim, const int64_t *shape, const int64_t *in, int64_t first_in,
                              const int64_t *out, int64_t first_out)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_NEGATIVE,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = ndim};
    for (int d = 0; d < ndim; d++) {
        launch.shape[d] = shape[d];
        launch.strides[0][d] = in[d] * SIZE;
        launch.strides[1][d] = out[d] * SIZE;
    }
    launch.operands[0] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)(BASE + first_in * SIZE)};
    launch.operands[1] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)(BASE + first_out * SIZE)};
    return launch;
}

/* The address of element number `index`, in C order. */
static int64_t address_of(const struct gsh_launch *launch, unsigned k, int64_t index)
{
    int64_t address = (int64_t)launch->operands[k].address;
    for (int d = launch->ndim - 1; d >= 0; d--) {
        address += index % launch->shape[d] * launch->strides[k][d];
        index /= launch->shape[d];
    }
    return address;
}

static bool is_harmless(const struct gsh_launch *launch)
{
    int64_t count = gsh_launch_elements(launch);
    for (int64_t p = 0; p < count; p++)
        for (int64_t q = 0; q < count; q++)
            if (p != q && address_of(launch, 0, p) == address_of(launch, 1, q))
                return false;
    return true;
}

/* Strides and places by chance. */
static void check_random(void)
{
    unsigned found = 0;
    srand(1);
    for (int round = 0; round < 30000; round++) {
        int ndim = 1 + rand() % 3;
        int64_t shape[3], in[3], out[3];
        for (int d = 0; d < ndim; d++) {
            shape[d] = 1 + rand() % 5;
            in[d] = rand() % 13 - 6;
            out[d] = rand() % 13 - 6;
        }
        const struct gsh_launch launch = make(ndim, shape, in, rand() % 40, out, rand() % 40);
        bool said = gsh_launch_overlap_is_harmless(&launch, 0, 1);
        CHECK(!said || !gsh_launch_output_is_distinct(&launch) || is_harmless(&launch));
        found += said;
    }
    CHECK(found > 3000);
}

static void check(bool wanted, int ndim, const int64_t *shape, const int64_t *in, int64_t first_in,
                  const int64_t *out, int64_t first_out)
{
    const struct gsh_launch launch = make(ndim, shape, in, first_in, out, first_out);
    CHECK_INT(is_harmless(&launch), wanted);
    CHECK_INT(gsh_launch_overlap_is_harmless(&launch, 0, 1), wanted);
}

static void check_forms(void)
{
    enum { N = 50 };
    static const int64_t line[] = {20}, plane[] = {N, 20}, one[] = {1}, two[] = {2}, row[] = {N};
    static const int64_t planes[] = {20 * 7, 7}, back[] = {-1}, five[] = {5};
    check(true, 1, line, one, 0, row, 0);        /* a[i:, i] = a[i, i:] */
    check(true, 1, line, row, 0, one, 0);        /* a[i, i:] = a[i:, i] */
    check(true, 1, line, two, 1, two, 0);        /* a[::2] = a[1::2] */
    check(true, 1, line, one, 20, one, 0);       /* a[:20] = a[20:40] */
    check(false, 1, line, one, 0, five, 2);      /* a[2::5] = a[:20] */
    check(false, 1, line, one, 1, one, 0);       /* a[:-1] = a[1:] */
    check(false, 1, line, one, 0, back, 19);     /* a[:] = a[::-1] */
    check(true, 2, plane, planes, 3, planes, 4); /* a[:, :, 4] = a[:, :, 3] */
    check(true, 2, plane, planes, 3, planes, 3); /* the same view */
}

/* Kinds that join elements read others' results; elements of another size may be parts of others'. */
static void check_others(void)
{
    static const int64_t line[] = {20}, two[] = {2};
    struct gsh_launch launch = make(1, line, two, 1, two, 0);
    launch.operands[0].dtype = GSH_FLOAT32;
    CHECK(!gsh_launch_overlap_is_harmless(&launch, 0, 1));
    launch = make(1, line, two, 1, two, 0);
    launch.kind = GSH_LAUNCH_SCAN;
    CHECK(!gsh_launch_overlap_is_harmless(&launch, 0, 1));
    launch = make(1, line, two, 0, two, 0);
    launch.kind = GSH_LAUNCH_SCAN;
    CHECK(gsh_launch_overlap_is_harmless(&launch, 0, 1));
    launch.kind = GSH_LAUNCH_REDUCE;
    CHECK(!gsh_launch_overlap_is_harmless(&launch, 0, 1));
}

int main(void)
{
    check_random();
    check_forms();
    check_others();
    return check_result();
}
