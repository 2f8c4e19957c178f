/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of every dtype on a GPU, in batches, of any strides, conjugated or not, against the host's plain loops. The
 * elements are small integers, so that all sums are exact: every byte of the result's buffer must be the same, but for the
 * sign of a zero. And the product of a matrix with its transpose, of any numbers, is symmetric. Skipped where no GPU is.
 */
#include "emu_blas.h"
#include "host_half.h"
#include "open_gpu.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)2 << 20)
#define CASES 200 /* of each dtype */

static unsigned char *host[3], *got;
static uint64_t device[3];

static uint64_t random_state = 88172645463325252;

static int64_t random_below(int64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state >> 33) % bound;
}

static bool is_float(enum gsh_dtype dtype)
{
    return gsh_dtype_kind(dtype) == 'f' || gsh_dtype_kind(dtype) == 'c';
}

/* Bytes of one real number of the dtype. */
static size_t part_size(enum gsh_dtype dtype)
{
    return gsh_dtype_size(dtype) / (gsh_dtype_kind(dtype) == 'c' ? 2 : 1);
}

static void put(unsigned char *at, enum gsh_dtype dtype, double x)
{
    int64_t whole = dtype == GSH_BOOL ? x != 0 : (int64_t)x;
    float single = (float)x;
    uint16_t half = gsh_half_of_float(single);
    const void *from = !is_float(dtype)        ? (const void *)&whole
                       : part_size(dtype) == 2 ? (const void *)&half
                       : part_size(dtype) == 4 ? (const void *)&single
                                               : (const void *)&x;
    memcpy(at, from, part_size(dtype));
}

/* Small integers, or any numbers in (-1, 1). */
static void fill(unsigned char *buffer, enum gsh_dtype dtype, bool is_exact)
{
    for (size_t at = 0; at < BYTES; at += part_size(dtype))
        put(buffer + at, dtype,
            is_exact ? (double)(random_below(5) - 2)
                     : (double)(random_below(2000001) - 1000000) * 1e-6);
}

/* Lays the dimensions of one operand out, the one that is called `first` innermost; any may have gaps or run backwards, those
 * of the batch may be broadcast. Returns the place of the first element. */
static int64_t lay_out(const int64_t *extents, int count, int first, bool may_repeat,
                       int64_t *strides)
{
    int64_t step = 1, origin = 0;
    for (int i = 0; i < count; i++) {
        int d = i == 0 ? first : i <= first ? i - 1 : i;
        bool is_repeated = may_repeat && d >= 2 && random_below(3) == 0;
        if (random_below(4) == 0)
            step += step == 1 ? 1 : random_below(3);
        strides[d] = is_repeated ? 0 : step;
        step *= is_repeated ? 1 : extents[d];
        if (!is_repeated && random_below(6) == 0) {
            origin += strides[d] * (extents[d] - 1);
            strides[d] = -strides[d];
        }
    }
    return origin;
}

/* 1, or a small number where the dtype has products with factors. */
static double _Complex factor(enum gsh_dtype dtype)
{
    double _Complex value = (double)(random_below(5) - 2);
    if (gsh_dtype_kind(dtype) == 'c')
        value += (double)(random_below(3) - 1) * I;
    return !is_float(dtype) || dtype == GSH_FLOAT16 || random_below(2) == 0 ? 1 : value;
}

static void describe(struct gsh_launch *launch, enum gsh_dtype dtype)
{
    static const int64_t sizes[] = {1, 2, 5, 17, 64, 70};
    struct gsh_gemm *g = &launch->gemm;
    int64_t *const rows[] = {&g->a_row, &g->b_row, &g->c_row};
    int64_t *const columns[] = {&g->a_col, &g->b_col, &g->c_col};
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    bool is_complex = gsh_dtype_kind(dtype) == 'c';
    *launch = (struct gsh_launch){.kind = GSH_LAUNCH_GEMM, .loop = dtype, .nin = 2, .nout = 1};
    *g = (struct gsh_gemm){.m = sizes[random_below(GSH_COUNT(sizes))],
                           .n = sizes[random_below(GSH_COUNT(sizes))],
                           .k = sizes[random_below(GSH_COUNT(sizes))],
                           .alpha = factor(dtype),
                           .beta = factor(dtype) - 1,
                           .a_is_conjugate = is_complex && random_below(3) == 0,
                           .b_is_conjugate = is_complex && random_below(3) == 0};
    launch->ndim = (int)random_below(3);
    for (int d = 0; d < launch->ndim; d++)
        launch->shape[d] = 1 + random_below(3);
    for (unsigned k = 0; k < 3; k++) {
        struct gsh_core core = gsh_launch_core(launch, k);
        int64_t extents[4] = {core.extent[0], core.extent[1], launch->shape[0], launch->shape[1]};
        int64_t strides[4];
        launch->operands[k].dtype = dtype;
        launch->operands[k].address =
            (uint64_t)(size *
                       lay_out(extents, 2 + launch->ndim, (int)random_below(2), k < 2, strides));
        *rows[k] = strides[0];
        *columns[k] = strides[1];
        for (int d = 0; d < launch->ndim; d++)
            launch->strides[k][d] = strides[2 + d] * size;
    }
}

/* Parts of numbers that differ, and not in the sign of a zero. */
static unsigned count_wrong(enum gsh_dtype dtype)
{
    size_t size = part_size(dtype);
    unsigned wrong = 0;
    if (memcmp(got, host[2], BYTES) == 0)
        return 0;
    for (size_t at = 0; at < BYTES; at += size) {
        uint64_t x = 0, y = 0, sign = is_float(dtype) ? UINT64_C(1) << (8 * size - 1) : 0;
        memcpy(&x, got + at, size);
        memcpy(&y, host[2] + at, size);
        wrong += x != y && ((x | y) & ~sign) != 0;
    }
    return wrong;
}

static bool compute(struct gsh_launch launch)
{
    gsh_launch_collapse(&launch);
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k].address += device[k];
    return CHECK(dev->supports(&launch)) && CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
           CHECK_INT(dev->download(got, device[2], BYTES, false), GSH_OK);
}

static void test_case(enum gsh_dtype dtype)
{
    struct gsh_launch launch;
    describe(&launch, dtype);
    CHECK_INT(dev->upload(device[2], host[2], BYTES, false), GSH_OK);
    if (!compute(launch))
        return;
    const struct gsh_gemm *g = &launch.gemm;
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k].address += (uint64_t)(uintptr_t)host[k];
    gsh_emu_blas_run(&launch);
    if (!CHECK_INT(count_wrong(dtype), 0))
        printf("%s m %lld n %lld k %lld a %lld,%lld b %lld,%lld c %lld,%lld batch %d conjugate %d "
               "%d\n",
               gsh_dtype_name(dtype), (long long)g->m, (long long)g->n, (long long)g->k,
               (long long)g->a_row, (long long)g->a_col, (long long)g->b_row, (long long)g->b_col,
               (long long)g->c_row, (long long)g->c_col, launch.ndim, g->a_is_conjugate,
               g->b_is_conjugate);
}

static void test_dtype(enum gsh_dtype dtype)
{
    for (unsigned k = 0; k < 3; k++)
        fill(host[k], dtype, true);
    for (unsigned k = 0; k < 2; k++)
        CHECK_INT(dev->upload(device[k], host[k], BYTES, false), GSH_OK);
    for (int i = 0; i < CASES; i++)
        test_case(dtype);
}

/* A A' and A' A of a batch of 3 matrices of 150 x 250. */
static void test_symmetry(enum gsh_dtype dtype, bool is_turned)
{
    enum { N = 150, K = 250, BATCH = 3 };
    size_t size = gsh_dtype_size(dtype);
    int64_t n = is_turned ? 1 : K, k = is_turned ? N : 1;
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_GEMM, .loop = dtype, .nin = 2, .nout = 1, .ndim = 1, .shape = {BATCH}};
    launch.gemm = (struct gsh_gemm){N, N, K, n, k, k, n, N, 1, 1, 0, false, false, GSH_GEMM_GE, 0};
    for (unsigned i = 0; i < 3; i++) {
        launch.operands[i].dtype = dtype;
        launch.strides[i][0] = (i == 2 ? N * N : N * K) * (int64_t)size;
    }
    fill(host[0], dtype, false);
    CHECK_INT(dev->upload(device[0], host[0], BYTES, false), GSH_OK);
    uint64_t second = device[1];
    device[1] = device[0];
    bool is_done = compute(launch);
    device[1] = second;
    unsigned wrong = 0;
    for (size_t i = 0; is_done && i < BATCH * N * N; i++) {
        size_t row = i / N % N, column = i % N, turned = i - row * N - column + column * N + row;
        wrong += memcmp(got + i * size, got + turned * size, size) != 0;
    }
    CHECK_INT(wrong, 0);
}

/* A vector times a matrix whose rows or columns are contiguous, long enough for its rows to be divided among blocks; and two small
 * matrices, one of which is long. From either side. */
static void test_narrow(enum gsh_dtype dtype, int64_t m, int64_t n, int64_t k, bool is_turned)
{
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_GEMM, .loop = dtype, .nin = 2, .nout = 1};
    launch.gemm = (struct gsh_gemm){.m = m,
                                    .n = n,
                                    .k = k,
                                    .a_row = is_turned ? 1 : k,
                                    .a_col = is_turned ? m : 1,
                                    .b_row = is_turned ? 1 : n,
                                    .b_col = is_turned ? k : 1,
                                    .c_row = n,
                                    .c_col = 1,
                                    .alpha = 1};
    for (unsigned i = 0; i < 3; i++) {
        launch.operands[i].dtype = dtype;
        launch.operands[i].address = (uint64_t)size;
    }
    CHECK_INT(dev->upload(device[2], host[2], BYTES, false), GSH_OK);
    if (!compute(launch))
        return;
    CHECK(gsh_cuda_backend.load_seconds(&launch) == 0); /* no library is needed */
    for (unsigned i = 0; i < 3; i++)
        launch.operands[i].address += (uint64_t)(uintptr_t)host[i];
    gsh_emu_blas_run(&launch);
    if (!CHECK_INT(count_wrong(dtype), 0))
        printf("%s %lld x %lld, k %lld, turned %d\n", gsh_dtype_name(dtype), (long long)m,
               (long long)n, (long long)k, is_turned);
}

static void test_all_narrow(enum gsh_dtype dtype)
{
    static const int64_t shapes[][3] = {{1, 1, 1},    {1, 1, 31},    {1, 1, 100000}, {1, 300, 400},
                                        {1, 7, 9000}, {1, 9000, 7},  {1, 5000, 20},  {3, 5000, 4},
                                        {4, 33, 5},   {16, 700, 32}, {5, 2000, 1}};
    for (unsigned k = 0; k < 3; k++)
        fill(host[k], dtype, true);
    for (unsigned k = 0; k < 2; k++)
        CHECK_INT(dev->upload(device[k], host[k], BYTES, false), GSH_OK);
    for (size_t i = 0; i < GSH_COUNT(shapes); i++)
        for (int turned = 0; turned < 2; turned++) {
            const int64_t *shape = shapes[i];
            test_narrow(dtype, shape[0], shape[1], shape[2], turned != 0);
            test_narrow(dtype, shape[1], shape[0], shape[2], turned != 0);
        }
}

int main(void)
{
    int status = open_gpu();
    if (status != 0)
        return status;
    got = malloc(BYTES);
    for (unsigned k = 0; k < 3; k++) {
        host[k] = malloc(BYTES);
        CHECK_INT(dev->allocate(BYTES, &device[k]), GSH_OK);
    }
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
        test_dtype((enum gsh_dtype)dtype);
    for (int dtype = GSH_FLOAT32; dtype < GSH_DTYPE_COUNT; dtype++) {
        test_all_narrow((enum gsh_dtype)dtype);
        test_symmetry((enum gsh_dtype)dtype, false);
        test_symmetry((enum gsh_dtype)dtype, true);
    }
    CHECK_INT(dev->synchronize(), GSH_OK);
    for (unsigned k = 0; k < 3; k++)
        free(host[k]);
    free(got);
    return check_result();
}
