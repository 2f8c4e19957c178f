/* SPDX-License-Identifier: Apache-2.0
 *
 * A family makes launches of one row in its layouts, which are tables here. Each launch that may meet errors is made with
 * and without an error sink, because programs may have switched off warnings.
 */
#include "pack_launches.h"

#include <string.h>

/* Sets of dtypes in pack_families.def. */
#define FLOATS (1 << GSH_FLOAT32 | 1 << GSH_FLOAT64)
#define INEXACT (FLOATS | 1 << GSH_COMPLEX128)
#define INTEGERS (1 << GSH_BOOL | 1 << GSH_UINT8 | 1 << GSH_INT32 | 1 << GSH_INT64)
#define NARROW (1 << GSH_INT8 | 1 << GSH_INT16 | 1 << GSH_UINT16 | 1 << GSH_UINT32)
#define COMMON_REAL (INTEGERS | FLOATS)
#define COMMON (COMMON_REAL | 1 << GSH_COMPLEX128)

#define LINE ((int64_t)1 << 22)
#define SHORT_ROW 8
#define APART 40 /* bits: between the addresses of operands */

enum layouts { FEW, SOME, ALL };

struct family {
    void (*make)(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input);
    int what;
    unsigned loops, inputs;
    enum layouts layouts;
};

static gsh_pack_launches_take *take_launch;
static void *take_context;

static int64_t size_of(const struct gsh_launch *launch, unsigned k)
{
    return (int64_t)gsh_dtype_size(launch->operands[k].dtype);
}

/* Hands out the launch with and without an error sink. */
static void hand_out(const struct gsh_launch *launch)
{
    struct gsh_launch collapsed = *launch;
    for (collapsed.errors.claims = 0; collapsed.errors.claims < 2; collapsed.errors.claims++) {
        struct gsh_launch copy = collapsed;
        gsh_launch_collapse(&copy);
        take_launch(take_context, &copy);
    }
}

static struct gsh_launch begin(enum gsh_launch_kind kind, enum gsh_dtype loop, unsigned nin,
                               int ndim, const int64_t *shape)
{
    struct gsh_launch launch = {.kind = kind, .loop = loop, .nin = nin, .nout = 1, .ndim = ndim};
    for (int d = 0; d < ndim; d++)
        launch.shape[d] = shape[d];
    return launch;
}

/* C order over the dimensions [0, ndim), whose last has a step of `step` elements, and rows of `pitch` times their extent. */
static void place(struct gsh_launch *launch, unsigned k, enum gsh_dtype dtype, int ndim,
                  int64_t step, int64_t pitch)
{
    launch->operands[k].dtype = dtype;
    launch->operands[k].address = (uint64_t)(k + 1) << APART;
    int64_t stride = step * (int64_t)gsh_dtype_size(dtype);
    for (int d = ndim; d-- > 0; stride *= launch->shape[d] * pitch)
        launch->strides[k][d] = stride;
}

/* ---- elementwise ---- */

/* PACKED: packs of elements. SHIFTED: addresses are aligned to one element. STEPPED: every second element. */
enum steps { PACKED, SHIFTED, STEPPED };

/* A letter an input: array, constant, scalar (an array of one element), row (one element for each row, as in a[:, None]).
 * Without arrays the output has the steps, else the arrays. */
struct layout {
    enum layouts among;
    int ndim;
    enum steps steps;
    const char *roles;
};

static const struct layout elementwise_layouts[] = {
    {FEW, 1, PACKED, "a"},     {FEW, 1, SHIFTED, "a"},    {SOME, 1, STEPPED, "a"},
    {SOME, 2, SHIFTED, "a"},   {ALL, 2, PACKED, "a"},     {ALL, 3, SHIFTED, "a"},
    {FEW, 1, PACKED, "aa"},    {FEW, 1, PACKED, "ac"},    {FEW, 1, PACKED, "ca"},
    {FEW, 1, SHIFTED, "aa"},   {SOME, 1, PACKED, "as"},   {SOME, 1, PACKED, "sa"},
    {SOME, 2, SHIFTED, "aa"},  {SOME, 1, SHIFTED, "ac"},  {SOME, 1, SHIFTED, "ca"},
    {ALL, 2, PACKED, "aa"},    {ALL, 2, PACKED, "ar"},    {ALL, 2, PACKED, "ra"},
    {ALL, 1, STEPPED, "aa"},   {ALL, 3, SHIFTED, "aa"},   {ALL, 2, SHIFTED, "ac"},
    {ALL, 2, SHIFTED, "ca"},   {ALL, 1, STEPPED, "ac"},   {ALL, 1, STEPPED, "ca"},
    {ALL, 2, PACKED, "ac"},    {ALL, 2, PACKED, "ca"},    {FEW, 1, PACKED, "aaa"},
    {FEW, 1, PACKED, "aac"},   {FEW, 1, PACKED, "aca"},   {FEW, 1, PACKED, "acc"},
    {SOME, 1, SHIFTED, "aaa"}, {SOME, 2, SHIFTED, "aaa"}, {ALL, 1, SHIFTED, "aac"},
    {ALL, 1, SHIFTED, "aca"},  {ALL, 2, SHIFTED, "aac"},
};
static const struct layout fill_layouts[] = {
    {FEW, 1, PACKED, "c"}, {FEW, 1, SHIFTED, "c"}, {SOME, 1, STEPPED, "c"}, {SOME, 2, SHIFTED, "c"},
    {ALL, 2, PACKED, "c"}, {ALL, 3, SHIFTED, "c"}, {FEW, 1, PACKED, "cc"},
};
static const struct layout masked_layouts[] = {
    {FEW, 1, PACKED, "c"},
    {FEW, 1, PACKED, "a"},
    {SOME, 2, SHIFTED, "c"},
    {SOME, 2, SHIFTED, "a"},
};

static const int64_t shapes[][3] = {{LINE}, {1024, 1024}, {64, 256, 256}};

static void place_array(struct gsh_launch *launch, unsigned k, const struct layout *layout,
                        enum gsh_dtype dtype)
{
    place(launch, k, dtype, launch->ndim, layout->steps == STEPPED ? 2 : 1, 2);
    if (layout->steps == SHIFTED)
        launch->operands[k].address += (uint64_t)size_of(launch, k);
}

static void place_input(struct gsh_launch *launch, unsigned k, const struct layout *layout,
                        enum gsh_dtype dtype)
{
    launch->operands[k].dtype = dtype;
    launch->operands[k].address = (uint64_t)(k + 1) << APART;
    if (layout->roles[k] == 'a')
        place_array(launch, k, layout, dtype);
    else if (layout->roles[k] == 'r')
        place(launch, k, dtype, launch->ndim - 1, 1, 1);
    launch->operands[k].is_constant = layout->roles[k] == 'c';
}

/* Input k has the dtype `input` where bit k of `cast` is set, else what the op casts inputs to. */
static void make_one(const struct family *family, const struct layout *layout, enum gsh_dtype loop,
                     enum gsh_dtype input, unsigned cast, bool has_mask)
{
    const struct gsh_op_info *info = gsh_op_info((enum gsh_op)family->what);
    struct gsh_launch launch =
        begin(GSH_LAUNCH_ELEMENTWISE, loop, info->nin, layout->ndim, shapes[layout->ndim - 1]);
    launch.op = (enum gsh_op)family->what;
    for (unsigned k = 0; k < info->nin; k++)
        place_input(&launch, k, layout,
                    cast >> k & 1 ? input : gsh_op_input_dtype(launch.op, loop, k));
    enum gsh_dtype result = gsh_op_output_dtype(launch.op, loop, 0);
    if (strchr(layout->roles, 'a') != NULL)
        place(&launch, launch.nin, result, launch.ndim, 1, 1);
    else
        place_array(&launch, launch.nin, layout, result);
    launch.has_mask = has_mask;
    if (has_mask)
        place_array(&launch, launch.nin + 1, layout, GSH_BOOL);
    hand_out(&launch);
}

static bool fits(const struct family *family, const struct layout *layout)
{
    return layout->among <= family->layouts &&
           strlen(layout->roles) == gsh_op_info((enum gsh_op)family->what)->nin;
}

static void make_elementwise(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    for (size_t i = 0; i < GSH_COUNT(elementwise_layouts); i++)
        if (fits(family, &elementwise_layouts[i]))
            make_one(family, &elementwise_layouts[i], loop, input, 0, false);
}

/* Whether the inputs that `cast` names are arrays. */
static bool casts_arrays(const struct layout *layout, unsigned cast)
{
    for (unsigned k = 0; layout->roles[k] != '\0'; k++)
        if ((cast >> k & 1) != 0 && layout->roles[k] != 'a')
            return false;
    return true;
}

static void make_mixed(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    unsigned all = (1u << gsh_op_info((enum gsh_op)family->what)->nin) - 1;
    for (size_t i = 0; loop != input && i < GSH_COUNT(elementwise_layouts); i++)
        for (unsigned cast = 1; cast <= all; cast++)
            if (fits(family, &elementwise_layouts[i]) && elementwise_layouts[i].steps == PACKED &&
                casts_arrays(&elementwise_layouts[i], cast))
                make_one(family, &elementwise_layouts[i], loop, input, cast, false);
}

static void make_fill(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    for (size_t i = 0; i < GSH_COUNT(fill_layouts); i++)
        if (fits(family, &fill_layouts[i]))
            make_one(family, &fill_layouts[i], loop, input, 0, false);
}

static void make_masked(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    for (size_t i = 0; i < GSH_COUNT(masked_layouts); i++)
        if (fits(family, &masked_layouts[i]))
            make_one(family, &masked_layouts[i], loop, input, 0, true);
}

/* ---- reductions and scans: the last dimensions are joined ---- */

struct join {
    enum layouts among;
    int ndim, nreduce;
    int64_t shape[3];
    const char *order; /* of the dimensions in memory, outermost first */
    int64_t pitch, step;
    int64_t offset; /* of the first input element, in elements: not 0 in slices like x[1:] */
};

static const struct join reduce_joins[] = {
    {FEW, 1, 1, {LINE}, "0", 1, 1, 0},
    {FEW, 1, 1, {5000}, "0", 1, 1, 0},
    {FEW, 2, 1, {1024, 1024}, "01", 1, 1, 0},
    {FEW, 2, 1, {1024, 1024}, "10", 1, 1, 0},
    {SOME, 2, 1, {8, LINE / 8}, "01", 1, 1, 0},
    {SOME, 2, 1, {1023, 1023}, "01", 1, 1, 0},
    {SOME, 2, 1, {1024, LINE / 64}, "10", 1, 1, 0},
    {SOME, 2, 1, {1023, 1023}, "10", 1, 1, 0},
    {ALL, 2, 2, {1022, 1022}, "01", 2, 1, 0},
    {ALL, 2, 2, {1023, 1023}, "01", 2, 1, 0},
    {ALL, 2, 2, {1022, 1022}, "01", 2, 1, 1},
    {SOME, 1, 1, {LINE}, "0", 1, 1, 1},
    {SOME, 1, 1, {5000}, "0", 1, 1, 1},
    /* every second number, as of a column */
    {SOME, 1, 1, {LINE}, "0", 1, 2, 0},
    {SOME, 1, 1, {5000}, "0", 1, 2, 0},
    {SOME, 2, 1, {1024, 1024}, "01", 1, 2, 0},
    {SOME, 2, 1, {1024, 1024}, "10", 1, 2, 0},
    /* axis 1 of three; many results, and few of many elements */
    {FEW, 3, 1, {64, 512, 64}, "021", 1, 1, 0},
    {FEW, 3, 1, {8, 32, 512}, "021", 1, 1, 0},
    {SOME, 3, 1, {63, 511, 63}, "021", 1, 1, 0},
    {SOME, 3, 1, {7, 31, 511}, "021", 1, 1, 0},
    /* all axes but the middle one */
    {FEW, 3, 2, {64, 128, 512}, "102", 1, 1, 0},
    {SOME, 3, 2, {63, 127, 511}, "102", 1, 1, 0},
};
static const struct join scan_joins[] = {
    {FEW, 1, 1, {LINE}, "0", 1, 1, 0},
    {FEW, 1, 1, {2000}, "0", 1, 1, 0},
    {FEW, 2, 1, {1024, 1024}, "01", 1, 1, 0},
    {FEW, 2, 1, {1024, 1024}, "10", 1, 1, 0},
};

/* Operand k, whose dimensions lie in memory in the join's order. */
static void place_joined(struct gsh_launch *launch, unsigned k, const struct join *join,
                         enum gsh_dtype dtype)
{
    place(launch, k, dtype, 0, 1, 1);
    int64_t stride = join->step * (int64_t)gsh_dtype_size(dtype);
    launch->operands[k].address += k == 0 ? (uint64_t)(join->offset * stride) : 0;
    for (int i = join->ndim; i-- > 0;) {
        int d = join->order[i] - '0';
        launch->strides[k][d] = stride;
        stride *= launch->shape[d] * join->pitch;
    }
}

static struct gsh_launch begin_join(enum gsh_launch_kind kind, const struct family *family,
                                    const struct join *join, enum gsh_dtype loop,
                                    enum gsh_dtype input)
{
    struct gsh_launch launch = begin(kind, loop, 1, join->ndim, join->shape);
    launch.reduction = (enum gsh_reduction)family->what;
    place_joined(&launch, 0, join, input);
    return launch;
}

static void make_reduce(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    for (size_t i = 0; i < GSH_COUNT(reduce_joins); i++) {
        const struct join *join = &reduce_joins[i];
        if (join->among > family->layouts)
            continue;
        struct gsh_launch launch = begin_join(GSH_LAUNCH_REDUCE, family, join, loop, input);
        launch.nreduce = join->nreduce;
        place(&launch, 1, gsh_launch_result_dtype(&launch, 0), join->ndim - join->nreduce, 1, 1);
        hand_out(&launch);
    }
}

static void make_scan(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    for (size_t i = 0; i < GSH_COUNT(scan_joins); i++) {
        const struct join *join = &scan_joins[i];
        struct gsh_launch launch = begin_join(GSH_LAUNCH_SCAN, family, join, loop, input);
        place_joined(&launch, 1, join, loop);
        hand_out(&launch);
    }
}

/* ---- indexed ---- */

/* Elements, or with two dimensions rows, by an index along the first dimension. Operand k is what the index addresses. */
static struct gsh_launch begin_indexed(enum gsh_launch_kind kind, const struct family *family,
                                       int ndim, enum gsh_dtype loop, unsigned k)
{
    static const int64_t sizes[] = {10000, 64};
    struct gsh_launch launch = begin(kind, loop, 2, ndim, sizes);
    launch.op = (enum gsh_op)family->what;
    place(&launch, 0, loop, ndim, 1, 1);
    place(&launch, 2, loop, ndim, 1, 1);
    launch.indexed = (struct gsh_indexed){launch.strides[k][0], 5000};
    launch.strides[k][0] = 0;
    place(&launch, 1, GSH_INT64, 1, 1, 1);
    return launch;
}

static void make_take(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    (void)input;
    for (int ndim = 1; ndim <= 2; ndim++) {
        struct gsh_launch launch = begin_indexed(GSH_LAUNCH_TAKE, family, ndim, loop, 0);
        hand_out(&launch);
    }
}

/* Of an array, of many elements and of few, in long rows and in short ones; of one value, to as many places, and again and again to few. */
static void make_put(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    (void)input;
    for (int ndim = 1; ndim <= 2; ndim++) {
        struct gsh_launch launch = begin_indexed(GSH_LAUNCH_PUT, family, ndim, loop, 2);
        struct gsh_launch narrow = launch;
        narrow.shape[ndim - 1] = GSH_MIN(launch.shape[ndim - 1], SHORT_ROW);
        hand_out(&launch);
        hand_out(&narrow);
        memset(launch.strides[0], 0, sizeof launch.strides[0]);
        launch.operands[0].is_constant = true;
        hand_out(&launch);
        launch.shape[0] *= 100;
        launch.indexed.extent /= 50;
        hand_out(&launch);
    }
}

/* One chunk and several; operand k is what the mask steps through. */
static void make_counted(const struct family *family, enum gsh_launch_kind kind, unsigned k,
                         enum gsh_dtype loop)
{
    static const int64_t sizes[][2] = {{1000}, {LINE}, {1024, 1024}};
    for (size_t i = 0; i < GSH_COUNT(sizes); i++) {
        int ndim = sizes[i][1] != 0 ? 2 : 1;
        struct gsh_launch launch = begin(kind, loop, 1, ndim, sizes[i]);
        launch.op = (enum gsh_op)family->what;
        launch.has_mask = true;
        place(&launch, 1 - k, loop, ndim, 1, 2);
        place(&launch, k, loop, 0, 1, 1);
        place(&launch, 2, GSH_BOOL, ndim, 1, 1);
        launch.indexed = (struct gsh_indexed){size_of(&launch, k), 1000};
        hand_out(&launch);
    }
}

static void make_compress(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    (void)input;
    make_counted(family, GSH_LAUNCH_COMPRESS, 1, loop);
}

static void make_expand(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    (void)input;
    make_counted(family, GSH_LAUNCH_EXPAND, 0, loop);
}

/* ---- random numbers ---- */

/* A range of 0 stands for a distribution that has none. */
struct shape_of_draw {
    unsigned distribution;
    enum gsh_random_form form;
    uint64_t range;
};
static const struct shape_of_draw draws[] = {
    {GSH_RANDOM_UNIFORM, GSH_RANDOM_STANDARD, 0},
    {GSH_RANDOM_UNIFORM, GSH_RANDOM_SHIFTED, 0},
    {GSH_RANDOM_NORMAL, GSH_RANDOM_STANDARD, 0},
    {GSH_RANDOM_NORMAL, GSH_RANDOM_SHIFTED, 0},
    {GSH_RANDOM_NORMAL, GSH_RANDOM_EXP, 0},
    {GSH_RANDOM_EXPONENTIAL, GSH_RANDOM_STANDARD, 0},
    {GSH_RANDOM_EXPONENTIAL, GSH_RANDOM_SCALED, 0},
    {GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, 1},
    {GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, 99},
    {GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, UINT64_C(1) << 40},
};

static void make_one_draw(const struct shape_of_draw *shape, enum gsh_random_generator generator,
                          enum gsh_dtype loop)
{
    static const int64_t sizes[] = {LINE};
    struct gsh_launch launch = begin(GSH_LAUNCH_DRAW, loop, 0, 1, sizes);
    launch.draw =
        (struct gsh_random_draw){.stream = {.generator = generator},
                                 .distribution = (enum gsh_random_distribution)shape->distribution,
                                 .form = shape->form,
                                 .range = shape->range};
    place(&launch, 0, loop, 1, 1, 1);
    take_launch(take_context, &launch);
}

/* ALL: of every generator, else of PCG64, that of default_rng. */
static void make_draw(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    int last = family->layouts == ALL ? GSH_RANDOM_PHILOX : GSH_RANDOM_PCG64;
    (void)input;
    for (size_t i = 0; i < GSH_COUNT(draws); i++)
        for (int generator = GSH_RANDOM_PCG64; generator <= last; generator++)
            if (draws[i].distribution == (unsigned)family->what)
                make_one_draw(&draws[i], (enum gsh_random_generator)generator, loop);
}

/* Elements and their order; a row that fits in shared memory, and a longer one. */
static void make_sort(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    static const int64_t sizes[][2] = {{1000}, {LINE}};
    (void)family;
    (void)input;
    for (unsigned form = 0; form < 4; form++) {
        struct gsh_launch launch = begin(GSH_LAUNCH_SORT, loop, 1, 1, sizes[form / 2]);
        launch.sort.gives_order = form % 2 != 0;
        place(&launch, 0, loop, 1, 1, 1);
        place(&launch, 1, gsh_launch_result_dtype(&launch, 0), 1, 1, 1);
        hand_out(&launch);
    }
}

/* Both sides, of values that are an array, in a line without gaps. */
static void make_search(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    static const int64_t sizes[] = {LINE};
    (void)family;
    (void)input;
    for (unsigned side = 0; side < 2; side++) {
        struct gsh_launch launch = begin(GSH_LAUNCH_SEARCH, loop, 2, 1, sizes);
        launch.search = (struct gsh_search){{(int64_t)gsh_dtype_size(loop), LINE}, side != 0};
        place(&launch, 0, loop, 0, 0, 0);
        place(&launch, 1, loop, 1, 1, 1);
        place(&launch, 2, GSH_INT64, 1, 1, 1);
        hand_out(&launch);
    }
}

/* By the indices' dtype. */
static void make_spmv(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    static const int64_t sizes[] = {LINE};
    const int64_t size = (int64_t)gsh_dtype_size(loop), step = (int64_t)gsh_dtype_size(input);
    struct gsh_launch launch = begin(GSH_LAUNCH_SPMV, loop, GSH_SPMV_INPUTS, 1, sizes);
    (void)family;
    launch.spmv =
        (struct gsh_spmv){{{step, 2}, {step, 10 * LINE}, {size, 10 * LINE}, {size, LINE}}};
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS; k++)
        place(&launch, k, k <= GSH_SPMV_COLUMNS ? input : loop,
              k == GSH_SPMV_STARTS || k >= GSH_SPMV_INITIAL ? 1 : 0, 1, 1);
    hand_out(&launch);
}

/* The middle ones of so many elements, of images. */
static void make_selection(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    static const int64_t sizes[] = {1024, 1024};
    struct gsh_launch launch = begin(GSH_LAUNCH_SELECT, loop, 2, 2, sizes);
    (void)input;
    launch.selection = (struct gsh_selection){
        {(int64_t)gsh_dtype_size(loop), 5000}, family->what, family->what / 2};
    place(&launch, 0, loop, 2, 1, 2);
    place(&launch, 1, GSH_INT64, 0, 1, 1);
    place(&launch, 2, loop, 2, 1, 1);
    hand_out(&launch);
}

/* ---- narrow products ---- */

/* A vector times a matrix, whose rows or columns are contiguous, or which is short; of two vectors; and of small matrices. */
static const struct {
    int64_t m, n, k;
    bool is_transposed; /* the second factor */
} products[] = {{1, 1000, 1000, false}, {1, 1000, 1000, true}, {1, LINE, 3, false},
                {1, 1, LINE, false},    {4, LINE, 4, false},   {16, LINE, 16, false}};

static void make_product(const struct family *family, enum gsh_dtype loop, enum gsh_dtype input)
{
    (void)family;
    (void)input;
    for (size_t i = 0; i < GSH_COUNT(products); i++) {
        int64_t m = products[i].m, n = products[i].n, k = products[i].k;
        bool is_transposed = products[i].is_transposed;
        struct gsh_launch launch = begin(GSH_LAUNCH_GEMM, loop, 2, 0, NULL);
        launch.gemm = (struct gsh_gemm){.m = m,
                                        .n = n,
                                        .k = k,
                                        .a_row = k,
                                        .a_col = 1,
                                        .b_row = is_transposed ? 1 : n,
                                        .b_col = is_transposed ? k : 1,
                                        .c_row = n,
                                        .c_col = 1,
                                        .alpha = 1};
        for (unsigned j = 0; j < 3; j++)
            place(&launch, j, loop, 0, 1, 1);
        take_launch(take_context, &launch);
    }
}

/* ---- the table ---- */

#define X(family, what, loops, inputs, layouts) {make_##family, what, loops, inputs, layouts},
static const struct family families[] = {
#include "pack_families.def"
};
#undef X

static void make_family(const struct family *family, enum gsh_dtype loop)
{
    if (family->inputs == 0)
        family->make(family, loop, loop);
    for (unsigned input = 0; input < GSH_DTYPE_COUNT; input++)
        if ((family->inputs >> input & 1) != 0)
            family->make(family, loop, (enum gsh_dtype)input);
}

void gsh_pack_launches_walk(gsh_pack_launches_take *take, void *context)
{
    take_launch = take;
    take_context = context;
    for (size_t i = 0; i < GSH_COUNT(families); i++)
        for (unsigned loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            if ((families[i].loops >> loop & 1) != 0)
                make_family(&families[i], (enum gsh_dtype)loop);
}
