/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "launch_work.h"

#include "backend.h"
#include "work_memo.h"

#include <math.h>

static const struct gsh_rates *rates(void)
{
    return gsh_backend_rates();
}

double gsh_launch_work_span(const struct gsh_launch *launch, unsigned k, uint64_t *first)
{
    int64_t low = 0, high = 0;
    gsh_launch_extent(launch, k, &low, &high);
    *first = launch->operands[k].address + (uint64_t)low;
    return (double)(high - low);
}

double gsh_launch_work_bytes(const struct gsh_launch *launch, unsigned k)
{
    return (double)gsh_launch_output_elements(launch, k) *
           (double)gsh_dtype_size(launch->operands[k].dtype);
}

/* A dimension in which the operand steps. */
static bool is_stepped(const struct gsh_launch *launch, unsigned k, int d)
{
    return launch->shape[d] > 1 && launch->strides[k][d] != 0;
}

static struct gsh_loop_operand loop_operand(const struct gsh_launch *launch, unsigned k)
{
    uint64_t first = 0;
    struct gsh_loop_operand operand = {.elements = (double)gsh_launch_elements(launch),
                                       .distinct = 1,
                                       .itemsize =
                                           (double)gsh_dtype_size(launch->operands[k].dtype),
                                       .span = gsh_launch_work_span(launch, k, &first),
                                       .is_written = gsh_launch_is_output(launch, k)};
    for (int d = 0; d < launch->ndim; d++) {
        double step = (double)gsh_launch_step(launch->strides[k][d]);
        if (!is_stepped(launch, k, d))
            continue;
        operand.distinct *= (double)launch->shape[d];
        operand.step = operand.step == 0 ? step : GSH_MIN(operand.step, step);
    }
    return operand;
}

static void add_operands(const struct gsh_launch *launch, struct gsh_work *work)
{
    bool reduces = gsh_launch_has(launch, GSH_TRAIT_REDUCES);
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        const struct gsh_loop_operand operand = loop_operand(launch, k);
        bool is_result = reduces && operand.is_written;
        if (!launch->operands[k].is_constant && !is_result)
            gsh_cost_model_add_operand(rates(), &operand, work);
    }
}

/* Bytes of all operands of a batch. */
static double batch_bytes(const struct gsh_launch *launch)
{
    double bytes = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        bytes += gsh_launch_work_bytes(launch, k);
    return bytes;
}

static bool is_double(const struct gsh_launch *launch)
{
    return launch->loop == GSH_FLOAT64 || launch->loop == GSH_COMPLEX128;
}

static bool has_blas_product(enum gsh_dtype loop)
{
    return ((GSH_SET_BOOL | GSH_SET_INTEGERS | 1u << GSH_FLOAT16) & 1u << loop) == 0;
}

static struct gsh_work work_of_product(const struct gsh_launch *launch)
{
    bool is_blas = has_blas_product(launch->loop);
    return (struct gsh_work){.kind = is_blas ? GSH_WORK_PRODUCT : GSH_WORK_PLAIN_PRODUCT,
                             .bytes = batch_bytes(launch),
                             .flops = gsh_launch_flops(launch),
                             .is_double = is_double(launch),
                             .host_share = 1,
                             .device_share = 1};
}

/* Columns come one after another; the matrices of a batch side by side if they are many and small. */
static struct gsh_work work_of_lapack(const struct gsh_launch *launch)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(launch->lapack.routine);
    const int64_t *extent = launch->lapack.cores[0].extent;
    int64_t longest = GSH_MAX(extent[0], extent[1]), batch = gsh_launch_elements(launch);
    bool is_together = longest <= info->together && gsh_lapack_is_many(batch, longest);
    struct gsh_work work = work_of_product(launch);
    double least = (double)GSH_MIN(extent[0], extent[1]);
    work.host_share = gsh_cost_model_small_share(rates(), least, info->host_share, work.is_double);
    work.device_share = info->device_share;
    work.columns = least * (is_together ? 1 : (double)batch);
    work.device_column = info->device_column;
    return work;
}

static struct gsh_work work_of_transform(const struct gsh_launch *launch)
{
    return (struct gsh_work){.kind = GSH_WORK_TRANSFORM,
                             .bytes = batch_bytes(launch),
                             .flops = gsh_launch_flops(launch)};
}

/* Nanoseconds of an element: of the CPU by SciPy 1.17 (a Xeon, 200 lines of 5000), and of the device where lines are few: a step
 * waits for the one before it, and a warp's instructions for each other. The device's are an estimate by instructions. */
static const struct filter_cost {
    double host, host_state, device, device_state;
} filter_costs[2][2] = {[GSH_FILTER_DIRECT] = {{5, 0.7, 15, 5}, {14, 3, 150, 300}},
                        [GSH_FILTER_SECTIONS] = {{5.5, 0.5, 15, 5}, {6, 2, 15, 15}}};
#define FILTER_LINES 16896.0 /* a warp for each scheduler of the device */

/* The elements of a line come one after another, those of many lines side by side. */
static struct gsh_work work_of_filter(const struct gsh_launch *launch)
{
    const struct gsh_filter *filter = &launch->filter;
    const struct filter_cost *cost =
        &filter_costs[filter->form][gsh_dtype_kind(launch->loop) == 'c'];
    double states = filter->form == GSH_FILTER_SECTIONS ? 2 * filter->order : filter->order;
    double lines = (double)gsh_launch_elements(launch);
    double length = (double)filter->cores[GSH_FILTER_SIGNAL].extent[0];
    double bytes = 2 * lines * length * (double)gsh_dtype_size(launch->loop);
    double together = GSH_MAX(lines / FILTER_LINES, 1);
    return (struct gsh_work){.kind = GSH_WORK_LOOP,
                             .bytes = bytes,
                             .near = bytes,
                             .rows = lines - 1,
                             .elements = lines * length,
                             .host_ns = cost->host + cost->host_state * states,
                             .columns = length,
                             .device_column =
                                 1e-9 * (cost->device + cost->device_state * states * together)};
}

static double extent_before(const struct gsh_launch *launch, int d)
{
    return d == 0 ? 1 : (double)launch->shape[d - 1];
}

/* Rows beyond the first, in the fewest dimensions. A reduction runs along the last dimension that it keeps, or reduces: the longer
 * one is taken. */
static double count_rows(const struct gsh_launch *launch)
{
    if (launch->ndim < 2)
        return 0;
    struct gsh_launch collapsed = *launch;
    gsh_launch_collapse(&collapsed);
    int reduced = gsh_launch_has(launch, GSH_TRAIT_REDUCES) ? collapsed.nreduce : 0;
    double length = GSH_MAX(extent_before(&collapsed, collapsed.ndim),
                            extent_before(&collapsed, collapsed.ndim - reduced));
    return (double)gsh_launch_elements(launch) / GSH_MAX(length, 1) - 1;
}

/* `host_ns`: of the CPU, for each element. */
static struct gsh_work work_out_loop(const struct gsh_launch *launch, double host_ns)
{
    struct gsh_work work = {.kind = GSH_WORK_LOOP,
                            .rows = count_rows(launch),
                            .elements = (double)gsh_launch_elements(launch),
                            .host_ns = host_ns};
    add_operands(launch, &work);
    return work;
}

static struct gsh_work work_of_loop(const struct gsh_launch *launch, double host_ns)
{
    struct gsh_work_memo_key key;
    struct gsh_work work;
    if (!gsh_work_memo_make_key(launch, host_ns, rates()->host_cache_bytes, &key))
        return work_out_loop(launch, host_ns);
    if (!gsh_work_memo_find(&key, &work)) {
        work = work_out_loop(launch, host_ns);
        gsh_work_memo_keep(&key, &work);
    }
    return work;
}

static struct gsh_work work_of_op(const struct gsh_launch *launch)
{
    return work_of_loop(launch, gsh_op_host_ns(launch->op, launch->loop));
}

static struct gsh_work work_of_reduce(const struct gsh_launch *launch)
{
    return work_of_loop(launch, GSH_COST_REDUCE_NS);
}

/* Whether the order in which a PUT joins elements tells, in the common cases. */
static bool joins_in_order(const struct gsh_launch *launch)
{
    bool rounds = launch->op == GSH_OP_ADD || launch->op == GSH_OP_SUBTRACT ||
                  launch->op == GSH_OP_MULTIPLY || launch->op == GSH_OP_DIVIDE;
    return gsh_launch_has(launch, GSH_TRAIT_UPDATES) && rounds &&
           !launch->operands[0].is_constant && (1u << launch->loop & GSH_SET_INEXACT) != 0;
}

/* Measured on an H200: 1e5 to 1e8 float64 in a thousand places take 0.14 to 6.9 ms, 1e8 in one place 473 ms. */
#define ORDER_SECONDS 80e-6 /* of the stages that sort and gather, */
#define ORDER_BYTES 256     /* of an index, as they take, */
#define JOIN_SECONDS 5e-9   /* and of an element of a sequence, one after another */

/* The device sorts the places, and then joins the elements of each place one after another. Indices are taken to be spread evenly. */
static struct gsh_work work_of_indexed(const struct gsh_launch *launch)
{
    struct gsh_work work = work_of_loop(launch, GSH_COST_INDEXED_NS);
    if (!joins_in_order(launch))
        return work;
    double indices = 1;
    for (int d = 0; d < launch->ndim; d++)
        indices *= launch->strides[1][d] != 0 ? (double)launch->shape[d] : 1;
    work.bytes += indices * ORDER_BYTES;
    work.device_column =
        ORDER_SECONDS + JOIN_SECONDS * indices / GSH_MAX((double)launch->indexed.extent, 1);
    work.columns = 1;
    return work;
}

/* Of a CPU core, by NumPy 2.4, rounded down; of PCG64 and PCG64DXSM. */
static double draw_ns(const struct gsh_random_draw *draw, int width)
{
    static const double philox = 1.5, forms[] = {[GSH_RANDOM_STANDARD] = 0,
                                                 [GSH_RANDOM_SCALED] = 0.3,
                                                 [GSH_RANDOM_SHIFTED] = 0.5,
                                                 [GSH_RANDOM_EXP] = 8};
    static const double distributions[] = {[GSH_RANDOM_UNIFORM] = 2,
                                           [GSH_RANDOM_NORMAL] = 12,
                                           [GSH_RANDOM_EXPONENTIAL] = 5,
                                           [GSH_RANDOM_BOUNDED] = 2};
    double ns = distributions[draw->distribution] + forms[draw->form];
    ns *= width >= 32 ? 1 : width == 1 ? 0.3 : 0.5;
    return draw->stream.generator == GSH_RANDOM_PHILOX ? ns * philox : ns;
}

#define DRAW_WAIT                                                                                  \
    30e-6 /* s, for what the device tells: how many pieces were consumed, and which values are missing */

#define EXP_SECONDS 0.6e-9     /* a value: the CPU computes one of 35 */
#define TWISTER_SECONDS 0.5e-9 /* a word, by one multiprocessor (H200) */

static struct gsh_work work_of_draw(const struct gsh_launch *launch)
{
    const struct gsh_random_draw *draw = &launch->draw;
    int width = gsh_random_draw_width(draw, launch->loop);
    struct gsh_work work = work_of_loop(launch, draw_ns(draw, width));
    work.kind = GSH_WORK_DRAW;
    work.columns = gsh_random_draw_rejects(draw, launch->loop) ? 2 : 0;
    if (draw->form == GSH_RANDOM_EXP)
        work.columns += work.elements * EXP_SECONDS / DRAW_WAIT;
    if (draw->stream.generator == GSH_RANDOM_MT19937)
        work.columns += work.elements * TWISTER_SECONDS / DRAW_WAIT;
    work.device_column = DRAW_WAIT;
    return work;
}

/* Nanoseconds of the CPU for an element and each doubling of the row's length. NumPy 2.4.6 on a Xeon with AVX-512, rows of 10,000
 * random numbers, the fastest kind: values 0.16 to 0.6, orders 0.27 (8 bits), 0.43 (16), 0.86 to 1.3, complex numbers 5 to 13. */
static double sort_ns(const struct gsh_launch *launch)
{
    if (gsh_dtype_kind(launch->loop) == 'c')
        return 5;
    if (!launch->sort.gives_order)
        return 0.2;
    return gsh_dtype_size(launch->loop) <= 2 ? 0.3 : 0.8;
}

/* Each byte of the elements is one pass over them, and over their places. */
static struct gsh_work work_of_sort(const struct gsh_launch *launch)
{
    double length = launch->ndim > 0 ? (double)launch->shape[launch->ndim - 1] : 1;
    double size = (double)gsh_dtype_size(launch->loop);
    struct gsh_work work = work_of_loop(launch, sort_ns(launch) * log2(GSH_MAX(length, 2)));
    work.bytes = work.elements * size * (1 + 2 * (size + (launch->sort.gives_order ? 4 : 0)));
    return work;
}

/* A comparison of a binary search, whose elements are mostly not in a core's caches. */
#define SEARCH_NS 2.0

static struct gsh_work work_of_search(const struct gsh_launch *launch)
{
    double steps = log2(GSH_MAX((double)launch->search.line.extent, 2));
    struct gsh_work work = work_of_loop(launch, SEARCH_NS * steps);
    work.bytes += work.elements * (double)gsh_dtype_size(launch->loop) * steps;
    return work;
}

/* Rows come side by side, the numbers of a row one after another. Nanoseconds of the CPU by SciPy 1.17, those of the device an estimate. */
static struct gsh_work work_of_spmv(const struct gsh_launch *launch)
{
    double numbers = (double)launch->spmv.lines[GSH_SPMV_NUMBERS].extent;
    struct gsh_work work = {.elements = numbers, .host_ns = 0.5, .device_column = 6e-9};
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        work.near += gsh_launch_work_span(launch, k, &(uint64_t){0});
    work.bytes = work.near + numbers * (double)gsh_dtype_size(launch->loop);
    work.columns = numbers / GSH_MAX((double)gsh_launch_elements(launch), 1);
    return work;
}

/* Of the CPU for an element of a window, by NumPy 2.4; and of all the device to put two in order: 25 and 49 float64, H200. */
#define SELECT_NS 6.0
#define EXCHANGE_SECONDS 0.25e-12

static struct gsh_work work_of_selection(const struct gsh_launch *launch)
{
    struct gsh_work work = work_of_loop(launch, SELECT_NS * launch->selection.count);
    work.columns = work.elements * gsh_selection_exchanges(&launch->selection);
    work.device_column = EXCHANGE_SECONDS;
    return work;
}

struct gsh_work gsh_launch_work(const struct gsh_launch *launch)
{
    static struct gsh_work (*const work_of[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, replay, host, source, unit, price, ...)                            \
    [GSH_LAUNCH_##kind] = work_of_##price,
#include "launch_kinds.def"
#undef X
    };
    return work_of[launch->kind](launch);
}
