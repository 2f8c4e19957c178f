/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops for each width of vectors: an element's result depends on nothing else, is near that of the
 * loop without vectors, or the same where the table says so, and has its signs, infinities and NaN.
 */
#include "check.h"
#include "host_vector.h"

#include <dlfcn.h>
#include <math.h>

#define COUNT 83 /* no multiple of a width */
#define GUARD 16

static const unsigned widths[] = {128, 256, 512};

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Ordinary numbers, and any bits. */
static double random_number(enum gsh_dtype dtype)
{
    uint64_t bits = random_bits();
    if ((bits & 1) != 0)
        return ((double)(bits >> 11) * 0x1p-53 - 0.5) * 40;
    double any;
    float narrow;
    uint32_t low = (uint32_t)(bits >> 16);
    memcpy(&any, &bits, sizeof any);
    memcpy(&narrow, &low, sizeof narrow);
    return dtype == GSH_FLOAT64 ? any : (double)narrow;
}

static void put(void *array, enum gsh_dtype dtype, int64_t j, double value)
{
    if (dtype == GSH_FLOAT64)
        ((double *)array)[j] = value;
    else
        ((float *)array)[j] = (float)value;
}

static double get(const void *array, enum gsh_dtype dtype, int64_t j)
{
    return dtype == GSH_FLOAT64 ? ((const double *)array)[j] : (double)((const float *)array)[j];
}

struct subject {
    enum gsh_op op;
    enum gsh_dtype dtype;
    gsh_host_loop *plain, *vectors;
};

/* Inputs of a loop and what it gave for them. */
struct trial {
    double in[GSH_MAX_INPUTS][COUNT]; /* arrays of the dtype, float or double */
    double out[GSH_OP_OUTPUTS][COUNT + GUARD];
};

static void fill(struct trial *trial, enum gsh_dtype dtype)
{
    static const double specials[] = {
        0.0,    -0.0, 1,    -1, INFINITY, -INFINITY, (double)NAN, 0x1p-60, 0x1p-140, 5e-324, 1e300,
        -1e300, 710,  -745, 89, -104,     0.5,       1048576,     1e22,    2,        -3};
    const int count = (int)(sizeof specials / sizeof specials[0]);
    for (int k = 0; k < GSH_MAX_INPUTS; k++)
        for (int j = 0; j < COUNT; j++)
            put(trial->in[k], dtype, j,
                random_bits() % 3 == 0 ? specials[random_bits() % (unsigned)count]
                                       : random_number(dtype));
}

/* n elements from `first` on; the results go to the same places. */
static void run(const struct subject *subject, gsh_host_loop *loop, struct trial *trial,
                int64_t first, int64_t n)
{
    const struct gsh_op_info *info = gsh_op_info(subject->op);
    struct gsh_host_block block = {.n = n};
    for (unsigned k = 0; k < info->nin; k++)
        block.in[k] =
            (const char *)trial->in[k] +
            (size_t)first * gsh_dtype_size(gsh_op_input_dtype(subject->op, subject->dtype, k));
    for (unsigned k = 0; k < info->nout; k++)
        block.out[k] =
            (char *)trial->out[k] +
            (size_t)first * gsh_dtype_size(gsh_op_output_dtype(subject->op, subject->dtype, k));
    loop(&block);
}

static bool same_bits(const struct trial *a, const struct trial *b)
{
    return memcmp(a->out, b->out, sizeof a->out) == 0;
}

static void check_places(const struct subject *subject, struct trial *whole)
{
    struct trial parts = *whole, backwards = *whole;
    for (int64_t first = 0, n; first < COUNT; first += n) {
        n = 1 + (int64_t)(random_bits() % 21);
        n = n < COUNT - first ? n : COUNT - first;
        run(subject, subject->vectors, &parts, first, n);
    }
    for (int64_t j = COUNT - 1; j >= 0; j--)
        run(subject, subject->vectors, &backwards, j, 1);
    run(subject, subject->vectors, whole, 0, COUNT);
    if (!CHECK(same_bits(whole, &parts)) || !CHECK(same_bits(whole, &backwards)))
        fprintf(stderr, "  %s: results depend on places\n", gsh_op_info(subject->op)->name);
}

/* In units in the last place of b. */
static double distance(double a, double b, enum gsh_dtype dtype)
{
    bool is_wide = dtype == GSH_FLOAT64;
    double size = fabs(b), least = is_wide ? 0x1p-1022 : 0x1p-126;
    double largest = is_wide ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    if (a == b)
        return signbit(a) == signbit(b) ? 0 : INFINITY;
    if (isinf(a) || isinf(b)) /* beyond the largest number the next one up counts as infinity */
        return fabs(isinf(a) ? b : a) == largest && signbit(a) == signbit(b) ? 1 : INFINITY;
    if (size < least)
        size = least;
    return fabs(a - b) / ldexp(1, ilogb(size) - (is_wide ? 52 : 23));
}

static void check_near(const struct subject *subject, const struct trial *vectors,
                       const struct trial *plain)
{
    enum gsh_dtype dtype = subject->dtype;
    unsigned bound = gsh_op_max_ulp(subject->op, dtype);
    for (int64_t j = 0; j < COUNT; j++) {
        double got = get(vectors->out[0], dtype, j), want = get(plain->out[0], dtype, j);
        if (!CHECK(distance(got, want, dtype) <= bound))
            fprintf(stderr, "  %s %u: (%a, %a) gave %a, not %a\n", gsh_op_info(subject->op)->name,
                    gsh_host_vector_bits(), get(vectors->in[0], dtype, j),
                    get(vectors->in[1], dtype, j), got, want);
    }
}

static void check_op(enum gsh_op op, enum gsh_dtype dtype, unsigned bits)
{
    enum gsh_dtype out = gsh_op_output_dtype(op, dtype, 0);
    if (!gsh_op_has_loop(op, dtype) || (gsh_op_info(op)->flags & GSH_USES_INDEX) != 0)
        return;
    struct subject subject = {.op = op, .dtype = dtype};
    gsh_host_vector_use(0);
    subject.plain = gsh_host_loops_find(op, dtype);
    gsh_host_vector_use(bits);
    subject.vectors = gsh_host_loops_find(op, dtype);
    for (int i = 0; subject.vectors != subject.plain && i < 20; i++) {
        struct trial trial = {.out = {{0}}}, reference;
        fill(&trial, dtype);
        reference = trial;
        run(&subject, subject.plain, &reference, 0, COUNT);
        check_places(&subject, &trial);
        if (out == dtype)
            check_near(&subject, &trial, &reference);
        else
            CHECK(same_bits(&trial, &reference));
    }
}

static void check_special(enum gsh_dtype dtype)
{
    double array[COUNT];
    const double limit = 65520, special[] = {65520, -65520, INFINITY, -INFINITY, (double)NAN};
    for (int64_t j = 0; j < COUNT; j++)
        put(array, dtype, j, j % 2 == 0 ? 65519 : -1e-30);
    for (int64_t n = 0; n <= COUNT; n++)
        CHECK(!gsh_host_loops_special_has(array, dtype, n, limit));
    for (int64_t j = 0; j < COUNT; j++)
        for (int k = 0; k < 5; k++) {
            put(array, dtype, j, special[k]);
            CHECK(gsh_host_loops_special_has(array, dtype, j + 1, limit));
            CHECK(gsh_host_loops_special_has(array, dtype, COUNT, limit));
            CHECK(!gsh_host_loops_special_has(array, dtype, j, limit));
            put(array, dtype, j, 0);
        }
}

/* There are vectors to check at all: those of this processor, and libmvec where it is. */
static void check_init(void)
{
    CHECK(gsh_host_vector_find(GSH_OP_EXP, GSH_FLOAT64) == NULL);
    CHECK_INT(gsh_host_vector_bits(), 0);
    gsh_host_vector_init();
    bool has_library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL) != NULL;
    for (int d = GSH_FLOAT16; d <= GSH_FLOAT64; d++)
        CHECK((gsh_host_vector_find(GSH_OP_EXP, (enum gsh_dtype)d) != NULL) ==
              (has_library && gsh_host_vector_bits() != 0));
    for (unsigned k = 0; k < 3; k++) {
        unsigned widest = gsh_host_vector_bits();
        bool has = gsh_host_vector_use(widths[k]);
        CHECK(has == (widths[k] <= widest));
        gsh_host_vector_use(widest);
    }
    CHECK(gsh_host_vector_find(GSH_OP_ADD, GSH_FLOAT64) == NULL);
    CHECK(gsh_host_vector_find(GSH_OP_EXP, GSH_COMPLEX128) == NULL);
    CHECK(gsh_host_vector_use(0));
    CHECK_INT(gsh_host_vector_bits(), 0);
}

int main(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64};
    check_init();
    for (int d = 0; d < 2; d++)
        check_special(dtypes[d]);
    for (unsigned k = 0; k < 3; k++) {
        if (!gsh_host_vector_use(widths[k]))
            continue;
        for (int d = 0; d < 2; d++) {
            check_special(dtypes[d]);
            for (int op = 0; op < GSH_OP_COUNT; op++)
                check_op((enum gsh_op)op, dtypes[d], widths[k]);
            gsh_host_vector_use(widths[k]);
        }
    }
    return check_result();
}
