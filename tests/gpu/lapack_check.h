/* SPDX-License-Identifier: Apache-2.0
 *
 * A LAPACK launch on the GPU with operands of any layout, and what a test may ask of its results: what is left when they
 * are put back into their equation, and how far vectors are from being orthogonal.
 */
#pragma once

#include "lapack_matrices.h"
#include "open_gpu.h"
#include "shard.h"

#include "clock.h"

/* Units in the last place for each row or column that an error may be: what the tests of LAPACK itself allow. */
#define UNIT 30

struct what {
    enum gsh_lapack_routine routine;
    enum gsh_dtype dtype;
    enum layout layout; /* of the inputs; outputs have the next one */
    int64_t batch, m, n, columns;
    unsigned options; /* of the launch, as its tolerance */
    double tolerance;
};

/* Random, and well conditioned where square. */
static inline struct matrices well_conditioned(const struct what *what)
{
    struct matrices a = random_matrices(what->batch, what->m, what->n, what->dtype);
    for (int64_t of = 0; of < a.batch; of++)
        for (int64_t i = 0; a.rows == a.columns && i < a.rows; i++)
            *at(&a, of, i, (i + 1) % a.rows) += 2 * sqrt((double)a.rows);
    round_matrices(&a, what->dtype);
    return a;
}

/* The largest error of each routine and dtype, as a share of what is allowed, and where it was. */
static struct {
    double share;
    struct what what;
    const char *of;
} worst[GSH_LAPACK_COUNT][GSH_DTYPE_COUNT];

/* One line, without its end: what was asked of which matrices. */
static inline void print_what(const struct what *what, const char *of)
{
    static const char *const layouts[LAYOUTS] = {"rows", "columns", "odd"};
    printf("%s %s: %s, %lld of %lld x %lld, layout %s", gsh_lapack_info(what->routine)->name,
           gsh_dtype_name(what->dtype), of, (long long)what->batch, (long long)what->m,
           (long long)what->n, layouts[what->layout]);
}

static inline double epsilon(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64 ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* error <= UNIT max(m, n) eps size? */
static inline bool is_small(const struct what *what, double error, double size, const char *of)
{
    double allowed = UNIT * (double)GSH_MAX(what->m, what->n) * epsilon(what->dtype) * size;
    double share = error == 0 ? 0 : error / allowed;
    if (share > worst[what->routine][what->dtype].share) {
        worst[what->routine][what->dtype].share = share;
        worst[what->routine][what->dtype].what = *what;
        worst[what->routine][what->dtype].of = of;
    }
    if (CHECK(error <= allowed))
        return true;
    printf("failed: ");
    print_what(what, of);
    printf(": %g, allowed %g\n", error, allowed);
    return false;
}

/* ---- calls ---- */

static inline int64_t extent_of(const struct what *what, char letter)
{
    int64_t least = GSH_MIN(what->m, what->n);
    switch (letter) {
    case 'm':
        return what->m;
    case 'n':
        return what->n;
    case 'p':
        return least;
    case 'q':
        return GSH_MAX(what->m, what->n);
    case 'r':
        return what->columns;
    case 'k':
        return least;
    default:
        return 1;
    }
}

struct call {
    struct operand operands[GSH_LAPACK_OPERANDS];
    struct gsh_launch launch;
    unsigned count;
};

static inline void set_operand(struct call *call, unsigned k, const struct operand *operand)
{
    struct gsh_launch *launch = &call->launch;
    call->operands[k] = *operand;
    launch->operands[k] =
        (struct gsh_operand){.dtype = operand->dtype, .address = operand->device + operand->first};
    launch->strides[k][0] = operand->batch_stride;
    launch->lapack.cores[k] = (struct gsh_core){
        {operand->rows, operand->columns, 1},
        {operand->row_stride, operand->columns > 1 ? operand->column_stride : 0, 0}};
}

static inline struct call begin(const struct what *what, const struct matrices *inputs)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(what->routine);
    struct call call = {.count = info->nin + info->nout};
    call.launch = make_launch(GSH_LAUNCH_LAPACK, what->dtype, info->nin, 1, &what->batch);
    call.launch.nout = info->nout;
    call.launch.lapack.routine = what->routine;
    call.launch.lapack.options = what->options;
    call.launch.lapack.tolerance = what->tolerance;
    for (unsigned k = 0; k < call.count; k++) {
        const struct gsh_lapack_operand *row = &info->operands[k];
        enum layout layout = (enum layout)((what->layout + (k >= info->nin)) % LAYOUTS);
        const struct operand operand = make_operand(
            dev, gsh_lapack_dtype(row, what->dtype), what->batch, extent_of(what, row->dims[0]),
            row->ndim > 1 ? extent_of(what, row->dims[1]) : 1, layout);
        set_operand(&call, k, &operand);
        if (k < info->nin)
            put(dev, &operand, &inputs[k]);
    }
    return call;
}

static inline void end(struct call *call)
{
    for (unsigned k = 0; k < call->count; k++)
        dev->release(call->operands[k].device, call->operands[k].bytes);
}

/* About a millisecond of work: what a library reads has to wait for what comes before it on the stream. */
static inline void keep_device_busy(void)
{
    enum { BYTES = 1 << 24, MOST = 200 };
    static uint64_t address;
    static unsigned times;
    if (address == 0) {
        CHECK_INT(dev->allocate(BYTES, &address), GSH_OK);
        uint64_t start = gsh_clock_ns();
        CHECK_INT(dev->clear(address, BYTES), GSH_OK);
        CHECK_INT(dev->synchronize(), GSH_OK);
        uint64_t once = GSH_MAX(gsh_clock_ns() - start, 1); /* with the wait, half of it */
        times = (unsigned)GSH_MIN(UINT64_C(2000000) / once + 1, MOST);
    }
    for (unsigned i = 0; i < times; i++)
        CHECK_INT(dev->clear(address, BYTES), GSH_OK);
}

static inline enum gsh_status submit(struct call *call)
{
    keep_device_busy();
    return CHECK(dev->supports(&call->launch)) ? dev->run(&call->launch, 0) : GSH_DECLINED;
}

/* The outputs; false where there are none. */
static inline bool run(const struct what *what, const struct matrices *inputs,
                       struct matrices *outputs)
{
    struct call call = begin(what, inputs);
    enum gsh_status status = submit(&call);
    if (!CHECK_INT(status, GSH_OK)) {
        printf("failed: ");
        print_what(what, "status");
        printf("\n");
    }
    unsigned given = 0;
    while (status == GSH_OK && given < GSH_MAX_OUTPUTS && call.launch.nin + given < call.count) {
        outputs[given] = get(dev, &call.operands[call.launch.nin + given]);
        given++;
    }
    end(&call);
    return given != 0;
}

static inline void declines(const struct what *what, const struct matrices *inputs)
{
    struct call call = begin(what, inputs);
    if (!CHECK_INT(submit(&call), GSH_DECLINED)) {
        printf("failed: ");
        print_what(what, "is not declined");
        printf("\n");
    }
    end(&call);
}

/* ---- checks ---- */

/* x - y */
static inline double distance(const struct matrices *x, const struct matrices *y, int64_t of)
{
    double sum = 0;
    for (int64_t i = of * one_size(x); i < (of + 1) * one_size(x); i++)
        sum += creal((x->at[i] - y->at[i]) * conj(x->at[i] - y->at[i]));
    return sqrt(sum);
}

/* |a b - c| against |a| |b| */
static inline void check_product(const struct what *what, const struct matrices *a,
                                 const struct matrices *b, const struct matrices *c, const char *of)
{
    struct matrices product = make_matrices(c->batch, c->rows, c->columns);
    for (int64_t i = 0; i < c->batch; i++) {
        multiply(a, false, b, &product, i);
        if (!is_small(what, distance(&product, c, i), norm_of(a, i) * norm_of(b, i), of))
            break;
    }
    free(product.at);
}

static inline void check_orthogonal(const struct what *what, const struct matrices *q,
                                    const char *of)
{
    struct matrices gram = make_matrices(q->batch, q->columns, q->columns);
    for (int64_t i = 0; i < q->batch; i++) {
        multiply(q, true, q, &gram, i);
        for (int64_t k = 0; k < q->columns; k++)
            gram.at[i * one_size(&gram) + k * (q->columns + 1)] -= 1;
        if (!is_small(what, norm_of(&gram, i), 1, of))
            break;
    }
    free(gram.at);
}

/* The rows of q are those of an orthogonal matrix. */
static inline void check_orthogonal_rows(const struct what *what, const struct matrices *q,
                                         const char *of)
{
    struct matrices turned = make_matrices(q->batch, q->columns, q->rows);
    for (int64_t i = 0; i < q->batch * one_size(q); i++) {
        int64_t row = i / q->columns % q->rows, column = i % q->columns;
        turned.at[i / one_size(q) * one_size(q) + column * q->rows + row] = q->at[i];
    }
    check_orthogonal(what, &turned, of);
    free(turned.at);
}

static inline struct matrices identities(int64_t batch, int64_t n)
{
    struct matrices made = make_matrices(batch, n, n);
    for (int64_t i = 0; i < batch * n; i++)
        made.at[i / n * n * n + i % n * (n + 1)] = 1;
    return made;
}

static inline void print_worst(void)
{
    for (int r = 0; r < GSH_LAPACK_COUNT; r++)
        for (int d = 0; d < GSH_DTYPE_COUNT; d++)
            if (worst[r][d].share > 0) {
                printf("largest error %.3f of what is allowed: ", worst[r][d].share);
                print_what(&worst[r][d].what, worst[r][d].of);
                printf("\n");
            }
}

/* A program of these tests: its cases, or a share of them, on the GPU; the exit status. */
static inline int run_cases(int argc, char **argv, void (*test_all)(void))
{
    if (argc > 1 && !shard_parse(argc, argv)) {
        printf("usage: %s [--shard K/N]\n", argv[0]);
        return 2;
    }
    int status = open_gpu();
    if (status != 0)
        return status;
    test_all();
    CHECK(dev->synchronize() == GSH_OK);
    describe_gpu();
    print_worst();
    shard_print();
    return check_result();
}
