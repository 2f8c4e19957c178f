/* SPDX-License-Identifier: Apache-2.0
 *
 * What is accepted and declined, and why; operands that are unmanaged, broadcast, reversed; freshness
 * of outputs.
 */
#include "check.h"
#include "live.h"

#define COUNT ((int64_t)5000)

static void check_unmanaged_input(void)
{
    double unmanaged[COUNT];
    for (int k = 0; k < COUNT; k++)
        unmanaged[k] = k;
    double *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(unmanaged, NULL, 1, out, COUNT), GSH_REASON_NONE);
    CHECK(out[0] == 1.0 && out[COUNT - 1] == COUNT);
    CHECK_INT(live_add(out, NULL, 1, unmanaged, COUNT), GSH_REASON_UNMANAGED_OUTPUT);
    CHECK(unmanaged[1] == 1.0);
    gsh_arena_free(out);
}

static void check_strides(void)
{
    double *a = live_doubles(COUNT, GSH_ARENA_HOST), *out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int k = 0; k < COUNT; k++)
        a[k] = k;
    struct gsh_call call = live_call(GSH_OP_SUBTRACT, a + COUNT - 1, a, 0, out, COUNT);
    call.launch.strides[0][0] = -8;
    call.launch.strides[1][0] = 0; /* reversed(a) - a[0] */
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    CHECK(out[0] == COUNT - 1.0 && out[COUNT - 1] == 0.0);
    call = live_call(GSH_OP_COPY, a, NULL, 0, out, COUNT);
    call.launch.strides[1][0] = 0; /* every element into the first */
    CHECK_INT(live_run(&call), GSH_REASON_OVERLAP);
    call = live_call(GSH_OP_COPY, a, NULL, 0, a + COUNT - 1, COUNT);
    call.launch.strides[1][0] = -8; /* a[::-1] = a */
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    CHECK(a[0] == COUNT - 1.0 && a[COUNT - 1] == 0.0 && a[1] == COUNT - 2.0);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

static void check_declines(void)
{
    double *a = live_doubles(COUNT, GSH_ARENA_ZERO);
    struct gsh_call call = live_call(GSH_OP_COPY, a, NULL, 0, a, COUNT);
    call.launch.shape[0] = 0;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_SHAPE);
    call = live_call(GSH_OP_SQRT, a, NULL, 0, a, COUNT);
    call.launch.loop = GSH_BOOL;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_UNSUPPORTED);
    gsh_arena_free(a);
}

/* gemm with every combination of transposed operands, through the same path. */
static void check_product(void)
{
    const int64_t M = 3, N = 4, K = 5;
    double *a = live_doubles(M * K, GSH_ARENA_HOST), *b = live_doubles(K * N, GSH_ARENA_HOST);
    for (int k = 0; k < M * K; k++)
        a[k] = k;
    for (int k = 0; k < K * N; k++)
        b[k] = 2 * k - 7;
    for (int form = 0; form < 8; form++) {
        double *c = live_doubles(M * N, GSH_ARENA_DEVICE);
        bool ta = form & 1, tb = form & 2, tc = form & 4;
        struct gsh_call call = {
            .launch = {.kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64, .nin = 2, .nout = 1},
            .fresh = {true}};
        double *operands[3] = {a, b, c};
        for (int k = 0; k < 3; k++)
            call.launch.operands[k] =
                (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)operands[k]};
        call.launch.gemm = (struct gsh_gemm){.m = M,
                                             .n = N,
                                             .k = K,
                                             .alpha = 1,
                                             .a_row = ta ? 1 : K,
                                             .a_col = ta ? M : 1,
                                             .b_row = tb ? 1 : N,
                                             .b_col = tb ? K : 1,
                                             .c_row = tc ? 1 : N,
                                             .c_col = tc ? M : 1};
        const struct gsh_gemm g = call.launch.gemm;
        CHECK_INT(live_run(&call), GSH_REASON_NONE);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += a[i * g.a_row + k * g.a_col] * b[k * g.b_row + j * g.b_col];
                CHECK(c[i * g.c_row + j * g.c_col] == sum);
            }
        gsh_arena_free(c);
    }
    gsh_arena_free(a);
    gsh_arena_free(b);
}

/* C = A @ B + 2 * C where the host alone has C's newest contents. */
static void check_product_reads_output(void)
{
    const int64_t N = 600;
    double *matrices[3];
    for (int k = 0; k < 3; k++) {
        matrices[k] = live_doubles(N * N, GSH_ARENA_HOST);
        for (int j = 0; j < N * N; j++)
            matrices[k][j] = k == 2 ? 7 : 1;
    }
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64, .nin = 2, .nout = 1}};
    for (int k = 0; k < 3; k++)
        call.launch.operands[k] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)matrices[k]};
    call.launch.gemm = (struct gsh_gemm){.m = N,
                                         .n = N,
                                         .k = N,
                                         .alpha = 1,
                                         .beta = 2,
                                         .a_row = N,
                                         .a_col = 1,
                                         .b_row = N,
                                         .b_col = 1,
                                         .c_row = N,
                                         .c_col = 1};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    CHECK(matrices[2][0] == N + 14.0 && matrices[2][N * N - 1] == N + 14.0);
    for (int k = 0; k < 3; k++)
        gsh_arena_free(matrices[k]);
}

/* A view may reach beyond its block (as_strided); the tables behind it must not be touched. */
static void check_view_beyond_block(void)
{
    double *a = live_doubles(COUNT, GSH_ARENA_ZERO),
           *out = live_doubles(2 * COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(a + COUNT / 2, NULL, 1, out, 2 * COUNT), GSH_REASON_LAYOUT);
    gsh_arena_free(a);
    gsh_arena_free(out);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    check_unmanaged_input();
    check_strides();
    check_declines();
    check_product();
    check_product_reads_output();
    check_view_beyond_block();
    return check_result();
}
