/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapsing keeps the set of (input, output) address tuples and yields the fewest dimensions;
 * extents are exact.
 */
#include "check.h"
#include "launch.h"

#include <stdlib.h>
#include <string.h>

static struct gsh_launch make(int ndim, const int64_t *shape, const int64_t *in, const int64_t *out)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_COPY,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = ndim};
    launch.operands[0].dtype = launch.operands[1].dtype = GSH_FLOAT64;
    for (int d = 0; d < ndim; d++) {
        launch.shape[d] = shape[d];
        launch.strides[0][d] = in[d];
        launch.strides[1][d] = out[d];
    }
    return launch;
}

static void check_dims(const struct gsh_launch *launch, int ndim, const int64_t *shape,
                       const int64_t *in, const int64_t *out)
{
    if (!CHECK_INT(launch->ndim, ndim))
        return;
    for (int d = 0; d < ndim; d++) {
        CHECK_INT(launch->shape[d], shape[d]);
        CHECK_INT(launch->strides[0][d], in[d]);
        CHECK_INT(launch->strides[1][d], out[d]);
    }
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static void check_merging(void)
{
    struct gsh_launch launch = make(3, DIMS(4, 5, 6), DIMS(240, 48, 8), DIMS(240, 48, 8));
    gsh_launch_collapse(&launch);
    check_dims(&launch, 1, DIMS(120), DIMS(8), DIMS(8));
    launch = make(3, DIMS(4, 1, 6), DIMS(480, 7, 8), DIMS(48, 48, 8));
    gsh_launch_collapse(&launch);
    check_dims(&launch, 2, DIMS(4, 6), DIMS(480, 8), DIMS(48, 8));
    launch = make(2, DIMS(4, 6), DIMS(8, 32), DIMS(8, 32)); /* Fortran order on both sides */
    gsh_launch_collapse(&launch);
    check_dims(&launch, 1, DIMS(24), DIMS(8), DIMS(8));
    launch = make(2, DIMS(4, 6), DIMS(8, 32), DIMS(48, 8)); /* a transposition stays one */
    gsh_launch_collapse(&launch);
    check_dims(&launch, 2, DIMS(4, 6), DIMS(8, 32), DIMS(48, 8));
    launch = make(2, DIMS(4, 6), DIMS(0, 0), DIMS(-48, -8));
    gsh_launch_collapse(&launch);
    check_dims(&launch, 1, DIMS(24), DIMS(0), DIMS(-8));
    launch = make(3, DIMS(1, 1, 1), DIMS(3, 4, 5), DIMS(1, 2, 3));
    gsh_launch_collapse(&launch);
    CHECK_INT(launch.ndim, 0);
    CHECK_INT(gsh_launch_elements(&launch), 1);
}

static void check_index_keeps_order(void)
{
    struct gsh_launch launch = make(2, DIMS(4, 6), DIMS(0, 0), DIMS(8, 32));
    launch.op = GSH_OP_ARANGE;
    gsh_launch_collapse(&launch);
    check_dims(&launch, 2, DIMS(4, 6), DIMS(0, 0), DIMS(8, 32));
    launch = make(2, DIMS(4, 6), DIMS(0, 0), DIMS(48, 8));
    launch.op = GSH_OP_ARANGE;
    gsh_launch_collapse(&launch);
    check_dims(&launch, 1, DIMS(24), DIMS(0), DIMS(8));
}

static struct gsh_launch reduce(struct gsh_launch launch, int nreduce)
{
    launch.kind = GSH_LAUNCH_REDUCE;
    launch.reduction = GSH_REDUCE_SUM;
    launch.nreduce = nreduce;
    gsh_launch_collapse(&launch);
    return launch;
}

static void check_reductions(void)
{
    struct gsh_launch launch =
        reduce(make(4, DIMS(2, 3, 4, 5), DIMS(480, 160, 40, 8), DIMS(24, 8, 0, 0)), 2);
    check_dims(&launch, 2, DIMS(6, 20), DIMS(160, 8), DIMS(8, 0));
    CHECK_INT(launch.nreduce, 1);
    launch = reduce(make(3, DIMS(7, 4, 5), DIMS(8, 56, 224), DIMS(8, 0, 0)),
                    2); /* reduced: inputs decide */
    check_dims(&launch, 2, DIMS(7, 20), DIMS(8, 56), DIMS(8, 0));
    launch = reduce(make(2, DIMS(7, 1), DIMS(8, 56), DIMS(8, 0)), 1);
    CHECK_INT(launch.nreduce, 0);
    check_dims(&launch, 1, DIMS(7), DIMS(8), DIMS(8));
    launch = reduce(make(3, DIMS(7, 4, 0), DIMS(8, 56, 8), DIMS(8, 0, 0)), 2);
    CHECK_INT(launch.ndim, 2);
    CHECK_INT(launch.nreduce, 1);
    CHECK_INT(launch.shape[1], 0);
}

static void check_extent(void)
{
    int64_t low, high;
    struct gsh_launch launch = make(2, DIMS(4, 6), DIMS(-48, 8), DIMS(48, 8));
    gsh_launch_extent(&launch, 0, &low, &high);
    CHECK_INT(low, -144);
    CHECK_INT(high, 48);
    gsh_launch_extent(&launch, 1, &low, &high);
    CHECK_INT(low, 0);
    CHECK_INT(high, 192);
    launch = make(2, DIMS(4, 0), DIMS(48, 8), DIMS(8, 0));
    gsh_launch_extent(&launch, 0, &low, &high);
    CHECK_INT(low, 0);
    CHECK_INT(high, 0);
    gsh_launch_extent(&launch, 1, &low, &high);
    CHECK_INT(high, 32);
}

/* Each input of a SPMV reaches as far as its line says, also where one row is no dimension. */
static void check_extent_of_spmv(int64_t rows)
{
    static const int64_t counts[GSH_SPMV_INITIAL] = {
        [GSH_SPMV_COLUMNS] = 50, [GSH_SPMV_NUMBERS] = 50, [GSH_SPMV_VECTOR] = 9};
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SPMV,
                                .loop = GSH_FLOAT64,
                                .nin = GSH_SPMV_INPUTS,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {rows}};
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS; k++) {
        int64_t size = k <= GSH_SPMV_COLUMNS ? 4 : 8;
        launch.operands[k].dtype = k <= GSH_SPMV_COLUMNS ? GSH_INT32 : GSH_FLOAT64;
        launch.strides[k][0] = k == GSH_SPMV_STARTS || k >= GSH_SPMV_INITIAL ? size : 0;
        if (k < GSH_SPMV_INITIAL)
            launch.spmv.lines[k] = (struct gsh_indexed){size, k == GSH_SPMV_STARTS ? 2 : counts[k]};
    }
    CHECK(gsh_launch_is_spmv(&launch));
    gsh_launch_collapse(&launch);
    CHECK(gsh_launch_is_spmv(&launch));
    const int64_t wanted[] = {4 * (rows + 1), 200, 400, 72, 8 * rows, 8 * rows};
    for (unsigned k = 0; k < GSH_COUNT(wanted); k++) {
        int64_t low, high;
        gsh_launch_extent(&launch, k, &low, &high);
        CHECK_INT(low, 0);
        CHECK_INT(high, wanted[k]);
    }
    launch.operands[GSH_SPMV_COLUMNS].dtype = GSH_INT64;
    CHECK(!gsh_launch_is_spmv(&launch));
}

/* A mask and a second output keep dimensions apart that the others would merge. */
static void check_all_operands(void)
{
    struct gsh_launch launch = make(2, DIMS(4, 6), DIMS(48, 8), DIMS(48, 8));
    launch.op = GSH_OP_MODF;
    launch.nout = 2;
    launch.has_mask = true;
    launch.operands[2].dtype = GSH_FLOAT64;
    launch.operands[3].dtype = GSH_BOOL;
    launch.strides[2][0] = 48, launch.strides[2][1] = 8;
    launch.strides[3][0] = 6, launch.strides[3][1] = 1;
    struct gsh_launch other = launch;
    gsh_launch_collapse(&launch);
    CHECK_INT(launch.ndim, 1);
    CHECK_INT(launch.strides[3][0], 1);
    other.strides[3][0] = 0; /* the same mask in all rows */
    gsh_launch_collapse(&other);
    CHECK_INT(other.ndim, 2);
    CHECK_INT(gsh_launch_operands(&other), 4);
    CHECK(gsh_launch_is_output(&other, 2) && !gsh_launch_is_output(&other, 3));
    CHECK(gsh_launch_reads_output(&other));
    CHECK(gsh_launch_output_is_distinct(&other));
    other.strides[2][1] = 4;
    CHECK(!gsh_launch_output_is_distinct(&other));
    CHECK_INT(gsh_launch_result_dtype(&other, 1), GSH_FLOAT64);
}

/* The reduced dimensions of an argmax and the last of a SCAN stay in order. */
static void check_fixed_orders(void)
{
    struct gsh_launch launch = make(3, DIMS(7, 4, 5), DIMS(8, 56, 224), DIMS(8, 0, 0));
    launch.kind = GSH_LAUNCH_REDUCE;
    launch.reduction = GSH_REDUCE_ARGMAX;
    launch.nreduce = 2;
    gsh_launch_collapse(&launch);
    check_dims(&launch, 3, DIMS(7, 4, 5), DIMS(8, 56, 224), DIMS(8, 0, 0));
    CHECK_INT(gsh_launch_result_dtype(&launch, 0), GSH_INT64);
    launch = make(3, DIMS(4, 5, 1), DIMS(40, 8, 8), DIMS(40, 8, 8));
    launch.kind = GSH_LAUNCH_SCAN;
    launch.reduction = GSH_REDUCE_SUM;
    gsh_launch_collapse(&launch);
    check_dims(&launch, 2, DIMS(20, 1), DIMS(8, 8), DIMS(8, 8));
}

/* A hash, independent of order, of all (input offset, output offset) pairs. */
static uint64_t pairs_hash(const struct gsh_launch *launch)
{
    uint64_t hash = 0;
    for (int64_t i = 0; i < gsh_launch_elements(launch); i++) {
        int64_t in = 0, out = 0, left = i;
        for (int d = launch->ndim - 1; d >= 0; d--) {
            in += left % launch->shape[d] * launch->strides[0][d];
            out += left % launch->shape[d] * launch->strides[1][d];
            left /= launch->shape[d];
        }
        uint64_t pair = (uint64_t)in * UINT64_C(0x9e3779b97f4a7c15) +
                        (uint64_t)out * UINT64_C(0xc2b2ae3d27d4eb4f);
        pair ^= pair >> 29;
        hash += pair * UINT64_C(0xbf58476d1ce4e5b9);
    }
    return hash;
}

static void check_random(void)
{
    srandom(1);
    for (int round = 0; round < 2000; round++) {
        int64_t shape[5], in[5], out[5], step = 8;
        int ndim = (int)(random() % 6), order[5] = {0, 1, 2, 3, 4};
        for (int d = 0; d < ndim; d++) {
            int other = (int)(random() % ndim), swap = order[d];
            order[d] = order[other];
            order[other] = swap;
            shape[d] = random() % 4 + 1;
            in[d] = (random() % 7 - 3) * 8;
        }
        for (int d = 0; d < ndim; d++) {
            out[order[d]] = random() % 2 ? step : -step;
            if (random() % 2)
                in[order[d]] = out[order[d]];
            step *= shape[order[d]];
        }
        struct gsh_launch launch = make(ndim, shape, in, out);
        uint64_t before = pairs_hash(&launch);
        gsh_launch_collapse(&launch);
        CHECK(launch.ndim <= ndim && pairs_hash(&launch) == before);
    }
}

/* What the row of a kind says of it must fit together. */
struct row {
    enum gsh_launch_kind kind;
    const char *dtypes, *errors, *replay, *host, *unit;
};

static bool has_word(const char *column)
{
    return strcmp(column, "none") != 0;
}

static void check_row(const struct row *row)
{
    const struct gsh_launch launch = {.kind = row->kind};
    bool maps = gsh_launch_has(&launch, GSH_TRAIT_MAPS);
    bool reduces = gsh_launch_has(&launch, GSH_TRAIT_REDUCES);
    bool is_batch = strcmp(row->unit, "element") != 0 && strcmp(row->unit, "draw") != 0;
    CHECK_INT(gsh_launch_is_batch(&launch), is_batch);
    CHECK(has_word(row->host) || is_batch);
    CHECK_INT(has_word(row->replay), has_word(row->errors));
    CHECK_INT(strcmp(row->dtypes, "op") == 0, maps);
    CHECK(!(maps && gsh_launch_has(&launch, GSH_TRAIT_JOINS)));
    CHECK(!reduces || gsh_launch_has(&launch, GSH_TRAIT_JOINS));
    CHECK(!gsh_launch_has(&launch, GSH_TRAIT_FUSES) || maps != reduces);
    CHECK(!gsh_launch_has(&launch, GSH_TRAIT_MERGES) || is_batch);
    CHECK(!gsh_launch_has(&launch, GSH_TRAIT_COUNTS) ||
          gsh_launch_has(&launch, GSH_TRAIT_INDEXES_INPUT | GSH_TRAIT_INDEXES_OUTPUT));
    CHECK(!gsh_launch_has(&launch, GSH_TRAIT_COUNTS) ||
          !gsh_launch_has(&launch, GSH_TRAIT_HAS_INDEX));
}

static void check_rows(void)
{
    static const struct row rows[] = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...)                                   \
    {GSH_LAUNCH_##kind, #dtypes, #errors, #replay, #host, #unit},
#include "launch_kinds.def"
#undef X
    };
    for (size_t i = 0; i < GSH_COUNT(rows); i++)
        check_row(&rows[i]);
}

/* Inputs are cast to what the kind computes with; an index is not cast. */
static void check_input_dtypes(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_SELECT, .nin = 3};
    launch.loop = GSH_FLOAT32;
    CHECK_INT(gsh_launch_input_dtype(&launch, 0),
              gsh_op_input_dtype(GSH_OP_SELECT, GSH_FLOAT32, 0));
    CHECK_INT(gsh_launch_input_dtype(&launch, 2),
              gsh_op_input_dtype(GSH_OP_SELECT, GSH_FLOAT32, 2));
    launch = (struct gsh_launch){.kind = GSH_LAUNCH_REDUCE, .loop = GSH_FLOAT64, .nin = 1};
    launch.operands[0].dtype = GSH_FLOAT32;
    CHECK_INT(gsh_launch_input_dtype(&launch, 0), GSH_FLOAT64);
    launch =
        (struct gsh_launch){.kind = GSH_LAUNCH_SPMV, .loop = GSH_FLOAT64, .nin = GSH_SPMV_INPUTS};
    launch.operands[GSH_SPMV_STARTS].dtype = launch.operands[GSH_SPMV_COLUMNS].dtype = GSH_INT32;
    CHECK_INT(gsh_launch_input_dtype(&launch, GSH_SPMV_STARTS), GSH_INT32);
    CHECK_INT(gsh_launch_input_dtype(&launch, GSH_SPMV_COLUMNS), GSH_INT32);
    CHECK_INT(gsh_launch_input_dtype(&launch, GSH_SPMV_VECTOR), GSH_FLOAT64);
    launch = (struct gsh_launch){.kind = GSH_LAUNCH_PUT, .loop = GSH_FLOAT64, .nin = 2};
    launch.operands[1].dtype = GSH_INT32;
    CHECK_INT(gsh_launch_input_dtype(&launch, 0), GSH_FLOAT64);
    CHECK_INT(gsh_launch_input_dtype(&launch, 1), GSH_INT32);
}

/* A window reaches over window.extent steps, and all offsets are read. */
static void check_selection(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SELECT,
                                .loop = GSH_INT16,
                                .nin = 2,
                                .nout = 1,
                                .ndim = 2,
                                .shape = {3, 5},
                                .strides = {{20, 2}, {0, 0}, {10, 2}},
                                .selection = {{2, 23}, 9, 4}};
    int64_t low, high;
    launch.operands[0].dtype = launch.operands[2].dtype = GSH_INT16;
    launch.operands[1].dtype = GSH_INT64;
    gsh_launch_extent(&launch, 0, &low, &high);
    CHECK(low == 0 && high == 40 + 8 + 44 + 2);
    gsh_launch_extent(&launch, 1, &low, &high);
    CHECK(low == 0 && high == 9 * 8);
    CHECK_INT(gsh_launch_input_dtype(&launch, 1), GSH_INT64);
    CHECK(gsh_launch_is_selection(&launch));
    CHECK_INT(gsh_selection_held(&launch.selection), 6);
    CHECK(gsh_selection_exchanges(&launch.selection) == 9 + 7.5 + 6 + 4.5);
    launch.selection.rank = 9;
    CHECK(!gsh_launch_is_selection(&launch));
    launch.selection = (struct gsh_selection){{2, 23}, GSH_SELECTION_MOST + 1, 4};
    CHECK(!gsh_launch_is_selection(&launch));
    launch.selection = (struct gsh_selection){{2, 23}, 1, 0};
    CHECK_INT(gsh_selection_held(&launch.selection), 1);
    CHECK(gsh_selection_exchanges(&launch.selection) == 0);
    launch.loop = launch.operands[0].dtype = launch.operands[2].dtype = GSH_FLOAT16;
    CHECK(!gsh_launch_is_selection(&launch));
}

static void check_names(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SCAN, .reduction = GSH_REDUCE_SUM};
    CHECK_STR(gsh_launch_name(&launch), "sum");
    launch = (struct gsh_launch){.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_ADD};
    CHECK_STR(gsh_launch_name(&launch), "add");
    launch.kind = GSH_LAUNCH_FFT;
    CHECK_STR(gsh_launch_name(&launch), "fft");
}

/* A copy has all that there is, for every number of dimensions; what there is not keeps its bytes. */
static void check_copy(void)
{
    struct gsh_launch from, to;
    for (int ndim = 0; ndim <= GSH_MAX_DIMS; ndim++) {
        memset(&from, 0x11, sizeof from);
        memset(&to, 0x22, sizeof to);
        from.ndim = ndim;
        gsh_launch_copy(&to, &from);
        struct gsh_launch wanted = from;
        for (int d = ndim; d < GSH_MAX_DIMS; d++) {
            memset(&wanted.shape[d], 0x22, sizeof wanted.shape[d]);
            for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
                memset(&wanted.strides[k][d], 0x22, sizeof wanted.strides[k][d]);
        }
        CHECK(memcmp(&to, &wanted, sizeof to) == 0);
    }
}

int main(void)
{
    check_copy();
    check_rows();
    check_input_dtypes();
    check_selection();
    check_names();
    check_merging();
    check_index_keeps_order();
    check_reductions();
    check_all_operands();
    check_fixed_orders();
    check_extent();
    check_extent_of_spmv(1);
    check_extent_of_spmv(7);
    check_random();
    return check_result();
}
