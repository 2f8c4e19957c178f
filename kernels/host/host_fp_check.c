/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks are first tested as a whole, fast. Only a block with a special value is examined element by element. All
 * dtypes are examined as complex128, which distinguishes zero, infinity and NaN in any of them.
 */
#include "host_fp_check.h"

#include "host_casts.h"

#include <math.h>
#include <string.h>

#define HALF_LIMIT 65520.0         /* rounds to infinity in float16, like all larger numbers */
#define FLOAT_LIMIT 0x1.ffffffp127 /* the same for float32 */
#define BIT(kind) (1u << GSH_ERROR_##kind)

/* Elements as complex128. */
struct numbers {
    double parts[GSH_HOST_BLOCK][2];
};

static void read_numbers(struct numbers *numbers, const void *src, enum gsh_dtype dtype,
                         int64_t stride, int64_t n)
{
    gsh_host_casts_run(numbers->parts, GSH_COMPLEX128, 16, src, dtype, stride, n);
}

static bool is_inexact(enum gsh_dtype dtype)
{
    return (GSH_SET_INEXACT >> dtype & 1) != 0;
}

static bool may_divide_by_zero(enum gsh_op op)
{
    return gsh_op_divides(op) || op == GSH_OP_RECIPROCAL;
}

bool gsh_host_fp_check_begin(struct gsh_host_fp_check *check, const struct gsh_error_sink *sink,
                             enum gsh_op op, enum gsh_dtype loop, bool casts)
{
    unsigned flags = gsh_op_info(op)->flags, wanted = casts ? BIT(OVERFLOW) | BIT(INVALID) : 0;
    if (is_inexact(loop))
        wanted |= (flags & GSH_MAY_POLE ? BIT(POLE) : 0) |
                  (flags & GSH_MAY_OVERFLOW ? BIT(OVERFLOW) : 0) |
                  (flags & GSH_MAY_INVALID ? BIT(INVALID) : 0);
    else if (may_divide_by_zero(op))
        wanted |= BIT(POLE) | BIT(OVERFLOW);
    const uint64_t *claims = (const uint64_t *)(uintptr_t)sink->claims;
    for (int kind = 0; claims != NULL && kind < GSH_ERROR_KINDS; kind++)
        if (__atomic_load_n(&claims[kind], __ATOMIC_RELAXED) == sink->sequence)
            wanted &= ~(1u << kind);
    *check = (struct gsh_host_fp_check){
        .sink = sink, .op = op, .loop = loop, .wanted = claims != NULL ? wanted : 0};
    return check->wanted != 0;
}

void gsh_host_fp_check_sample(struct gsh_host_fp_check *check, const struct gsh_host_block *block)
{
    check->nin = gsh_op_info(check->op)->nin;
    for (unsigned k = 0; k < check->nin; k++) {
        enum gsh_dtype as = gsh_op_input_dtype(check->op, check->loop, k);
        enum gsh_dtype dtype = gsh_host_loops_dtype(as);
        check->samples[k] = (struct gsh_host_sample){
            .address = block->in[k], .stride = (int64_t)gsh_dtype_size(dtype), dtype, as};
    }
}

/* Reports that element j met the kind. */
static void report(struct gsh_host_fp_check *check, enum gsh_error_kind kind, int64_t j)
{
    struct gsh_errors_found *errors = (struct gsh_errors_found *)(uintptr_t)check->sink->found;
    uint64_t *claims = (uint64_t *)(uintptr_t)check->sink->claims;
    if ((check->wanted >> kind & 1) == 0)
        return;
    check->wanted &= ~(1u << kind);
    if (__atomic_exchange_n(&claims[kind], check->sink->sequence, __ATOMIC_RELAXED) ==
        check->sink->sequence)
        return; /* another thread was first */
    for (unsigned k = 0; k < check->nin; k++) {
        const struct gsh_host_sample *sample = &check->samples[k];
        gsh_host_casts_run(&errors->found[kind].inputs[k], sample->as, 0,
                           (const char *)sample->address + j * sample->stride, sample->dtype, 0, 1);
    }
    errors->found[kind].sequence = check->sink->sequence;
}

void gsh_host_fp_check_report(struct gsh_host_fp_check *check, enum gsh_error_kind kind)
{
    check->nin = 0;
    report(check, kind, 0);
}

static bool counts(const struct gsh_host_fp_check *check, int64_t j)
{
    return check->mask == NULL || check->mask[j * check->mask_stride] != 0;
}

/* Whether a part of the results is NaN or not below the limit. */
static bool has_special(const void *results, enum gsh_dtype dtype, int64_t n)
{
    enum gsh_dtype part = gsh_dtype_real(gsh_host_loops_dtype(dtype));
    int64_t parts = gsh_dtype_kind(dtype) == 'c' ? 2 * n : n;
    double limit = dtype == GSH_FLOAT16 ? HALF_LIMIT : (double)INFINITY;
    return is_inexact(dtype) && gsh_host_loops_special_has(results, part, parts, limit);
}

static bool is_nan(const double *parts)
{
    return isnan(parts[0]) || isnan(parts[1]);
}

static bool is_infinite(const double *parts, double limit)
{
    return fabs(parts[0]) >= limit || fabs(parts[1]) >= limit;
}

/* The kinds, as bits, that element j's inputs and result meet. */
static unsigned judge(const struct gsh_host_fp_check *check, const struct numbers *inputs,
                      const double *result, int64_t j)
{
    unsigned flags = gsh_op_info(check->op)->flags;
    double limit = check->loop == GSH_FLOAT16 ? HALF_LIMIT : (double)INFINITY;
    bool any_nan = false, any_infinite = false, any_zero = false;
    for (unsigned k = 0; k < check->nin; k++) {
        const double *parts = inputs[k].parts[j];
        any_nan = any_nan || is_nan(parts);
        any_infinite = any_infinite || is_infinite(parts, (double)INFINITY);
        any_zero = any_zero || (parts[0] == 0 && parts[1] == 0);
    }
    unsigned kinds = is_nan(result) && !any_nan ? BIT(INVALID) : 0;
    if (!is_infinite(result, limit) || any_nan || any_infinite)
        return kinds;
    bool is_pole = (flags & GSH_MAY_OVERFLOW) == 0 || (any_zero && (flags & GSH_MAY_POLE) != 0);
    return kinds | (is_pole ? BIT(POLE) : BIT(OVERFLOW));
}

static void check_floats(struct gsh_host_fp_check *check, const struct gsh_host_block *block,
                         unsigned out, enum gsh_dtype dtype)
{
    struct numbers inputs[GSH_MAX_INPUTS], results;
    for (unsigned k = 0; k < check->nin; k++) {
        enum gsh_dtype input = gsh_host_loops_dtype(gsh_op_input_dtype(check->op, check->loop, k));
        read_numbers(&inputs[k], block->in[k], input, (int64_t)gsh_dtype_size(input), block->n);
    }
    dtype = gsh_host_loops_dtype(dtype);
    read_numbers(&results, block->out[out], dtype, (int64_t)gsh_dtype_size(dtype), block->n);
    for (int64_t j = 0; j < block->n && check->wanted != 0; j++) {
        unsigned kinds = counts(check, j) ? judge(check, inputs, results.parts[j], j) : 0;
        for (int kind = 0; kinds != 0 && kind < GSH_ERROR_KINDS; kind++)
            if ((kinds >> kind & 1) != 0)
                report(check, (enum gsh_error_kind)kind, j);
    }
}

/* Finds division by zero, and the least value over -1, the only quotient that does not fit. */
static void check_integers(struct gsh_host_fp_check *check, const struct gsh_host_block *block)
{
    unsigned last = check->nin - 1;
    int64_t step = (int64_t)gsh_dtype_size(check->loop), values[2][GSH_HOST_BLOCK];
    for (unsigned k = 0; k <= last; k++)
        gsh_host_casts_run(values[k], GSH_INT64, 8, block->in[k], check->loop, step, block->n);
    bool overflows = (GSH_SET_SIGNED >> check->loop & 1) != 0 &&
                     (check->op == GSH_OP_FLOOR_DIVIDE || check->op == GSH_OP_DIVMOD);
    int64_t least = INT64_MIN >> (64 - 8 * step);
    for (int64_t j = 0; j < block->n && check->wanted != 0; j++) {
        if (!counts(check, j))
            continue;
        if (values[last][j] == 0)
            report(check, GSH_ERROR_POLE, j);
        if (overflows && values[0][j] == least && values[1][j] == -1)
            report(check, GSH_ERROR_OVERFLOW, j);
    }
}

void gsh_host_fp_check_block(struct gsh_host_fp_check *check, const struct gsh_host_block *block)
{
    const struct gsh_op_info *info = gsh_op_info(check->op);
    gsh_host_fp_check_sample(check, block);
    if (!is_inexact(check->loop)) {
        if (may_divide_by_zero(check->op) && check->wanted != 0)
            check_integers(check, block);
        return;
    }
    if ((info->flags & (GSH_MAY_POLE | GSH_MAY_OVERFLOW | GSH_MAY_INVALID)) == 0)
        return;
    for (unsigned k = 0; k < info->nout && check->wanted != 0; k++) {
        enum gsh_dtype dtype = gsh_op_output_dtype(check->op, check->loop, k);
        if (has_special(block->out[k], dtype, block->n))
            check_floats(check, block, k, dtype);
    }
}

/* The values that a cast to a dtype can hold: above `low` and below `high`. Narrow integers are converted as
 * int32; unsigned ones wrap from below without an error. */
struct range {
    double low, high;
};

/* Results of float16 are float32 that will be rounded. */
static struct range finite_range(enum gsh_dtype loop, struct range range)
{
    if (loop != GSH_FLOAT16)
        return range;
    return (struct range){GSH_MAX(range.low, -HALF_LIMIT), GSH_MIN(range.high, HALF_LIMIT)};
}

static struct range integer_range(enum gsh_dtype to)
{
    const double below_int64 = -0x1.0000000000001p63;
    switch (to) {
    case GSH_INT64:
        return (struct range){below_int64, 0x1p63};
    case GSH_UINT64:
        return (struct range){below_int64, 0x1p64};
    case GSH_UINT32:
        return (struct range){-0x1p31 - 1, 0x1p32};
    default:
        return (struct range){-0x1p31 - 1, 0x1p31};
    }
}

static bool overflows(const double *parts, double limit, bool is_complex)
{
    double real = fabs(parts[0]), imaginary = fabs(parts[1]);
    return (real >= limit && isfinite(real)) ||
           (is_complex && imaginary >= limit && isfinite(imaginary));
}

/* The kind of error that casts between the two dtypes can meet; GSH_ERROR_KINDS: none. */
static enum gsh_error_kind cast_kind(enum gsh_dtype from, enum gsh_dtype to)
{
    bool is_wide = from == GSH_FLOAT64 || from == GSH_COMPLEX128;
    if ((GSH_SET_INTEGERS >> to & 1) != 0)
        return is_inexact(from) ? GSH_ERROR_INVALID : GSH_ERROR_KINDS;
    if (to == GSH_FLOAT16)
        return from != GSH_FLOAT16 && gsh_dtype_size(from) > 1 ? GSH_ERROR_OVERFLOW
                                                               : GSH_ERROR_KINDS;
    return is_wide && gsh_dtype_is_single(to) ? GSH_ERROR_OVERFLOW : GSH_ERROR_KINDS;
}

void gsh_host_fp_check_cast(struct gsh_host_fp_check *check, enum gsh_dtype to, const void *src,
                            enum gsh_dtype from, int64_t src_stride, int64_t n)
{
    enum gsh_error_kind kind = cast_kind(from, to);
    if (kind == GSH_ERROR_KINDS)
        return;
    struct range range = finite_range(check->loop, integer_range(to));
    double limit = to == GSH_FLOAT16 ? HALF_LIMIT : FLOAT_LIMIT;
    struct numbers numbers;
    for (int64_t done = 0; done < n; done += GSH_HOST_BLOCK) {
        int64_t count = GSH_MIN(n - done, GSH_HOST_BLOCK);
        read_numbers(&numbers, (const char *)src + done * src_stride, from, src_stride, count);
        for (int64_t j = 0; j < count && (check->wanted >> kind & 1) != 0; j++) {
            const double *parts = numbers.parts[j];
            bool fails = kind == GSH_ERROR_INVALID
                             ? !(parts[0] > range.low && parts[0] < range.high)
                             : overflows(parts, limit, to == GSH_COMPLEX64);
            if (fails && counts(check, done + j))
                report(check, kind, done + j);
        }
    }
}
