/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies in blocks, taken in reverse, against a walk over the elements: sizes, orders of dimensions, signs and steps of strides,
 * pieces. Bytes between the destination's elements stay.
 */
#include "host_copy.h"

#include "check.h"

#include <string.h>

enum { BYTES = 1 << 20 };

static _Alignas(4096) char from[BYTES], to[BYTES], expected[BYTES];

static void fill(void)
{
    for (int i = 0; i < BYTES; i++) {
        from[i] = (char)(i * 7 + i / 251);
        to[i] = expected[i] = (char)0x5a;
    }
}

static void copy_plainly(const struct gsh_launch *launch, int64_t size)
{
    const char *first = (const char *)(uintptr_t)launch->operands[0].address;
    int64_t count = gsh_launch_elements(launch);
    int64_t offset = (int64_t)(launch->operands[1].address - (uintptr_t)to);
    for (int64_t number = 0; number < count; number++) {
        int64_t rest = number, src = 0, dst = offset;
        for (int d = launch->ndim - 1; d >= 0; d--) {
            src += rest % launch->shape[d] * launch->strides[0][d];
            dst += rest % launch->shape[d] * launch->strides[1][d];
            rest /= launch->shape[d];
        }
        memcpy(expected + dst, first + src, (size_t)size);
    }
}

static void check_copy(const struct gsh_launch *launch, int64_t piece)
{
    struct gsh_host_copy copy;
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    fill();
    copy_plainly(launch, size);
    gsh_host_copy_init(&copy, launch);
    int64_t blocks = gsh_host_copy_divide(&copy, piece);
    CHECK(blocks >= 1);
    CHECK(gsh_launch_elements(launch) < 2 * piece || blocks > 1);
    while (blocks-- > 0)
        gsh_host_copy_block(&copy, blocks);
    CHECK(memcmp(to, expected, BYTES) == 0);
}

/* Strides of an array whose dimensions lie in the order of the permutation's digits, from the innermost. */
static void lay_out(struct gsh_launch *launch, unsigned k, int permutation, int64_t step)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 3; i++) {
        int d = orders[permutation][i];
        launch->strides[k][d] = step;
        step *= launch->shape[d];
    }
}

static struct gsh_launch describe(enum gsh_dtype dtype, const int64_t *shape)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_COPY, .loop = dtype};
    launch.nin = launch.nout = 1;
    launch.ndim = 3;
    memcpy(launch.shape, shape, 3 * sizeof(*shape));
    launch.operands[0] =
        (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)(from + BYTES / 2)};
    launch.operands[1] =
        (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)(to + BYTES / 2)};
    return launch;
}

static const int64_t shapes[][3] = {{3, 37, 70}, {1, 1, 4099}, {300, 2, 3}, {1, 90, 33}, {5, 1, 1}};

static void check_orders(enum gsh_dtype dtype)
{
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    for (size_t s = 0; s < GSH_COUNT(shapes); s++)
        for (int order = 0; order < 36; order++) {
            struct gsh_launch launch = describe(dtype, shapes[s]);
            lay_out(&launch, 0, order % 6, order % 5 == 3 ? -size : size);
            lay_out(&launch, 1, order / 6, order % 7 == 3 ? -2 * size : size);
            check_copy(&launch, 1);
            check_copy(&launch, 100);
            check_copy(&launch, 1000000);
        }
}

static void check_broadcast(void)
{
    for (int d = 0; d < 3; d++) {
        struct gsh_launch launch = describe(GSH_FLOAT64, shapes[0]);
        lay_out(&launch, 0, 0, 8);
        lay_out(&launch, 1, 5, 8);
        launch.strides[0][d] = 0;
        check_copy(&launch, 500);
    }
}

/* The destination a little behind the source within a page. */
static void check_slow(void)
{
    static const int64_t shape[] = {1, 3, 4000};
    struct gsh_launch launch = describe(GSH_FLOAT64, shape);
    struct gsh_host_copy copy;
    lay_out(&launch, 0, 5, 8);
    lay_out(&launch, 1, 5, 8);
    launch.strides[1][1] += 8;
    for (uint64_t behind = 0; behind < 128; behind += 8, launch.operands[1].address += 8) {
        gsh_host_copy_init(&copy, &launch);
        CHECK(gsh_host_copy_is_slow(&copy) == (behind > 0 && behind < 64));
        check_copy(&launch, 1000000);
    }
    launch.shape[2] = 200; /* short rows */
    launch.operands[1].address = (uintptr_t)(to + BYTES / 2 + 8);
    gsh_host_copy_init(&copy, &launch);
    CHECK(!gsh_host_copy_is_slow(&copy));
}

static void check_traffic(void)
{
    struct gsh_host_copy copy;
    struct gsh_launch launch = describe(GSH_FLOAT64, shapes[0]);
    lay_out(&launch, 0, 5, 8);
    lay_out(&launch, 1, 5, 72);
    gsh_host_copy_init(&copy, &launch);
    CHECK(gsh_host_copy_traffic(&copy) == 64 + 8);
    CHECK(!gsh_host_copy_has_runs(&copy));
    lay_out(&launch, 1, 0, 8);
    gsh_host_copy_init(&copy, &launch);
    CHECK(gsh_host_copy_traffic(&copy) == 16);
    CHECK(copy.is_transposed);
}

int main(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_INT8, GSH_FLOAT16, GSH_FLOAT32, GSH_INT64,
                                            GSH_COMPLEX128};
    for (size_t i = 0; i < GSH_COUNT(dtypes); i++)
        check_orders(dtypes[i]);
    check_broadcast();
    check_slow();
    check_traffic();
    return check_result();
}
