/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on a launch's shape and strides; see launch.h. A REDUCE has two iteration spaces: the kept dimensions 0
 * .. ndim - nreduce - 1, and the reduced ones behind them. No dimension moves between the two.
 */
#include "launch.h"

#include <math.h>

const uint32_t gsh_launch_traits[GSH_LAUNCH_KINDS] = {
#define X(kind, dtypes, errors, replay, host, source, unit, price, traits, ...)                    \
    [GSH_LAUNCH_##kind] = traits,
#include "launch_kinds.def"
#undef X
};

int64_t gsh_launch_elements(const struct gsh_launch *launch)
{
    int64_t elements = 1;
    for (int d = 0; d < launch->ndim; d++)
        elements *= launch->shape[d];
    return elements;
}

static struct gsh_core core_of_element(const struct gsh_launch *launch, unsigned k)
{
    (void)launch;
    (void)k;
    return (struct gsh_core){{1, 1, 1}, {0, 0, 0}};
}

static struct gsh_core core_of_draw(const struct gsh_launch *launch, unsigned k)
{
    return core_of_element(launch, k);
}

static struct gsh_core core_of_product(const struct gsh_launch *launch, unsigned k)
{
    const struct gsh_gemm *g = &launch->gemm;
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    int64_t rows = k == 1 ? g->k : g->m, row = k == 0 ? g->a_row : k == 1 ? g->b_row : g->c_row;
    int64_t columns = k == 0 ? g->k : g->n, column = k == 0   ? g->a_col
                                                     : k == 1 ? g->b_col
                                                              : g->c_col;
    return (struct gsh_core){{rows, columns, 1}, {row * size, column * size, 0}};
}

static struct gsh_core core_of_lapack(const struct gsh_launch *launch, unsigned k)
{
    return launch->lapack.cores[k];
}

static struct gsh_core core_of_transform(const struct gsh_launch *launch, unsigned k)
{
    return launch->fft.cores[k];
}

static struct gsh_core core_of_filter(const struct gsh_launch *launch, unsigned k)
{
    return launch->filter.cores[k];
}

struct gsh_core gsh_launch_core(const struct gsh_launch *launch, unsigned k)
{
    static struct gsh_core (*const core_of[])(const struct gsh_launch *launch, unsigned k) = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...)                                   \
    [GSH_LAUNCH_##kind] = core_of_##unit,
#include "launch_kinds.def"
#undef X
    };
    return core_of[launch->kind](launch, k);
}

static int64_t core_elements(const struct gsh_launch *launch, unsigned k)
{
    struct gsh_core core = gsh_launch_core(launch, k);
    return core.extent[0] * core.extent[1] * core.extent[2];
}

int64_t gsh_launch_output_elements(const struct gsh_launch *launch, unsigned k)
{
    int64_t elements = gsh_launch_writes_triangle(launch)
                           ? launch->gemm.n * (launch->gemm.n + 1) / 2
                           : core_elements(launch, k);
    for (int d = 0; d < launch->ndim - launch->nreduce; d++)
        elements *= launch->shape[d];
    return elements;
}

static double flops_of_element(const struct gsh_launch *launch)
{
    (void)launch;
    return 0;
}

static double flops_of_draw(const struct gsh_launch *launch)
{
    return flops_of_element(launch);
}

/* 5 n log2(n) for a complex transform of n points (Van Loan, Computational Frameworks for the FFT, 1992), half of it where
 * one side is real. */
static double flops_of_transform(const struct gsh_launch *launch)
{
    const struct gsh_fft *fft = &launch->fft;
    double points = 1;
    for (int d = 0; d < fft->rank; d++)
        points *= (double)fft->length[d];
    return (fft->type == GSH_FFT_C2C ? 5 : 2.5) * points * fmax(1, log2(points));
}

/* The form's share of the plain product's operations. */
static double product_share(enum gsh_gemm_form form)
{
    return form == GSH_GEMM_SYRK || form == GSH_GEMM_HERK || form == GSH_GEMM_TRMM ? 0.5 : 1;
}

static double flops_of_product(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    bool is_complex = gsh_dtype_kind(launch->loop) == 'c';
    return (is_complex ? 8 : 2) * product_share(g->form) * (double)g->m * (double)g->n *
           (double)g->k;
}

/* Four for each state of an element, and two for b[0]. */
static double flops_of_filter(const struct gsh_launch *launch)
{
    const struct gsh_filter *filter = &launch->filter;
    bool is_complex = gsh_dtype_kind(launch->loop) == 'c';
    double states = filter->form == GSH_FILTER_SECTIONS ? 2 * filter->order : filter->order;
    return (is_complex ? 4 : 1) * (4 * states + 2) *
           (double)filter->cores[GSH_FILTER_SIGNAL].extent[0];
}

static double flops_of_lapack(const struct gsh_launch *launch)
{
    bool is_complex = gsh_dtype_kind(launch->loop) == 'c';
    return (is_complex ? 4 : 1) * gsh_lapack_flops(launch->lapack.routine,
                                                   launch->lapack.cores[0].extent,
                                                   launch->lapack.cores[launch->nin - 1].extent);
}

double gsh_launch_flops(const struct gsh_launch *launch)
{
    static double (*const flops_of[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...)                                   \
    [GSH_LAUNCH_##kind] = flops_of_##unit,
#include "launch_kinds.def"
#undef X
    };
    return (double)gsh_launch_elements(launch) * flops_of[launch->kind](launch);
}

static enum gsh_dtype input_of_op(const struct gsh_launch *launch, unsigned k)
{
    return gsh_op_input_dtype(launch->op, launch->loop, k);
}

static enum gsh_dtype input_of_loop(const struct gsh_launch *launch, unsigned k)
{
    (void)k;
    return launch->loop;
}

static enum gsh_dtype input_of_reduction(const struct gsh_launch *launch, unsigned k)
{
    return input_of_loop(launch, k);
}

static enum gsh_dtype input_of_sorted(const struct gsh_launch *launch, unsigned k)
{
    return input_of_loop(launch, k);
}

static enum gsh_dtype input_of_searched(const struct gsh_launch *launch, unsigned k)
{
    return input_of_loop(launch, k);
}

static enum gsh_dtype input_of_sparse(const struct gsh_launch *launch, unsigned k)
{
    return k <= GSH_SPMV_COLUMNS ? launch->operands[k].dtype : launch->loop;
}

/* Whether input k is an index. */
static bool is_index(const struct gsh_launch *launch, unsigned k)
{
    return k == 1 && gsh_launch_has(launch, GSH_TRAIT_HAS_INDEX);
}

enum gsh_dtype gsh_launch_input_dtype(const struct gsh_launch *launch, unsigned k)
{
    static enum gsh_dtype (*const input_of[])(const struct gsh_launch *launch, unsigned k) = {
#define X(kind, dtypes, ...) [GSH_LAUNCH_##kind] = input_of_##dtypes,
#include "launch_kinds.def"
#undef X
    };
    return is_index(launch, k) ? launch->operands[k].dtype : input_of[launch->kind](launch, k);
}

static enum gsh_dtype result_of_op(const struct gsh_launch *launch, unsigned k)
{
    return gsh_op_output_dtype(launch->op, launch->loop, k);
}

static enum gsh_dtype result_of_reduction(const struct gsh_launch *launch, unsigned k)
{
    (void)k;
    return gsh_reduction_output_dtype(launch->reduction, launch->loop);
}

static enum gsh_dtype result_of_loop(const struct gsh_launch *launch, unsigned k)
{
    (void)k;
    return launch->loop;
}

static enum gsh_dtype result_of_sorted(const struct gsh_launch *launch, unsigned k)
{
    (void)k;
    return launch->sort.gives_order ? GSH_INT64 : launch->loop;
}

static enum gsh_dtype result_of_searched(const struct gsh_launch *launch, unsigned k)
{
    (void)launch;
    (void)k;
    return GSH_INT64;
}

static enum gsh_dtype result_of_sparse(const struct gsh_launch *launch, unsigned k)
{
    return result_of_loop(launch, k);
}

enum gsh_dtype gsh_launch_result_dtype(const struct gsh_launch *launch, unsigned k)
{
    static enum gsh_dtype (*const result_of[])(const struct gsh_launch *launch, unsigned k) = {
#define X(kind, dtypes, ...) [GSH_LAUNCH_##kind] = result_of_##dtypes,
#include "launch_kinds.def"
#undef X
    };
    return result_of[launch->kind](launch, k);
}

bool gsh_launch_uses_index(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_MAPS) &&
           (gsh_op_info(launch->op)->flags & GSH_USES_INDEX) != 0;
}

const char *gsh_launch_name(const struct gsh_launch *launch)
{
    static const char *const kinds[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, price, traits, label)                  \
    [GSH_LAUNCH_##kind] = label,
#include "launch_kinds.def"
#undef X
    };
    if (gsh_launch_has(launch, GSH_TRAIT_BATCH | GSH_TRAIT_DRAWS | GSH_TRAIT_HAS_NO_OP))
        return kinds[launch->kind];
    return gsh_launch_has(launch, GSH_TRAIT_JOINS) ? gsh_reduction_info(launch->reduction)->name
                                                   : gsh_op_info(launch->op)->name;
}

static void move_dim(struct gsh_launch *launch, int to, int from)
{
    launch->shape[to] = launch->shape[from];
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        launch->strides[k][to] = launch->strides[k][from];
}

/* Drops extents of 1 among the dimensions [first, *end) by moving later ones down, and lowers *end. Dimensions
 * from the old *end on do not move. */
static void drop_ones(struct gsh_launch *launch, int first, int *end)
{
    int kept = first;
    for (int d = first; d < *end; d++)
        if (launch->shape[d] != 1)
            move_dim(launch, kept++, d);
    *end = kept;
}

bool gsh_launch_steps_further(const struct gsh_launch *launch, int d, int e, bool reduced)
{
    unsigned nin = launch->nin, count = gsh_launch_operands(launch);
    for (unsigned j = reduced ? 1 : 0; j <= count; j++) {
        unsigned k = j == 0 ? nin : j - 1;
        int64_t of_d = gsh_launch_step(launch->strides[k][d]),
                of_e = gsh_launch_step(launch->strides[k][e]);
        if (of_d != of_e)
            return of_d > of_e;
    }
    return false;
}

static void swap_dims(struct gsh_launch *launch, int d, int e)
{
    int64_t extent = launch->shape[d];
    launch->shape[d] = launch->shape[e];
    launch->shape[e] = extent;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        int64_t stride = launch->strides[k][d];
        launch->strides[k][d] = launch->strides[k][e];
        launch->strides[k][e] = stride;
    }
}

static void sort_dims(struct gsh_launch *launch, int first, int end, bool reduced)
{
    for (int d = first + 1; d < end; d++)
        for (int e = d; e > first && gsh_launch_steps_further(launch, e, e - 1, reduced); e--)
            swap_dims(launch, e, e - 1);
}

static bool steps_as_one(const struct gsh_launch *launch, int outer, int inner)
{
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (launch->strides[k][outer] != launch->strides[k][inner] * launch->shape[inner])
            return false;
    return true;
}

static void merge_dims(struct gsh_launch *launch, int first, int *end)
{
    int last = first;
    for (int d = first + 1; d < *end; d++) {
        if (steps_as_one(launch, last, d)) {
            int64_t extent = launch->shape[last] * launch->shape[d];
            move_dim(launch, last, d);
            launch->shape[last] = extent;
        } else {
            move_dim(launch, ++last, d);
        }
    }
    if (*end > first)
        *end = last + 1;
}

/* Whether the order of the dimensions matters. */
static bool has_fixed_order(const struct gsh_launch *launch, bool reduced)
{
    if (gsh_launch_has(launch, GSH_TRAIT_REDUCES))
        return reduced && gsh_reduction_info(launch->reduction)->result == GSH_RESULT_INDEX;
    return gsh_launch_has(launch, GSH_TRAIT_ORDERED) || gsh_launch_uses_index(launch);
}

/* Collapses the dimensions [first, end); returns the new end. */
static int collapse_part(struct gsh_launch *launch, int first, int end, bool reduced)
{
    for (int d = first; d < end; d++)
        if (launch->shape[d] == 0) { /* empty: one dimension of extent 0 suffices */
            move_dim(launch, first, d);
            return first + 1;
        }
    drop_ones(launch, first, &end);
    if (!has_fixed_order(launch, reduced))
        sort_dims(launch, first, end, reduced);
    merge_dims(launch, first, &end);
    return end;
}

/* A SCAN's last dimension is treated like a reduced one, but is kept even where its extent is 1. */
static void collapse_scan(struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    int kept_end = collapse_part(launch, 0, last, false);
    move_dim(launch, kept_end, last);
    launch->ndim = kept_end + 1;
}

void gsh_launch_collapse(struct gsh_launch *launch)
{
    if (gsh_launch_has(launch, GSH_TRAIT_SCANS)) {
        collapse_scan(launch);
        return;
    }
    int nreduce = gsh_launch_has(launch, GSH_TRAIT_REDUCES) ? launch->nreduce : 0;
    int kept = launch->ndim - nreduce;
    int kept_end = collapse_part(launch, 0, kept, false);
    int reduced_end = collapse_part(launch, kept, launch->ndim, true);
    for (int d = kept; d < reduced_end; d++)
        move_dim(launch, kept_end + d - kept, d);
    launch->nreduce = reduced_end - kept;
    launch->ndim = kept_end + launch->nreduce;
}

static void extend(int64_t stride, int64_t extent, int64_t *low, int64_t *high)
{
    int64_t reach = stride * (extent - 1);
    if (reach < 0)
        *low += reach;
    else
        *high += reach;
}

/* Extends the byte range by that of the core; an empty core makes it empty. */
static void extend_by_core(const struct gsh_launch *launch, unsigned k, int64_t *low, int64_t *high)
{
    struct gsh_core core = gsh_launch_core(launch, k);
    for (int d = 0; d < GSH_CORE_DIMS; d++) {
        if (core.extent[d] == 0) {
            *low = *high = 0;
            return;
        }
        extend(core.stride[d], core.extent[d], low, high);
    }
}

/* What operand k is addressed by beyond the shape. */
static struct gsh_indexed line_of(const struct gsh_launch *launch, unsigned k)
{
    if (launch->kind == GSH_LAUNCH_SPMV && k < GSH_COUNT(launch->spmv.lines))
        return launch->spmv.lines[k];
    if (k == 1 && gsh_launch_has(launch, GSH_TRAIT_SELECTS))
        return (struct gsh_indexed){(int64_t)sizeof(int64_t), launch->selection.count};
    bool is_indexed = (k == 0 && gsh_launch_has(launch, GSH_TRAIT_INDEXES_INPUT)) ||
                      (k == launch->nin && gsh_launch_has(launch, GSH_TRAIT_INDEXES_OUTPUT));
    return is_indexed ? launch->indexed : (struct gsh_indexed){0, 1};
}

static bool has_same_core(const struct gsh_launch *launch, unsigned a, unsigned b)
{
    const struct gsh_core x = gsh_launch_core(launch, a), y = gsh_launch_core(launch, b);
    bool is_same = true;
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        is_same &= x.extent[d] == y.extent[d] && (x.extent[d] == 1 || x.stride[d] == y.stride[d]);
    return is_same;
}

bool gsh_launch_is_same_view(const struct gsh_launch *launch, unsigned a, unsigned b)
{
    const struct gsh_operand *x = &launch->operands[a], *y = &launch->operands[b];
    if (x->address != y->address || gsh_dtype_size(x->dtype) != gsh_dtype_size(y->dtype))
        return false;
    for (int dim = 0; dim < launch->ndim; dim++)
        if (launch->shape[dim] != 1 && launch->strides[a][dim] != launch->strides[b][dim])
            return false;
    return !gsh_launch_is_batch(launch) || has_same_core(launch, a, b);
}

bool gsh_launch_is_selection(const struct gsh_launch *launch)
{
    const unsigned dtypes = GSH_SET_BOOL | GSH_SET_INTEGERS | 1u << GSH_FLOAT32 | 1u << GSH_FLOAT64;
    const struct gsh_selection *selection = &launch->selection;
    const struct gsh_operand *operands = launch->operands;
    return launch->nin == 2 && launch->nout == 1 && !launch->has_mask && !operands[0].is_constant &&
           !operands[1].is_constant && (1u << launch->loop & dtypes) != 0 &&
           operands[0].dtype == launch->loop && operands[1].dtype == GSH_INT64 &&
           operands[2].dtype == launch->loop && selection->count <= GSH_SELECTION_MOST &&
           selection->rank >= 0 && selection->rank < selection->count;
}

void gsh_launch_extent(const struct gsh_launch *launch, unsigned k, int64_t *low, int64_t *high)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    *low = 0;
    *high = size;
    if (gsh_launch_is_batch(launch)) {
        extend_by_core(launch, k, low, high);
        if (*low == *high)
            return;
    }
    for (int d = 0; d < launch->ndim; d++) {
        if (launch->shape[d] == 0 && !gsh_launch_is_output(launch, k)) { /* nothing is read */
            *low = *high = 0;
            return;
        }
        extend(launch->strides[k][d], launch->shape[d], low, high);
    }
    const struct gsh_indexed line = line_of(launch, k);
    extend(line.stride, line.extent, low, high);
}

bool gsh_launch_is_packed(const struct gsh_launch *launch, unsigned k)
{
    int64_t step = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int d = launch->ndim; d-- > 0; step *= launch->shape[d])
        if (launch->shape[d] > 1 && launch->strides[k][d] != step)
            return false;
    return true;
}

/* Whether operand k of a SPMV has the dtype and steps as it must. */
static bool is_of_spmv(const struct gsh_launch *launch, unsigned k)
{
    const struct gsh_operand *operand = &launch->operands[k];
    int64_t size = (int64_t)gsh_dtype_size(operand->dtype);
    bool is_line = k > GSH_SPMV_STARTS && k < GSH_SPMV_INITIAL;
    bool steps =
        is_line ? launch->ndim == 0 || launch->strides[k][0] == 0 : gsh_launch_is_packed(launch, k);
    bool has_line = k >= GSH_SPMV_INITIAL ||
                    (launch->spmv.lines[k].stride == size && launch->spmv.lines[k].extent > 0);
    return steps && has_line && !operand->is_constant &&
           operand->dtype == (k <= GSH_SPMV_COLUMNS ? launch->operands[0].dtype : launch->loop);
}

bool gsh_launch_is_spmv(const struct gsh_launch *launch)
{
    const unsigned indices = 1u << GSH_INT32 | 1u << GSH_INT64,
                   numbers = (unsigned)GSH_SET_INTEGERS | (unsigned)GSH_SET_BLAS;
    bool is_spmv =
        launch->kind == GSH_LAUNCH_SPMV && launch->nin == GSH_SPMV_INPUTS && launch->nout == 1 &&
        !launch->has_mask && launch->ndim <= 1 &&
        (1u << launch->operands[0].dtype & indices) != 0 && (1u << launch->loop & numbers) != 0 &&
        launch->spmv.lines[GSH_SPMV_STARTS].extent == 2 &&
        launch->spmv.lines[GSH_SPMV_COLUMNS].extent == launch->spmv.lines[GSH_SPMV_NUMBERS].extent;
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS && is_spmv; k++)
        is_spmv = is_of_spmv(launch, k);
    return is_spmv;
}

bool gsh_launch_reads_output(const struct gsh_launch *launch)
{
    if (launch->kind == GSH_LAUNCH_GEMM)
        return launch->gemm.beta != 0;
    return gsh_launch_has(launch, GSH_TRAIT_UPDATES) ||
           (launch->has_mask && !gsh_launch_has(launch, GSH_TRAIT_REDUCES));
}

/* Dimensions of more than one element, sorted by rising stride. */
struct steps {
    int64_t strides[GSH_MAX_DIMS + GSH_CORE_DIMS], extents[GSH_MAX_DIMS + GSH_CORE_DIMS];
    int count;
};

static void add_step(struct steps *steps, int64_t stride, int64_t extent)
{
    if (extent == 1)
        return;
    int place = steps->count++;
    stride = gsh_launch_step(stride);
    for (; place > 0 && steps->strides[place - 1] > stride; place--) {
        steps->strides[place] = steps->strides[place - 1];
        steps->extents[place] = steps->extents[place - 1];
    }
    steps->strides[place] = stride;
    steps->extents[place] = extent;
}

/* Distinct where, sorted by stride, each dimension steps over all smaller ones. */
bool gsh_launch_is_distinct(const struct gsh_launch *launch, unsigned k)
{
    struct steps steps = {.count = 0};
    for (int d = 0; d < launch->ndim - launch->nreduce; d++)
        add_step(&steps, launch->strides[k][d], launch->shape[d]);
    struct gsh_core core = gsh_launch_core(launch, k);
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        add_step(&steps, core.stride[d], core.extent[d]);
    int64_t covered = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int d = 0; d < steps.count; d++) {
        if (steps.strides[d] < covered)
            return false;
        covered += steps.strides[d] * (steps.extents[d] - 1);
    }
    return true;
}

bool gsh_launch_output_is_distinct(const struct gsh_launch *launch)
{
    if (gsh_launch_has(launch, GSH_TRAIT_INDEXES_OUTPUT))
        return true;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++)
        if (!gsh_launch_is_distinct(launch, k))
            return false;
    return true;
}
