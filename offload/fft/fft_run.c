/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Copies are ELEMENTWISE launches over the batch and the transformed dimensions. The library repeats
 * a transform along one dimension of the batch; the others are a loop of transforms, unless they are too many or
 * begin at unaligned places. A C2R transform of several dimensions is a C2C one of all but the last, followed by a
 * C2R one of the last: libraries differ in their use of imaginary parts that C2R ignores.
 */
#include "fft_run.h"

#include <string.h>

#define MOST_TRANSFORMS 16

/* One side of the transform: the launch's operand, or a workspace. */
struct side {
    enum gsh_dtype dtype;
    uint64_t address;
    int64_t line[GSH_CORE_DIMS]; /* bytes from one number to the next along each dimension */
    int64_t batch[GSH_MAX_DIMS]; /* bytes from one transform to the next */
};

struct run {
    const struct gsh_fft_device *device;
    struct gsh_launch launch; /* without dimensions of one point */
    unsigned row;
    int64_t numbers[2][GSH_CORE_DIMS]; /* numbers along each dimension */
    struct side operands[2];           /* of the launch */
    struct side sides[2];              /* what is transformed */
    size_t bytes[2];                   /* of the workspaces; 0: there is none */
    double factor;                     /* still to be applied */
};

/* Dimensions [first, first + rank), which one transform takes from side `from` to side `to`. */
struct stage {
    enum gsh_fft_type type;
    int first, rank;
    unsigned from, to;
};

/* The dtype of the transform's input or output. */
static enum gsh_dtype dtype_of(const struct gsh_launch *launch, unsigned k)
{
    bool is_real = launch->fft.type == (k == 0 ? GSH_FFT_R2C : GSH_FFT_C2R);
    return is_real ? gsh_dtype_real(launch->loop) : launch->loop;
}

/* Numbers that the transform reads or writes along dimension d. */
static int64_t numbers_of(const struct gsh_fft *fft, unsigned k, int d)
{
    bool is_half = d == fft->rank - 1 && fft->type == (k == 0 ? GSH_FFT_C2R : GSH_FFT_R2C);
    return is_half ? fft->length[d] / 2 + 1 : fft->length[d];
}

static bool is_complete(const struct gsh_fft *fft)
{
    if (fft->rank < 1 || fft->rank > GSH_CORE_DIMS)
        return false;
    for (int d = 0; d < fft->rank; d++)
        if (fft->length[d] < 1 || fft->cores[1].extent[d] != numbers_of(fft, 1, d))
            return false;
    return true;
}

bool gsh_fft_run_supports(const struct gsh_launch *launch)
{
    const struct gsh_fft *fft = &launch->fft;
    bool is_directed = fft->type == GSH_FFT_C2C || fft->is_inverse == (fft->type == GSH_FFT_C2R);
    return (launch->loop == GSH_COMPLEX64 || launch->loop == GSH_COMPLEX128) && is_directed &&
           is_complete(fft) && launch->nin == 1 && launch->nout == 1 && !launch->has_mask &&
           !launch->operands[0].is_constant && launch->operands[1].dtype == dtype_of(launch, 1) &&
           launch->ndim + fft->rank + 1 <= GSH_MAX_DIMS;
}

/* ---- layouts ---- */

static void leave_out(struct gsh_fft *fft, int dimension)
{
    fft->rank--;
    for (int d = dimension; d < fft->rank; d++) {
        fft->length[d] = fft->length[d + 1];
        for (unsigned k = 0; k < 2; k++) {
            fft->cores[k].extent[d] = fft->cores[k].extent[d + 1];
            fft->cores[k].stride[d] = fft->cores[k].stride[d + 1];
        }
    }
}

/* Removes the dimensions of one point, except the one that a transform halves, and the last one left. */
static void leave_out_points(struct gsh_fft *fft)
{
    int fixed = fft->type == GSH_FFT_C2C ? 0 : 1;
    for (int d = fft->rank - fixed; d-- > 0;)
        if (fft->length[d] == 1 && fft->rank > 1)
            leave_out(fft, d);
}

static struct side operand_side(const struct gsh_launch *launch, unsigned k)
{
    struct side side = {.dtype = launch->operands[k].dtype, .address = launch->operands[k].address};
    memcpy(side.line, launch->fft.cores[k].stride, sizeof(side.line));
    memcpy(side.batch, launch->strides[k], sizeof(side.batch));
    return side;
}

static struct run begin_run(const struct gsh_launch *launch)
{
    struct run run = {.launch = *launch, .factor = launch->fft.factor};
    leave_out_points(&run.launch.fft);
    for (unsigned k = 0; k < 2; k++) {
        for (int d = 0; d < run.launch.fft.rank; d++)
            run.numbers[k][d] = numbers_of(&run.launch.fft, k, d);
        run.operands[k] = run.sides[k] = operand_side(&run.launch, k);
    }
    return run;
}

/* Whether the step is forward and a whole number of elements. */
static bool is_step(int64_t bytes, size_t size)
{
    return bytes > 0 && bytes % (int64_t)size == 0;
}

/* Whether the step along each dimension of operand k is a multiple of the next dimension's step and steps over all of
 * it. */
static bool is_nested(const struct run *run, unsigned k)
{
    const int64_t *line = run->operands[k].line;
    for (int d = run->launch.fft.rank - 1; d > 0; d--) {
        int64_t inner =
            run->numbers[k][d] > 1 ? line[d] : (int64_t)gsh_dtype_size(run->operands[k].dtype);
        if (inner <= 0 || line[d - 1] % inner != 0 || line[d - 1] / inner < run->numbers[k][d])
            return false;
    }
    return true;
}

/* Whether the input has to be gathered whatever its layout. */
static bool is_gathered(const struct run *run)
{
    const struct gsh_launch *launch = &run->launch;
    for (int d = 0; d < launch->fft.rank; d++)
        if (launch->fft.cores[0].extent[d] < run->numbers[0][d])
            return true;
    return launch->operands[0].dtype != dtype_of(launch, 0) || launch->fft.type == GSH_FFT_C2R;
}

bool gsh_fft_run_fits(const struct gsh_launch *launch)
{
    return launch->fft.type != GSH_FFT_C2R || gsh_launch_elements(launch) <= MOST_TRANSFORMS;
}

/* The alignment that addresses of transforms must have. */
static size_t alignment_of(const struct run *run)
{
    enum gsh_dtype loop = run->launch.loop;
    return gsh_dtype_size(run->device->takes_any_place ? gsh_dtype_real(loop) : loop);
}

/* Whether operand k can be transformed in its own memory. */
static bool is_plain(const struct run *run, unsigned k)
{
    const struct gsh_launch *launch = &run->launch;
    const struct side *side = &run->operands[k];
    size_t size = gsh_dtype_size(side->dtype);
    if ((k == 0 && is_gathered(run)) || side->address % alignment_of(run) != 0)
        return false;
    for (int d = 0; d < launch->fft.rank; d++)
        if (run->numbers[k][d] > 1 && !is_step(side->line[d], size))
            return false;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->shape[d] > 1 && !is_step(side->batch[d], size))
            return false;
    return is_nested(run, k);
}

/* The main transform: all dimensions, or the one that C2R halves. */
static struct stage main_stage(const struct run *run)
{
    const struct gsh_fft *fft = &run->launch.fft;
    int first = fft->type == GSH_FFT_C2R ? fft->rank - 1 : 0;
    return (struct stage){fft->type, first, fft->rank - first, 0, 1};
}

/* Whether neighbours in operand k belong to different transforms, and the workspace may have the same order. That is
 * not allowed with several stages, whose lines merge only where they are adjacent. */
static bool is_interleaved(const struct run *run, unsigned k)
{
    const struct side *side = &run->operands[k];
    int64_t line = gsh_launch_step(side->line[run->launch.fft.rank - 1]);
    if (main_stage(run).first > 0)
        return false;
    for (int d = 0; d < run->launch.ndim; d++)
        if (run->launch.shape[d] > 1 && side->batch[d] != 0 &&
            gsh_launch_step(side->batch[d]) < line)
            return true;
    return false;
}

/* Packs a dimension of `extent` elements: *step becomes its step, *bytes the bytes of all of it. */
static bool pack(int64_t extent, int64_t *step, size_t *bytes)
{
    *step = (int64_t)*bytes;
    return gsh_mul(*bytes, (size_t)extent, bytes);
}

static bool pack_lines(struct run *run, unsigned k, size_t *bytes)
{
    bool fits = true;
    for (int d = run->launch.fft.rank; d-- > 0;)
        fits = fits && pack(run->numbers[k][d], &run->sides[k].line[d], bytes);
    return fits;
}

/* Allocates a workspace for side k, in which the batch keeps its order. It has transform after transform, or where
 * the operand is interleaved number after number, so that copies read and write adjacent elements. */
static enum gsh_status take_workspace(struct run *run, unsigned k)
{
    const struct gsh_launch *launch = &run->launch;
    struct side *side = &run->sides[k];
    bool is_line_first = is_interleaved(run, k);
    side->dtype = dtype_of(launch, k);
    size_t bytes = gsh_dtype_size(side->dtype);
    bool fits = is_line_first || pack_lines(run, k, &bytes);
    for (int d = launch->ndim; d-- > 0;)
        fits = fits && pack(launch->shape[d], &side->batch[d], &bytes);
    if (is_line_first)
        fits = fits && pack_lines(run, k, &bytes);
    if (!fits)
        return GSH_FAILED;
    GSH_TRY(run->device->allocate(bytes, &side->address));
    run->bytes[k] = bytes;
    return GSH_OK;
}

/* What the stage repeats: the batch and the dimensions that it does not transform, with the strides of both sides, in
 * as few dimensions as possible. */
static struct gsh_launch merge_batch(const struct run *run, const struct stage *stage)
{
    const struct gsh_launch *launch = &run->launch;
    const struct side *sides[2] = {&run->sides[stage->from], &run->sides[stage->to]};
    struct gsh_launch batch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                               .op = GSH_OP_COPY,
                               .nin = 1,
                               .nout = 1,
                               .ndim = launch->ndim};
    memcpy(batch.shape, launch->shape, sizeof(batch.shape));
    for (unsigned k = 0; k < 2; k++)
        memcpy(batch.strides[k], sides[k]->batch, sizeof(batch.strides[k]));
    for (int d = 0; d < launch->fft.rank; d++) {
        if (d >= stage->first && d < stage->first + stage->rank)
            continue;
        batch.shape[batch.ndim] = run->numbers[stage->to][d];
        for (unsigned k = 0; k < 2; k++)
            batch.strides[k][batch.ndim] = sides[k]->line[d];
        batch.ndim++;
    }
    gsh_launch_collapse(&batch);
    return batch;
}

/* The batch's longest dimension; -1 where it has none. */
static int longest_of(const struct gsh_launch *batch)
{
    int longest = batch->ndim - 1;
    for (int d = 0; d < batch->ndim; d++)
        if (batch->shape[d] > batch->shape[longest])
            longest = d;
    return longest;
}

/* Whether each transform of the batch begins at an aligned number, and there are not too many of them. */
static bool can_loop(const struct run *run)
{
    const struct stage stage = main_stage(run);
    struct gsh_launch batch = merge_batch(run, &stage);
    int inner = longest_of(&batch);
    int64_t unit = (int64_t)alignment_of(run);
    for (int d = 0; d < batch.ndim; d++)
        if (d != inner && (batch.strides[0][d] % unit != 0 || batch.strides[1][d] % unit != 0))
            return false;
    return inner < 0 || gsh_launch_elements(&batch) / batch.shape[inner] <= MOST_TRANSFORMS;
}

static enum gsh_status take_workspaces(struct run *run)
{
    for (unsigned k = 0; k < 2; k++)
        if (!is_plain(run, k))
            GSH_TRY(take_workspace(run, k));
    for (unsigned k = 0; k < 2; k++)
        if (run->bytes[k] == 0 && !can_loop(run))
            GSH_TRY(take_workspace(run, k));
    return GSH_OK;
}

/* ---- copies ---- */

static void place(struct gsh_launch *copy, unsigned k, const struct side *side, int rank)
{
    int batch = copy->ndim - rank;
    copy->operands[k] = (struct gsh_operand){.dtype = side->dtype, .address = side->address};
    memcpy(copy->strides[k], side->batch, (size_t)batch * sizeof(side->batch[0]));
    memcpy(copy->strides[k] + batch, side->line, (size_t)rank * sizeof(side->line[0]));
}

/* A copy over the batch and `extent` numbers along each dimension. Its operands are not set yet. */
static struct gsh_launch begin_copy(const struct run *run, const int64_t *extent)
{
    int batch = run->launch.ndim, rank = run->launch.fft.rank;
    struct gsh_launch copy = {.kind = GSH_LAUNCH_ELEMENTWISE,
                              .op = GSH_OP_COPY,
                              .nin = 1,
                              .nout = 1,
                              .ndim = batch + rank};
    memcpy(copy.shape, run->launch.shape, (size_t)batch * sizeof(copy.shape[0]));
    memcpy(copy.shape + batch, extent, (size_t)rank * sizeof(copy.shape[0]));
    return copy;
}

static struct gsh_operand make_constant(enum gsh_dtype real, double value)
{
    struct gsh_operand operand = {.dtype = real, .is_constant = true};
    if (real == GSH_FLOAT32)
        operand.constant.f32 = (float)value;
    else
        operand.constant.f64 = value;
    return operand;
}

/* Makes the copy multiply real and imaginary parts by a real number. A complex product would let an infinite part
 * turn the other one into NaN. */
static void multiply(struct gsh_launch *copy, double factor)
{
    enum gsh_dtype dtype = copy->operands[1].dtype;
    bool is_complex = gsh_dtype_kind(dtype) == 'c';
    enum gsh_dtype real = is_complex ? gsh_dtype_real(dtype) : dtype;
    copy->op = GSH_OP_MULTIPLY;
    copy->loop = real;
    copy->nin = 2;
    copy->operands[2] = copy->operands[1];
    memcpy(copy->strides[2], copy->strides[1], sizeof(copy->strides[1]));
    copy->operands[1] = make_constant(real, factor);
    memset(copy->strides[1], 0, sizeof(copy->strides[1]));
    copy->operands[0].dtype = copy->operands[2].dtype = real;
    if (is_complex) {
        copy->shape[copy->ndim] = 2;
        copy->strides[0][copy->ndim] = copy->strides[2][copy->ndim] = (int64_t)gsh_dtype_size(real);
        copy->ndim++;
    }
}

/* Copies, and applies the factor where nothing is cast. */
static enum gsh_status copy_numbers(struct run *run, const struct side *from, const struct side *to,
                                    const int64_t *extent)
{
    struct gsh_launch copy = begin_copy(run, extent);
    place(&copy, 0, from, run->launch.fft.rank);
    place(&copy, 1, to, run->launch.fft.rank);
    copy.loop = to->dtype;
    if (run->factor != 1 && from->dtype == to->dtype) {
        multiply(&copy, run->factor);
        run->factor = 1;
    }
    gsh_launch_collapse(&copy);
    return run->device->launch(&copy, run->row);
}

/* Clears the imaginary parts of the first number of each line in the workspace and, for an even length, of the last
 * one. */
static enum gsh_status clear_imaginary(struct run *run)
{
    int last = run->launch.fft.rank - 1;
    int64_t length = run->launch.fft.length[last], extent[GSH_CORE_DIMS];
    memcpy(extent, run->numbers[0], sizeof(extent));
    extent[last] = length % 2 == 0 ? 2 : 1;
    struct gsh_launch copy = begin_copy(run, extent);
    struct side parts = run->sides[0];
    parts.dtype = gsh_dtype_real(parts.dtype);
    parts.address += gsh_dtype_size(parts.dtype);
    parts.line[last] *= length / 2;
    place(&copy, 1, &parts, last + 1);
    copy.operands[0] = make_constant(parts.dtype, 0);
    copy.loop = parts.dtype;
    gsh_launch_collapse(&copy);
    return run->device->launch(&copy, run->row);
}

static enum gsh_status gather(struct run *run)
{
    int64_t extent[GSH_CORE_DIMS], wanted = 1, given = 1;
    for (int d = 0; d < run->launch.fft.rank; d++) {
        extent[d] = GSH_MIN(run->launch.fft.cores[0].extent[d], run->numbers[0][d]);
        wanted *= run->numbers[0][d];
        given *= extent[d];
    }
    if (given < wanted)
        GSH_TRY(run->device->clear(run->sides[0].address, run->bytes[0]));
    return given > 0 ? copy_numbers(run, &run->operands[0], &run->sides[0], extent) : GSH_OK;
}

/* ---- the transform ---- */

static struct gsh_fft_lines describe_lines(const struct run *run, const struct stage *stage,
                                           const struct gsh_launch *batch, int inner)
{
    const struct gsh_fft *fft = &run->launch.fft;
    unsigned sides[2] = {stage->from, stage->to};
    struct gsh_fft_lines lines = {.type = stage->type,
                                  .is_inverse = fft->is_inverse,
                                  .is_single = run->launch.loop == GSH_COMPLEX64,
                                  .rank = stage->rank,
                                  .count = inner < 0 ? 1 : batch->shape[inner]};
    memcpy(lines.length, fft->length + stage->first, (size_t)stage->rank * sizeof(int64_t));
    for (unsigned k = 0; k < 2; k++) {
        const struct side *side = &run->sides[sides[k]];
        const int64_t *numbers = run->numbers[sides[k]] + stage->first;
        int64_t size = (int64_t)gsh_dtype_size(side->dtype);
        for (int d = 0; d < stage->rank; d++) {
            lines.numbers[k][d] = numbers[d];
            lines.stride[k][d] = numbers[d] > 1 ? side->line[stage->first + d] / size : 1;
        }
        lines.distance[k] =
            inner < 0 ? lines.stride[k][0] * numbers[0] : batch->strides[k][inner] / size;
    }
    return lines;
}

static enum gsh_status run_stage(const struct run *run, const struct stage *stage)
{
    struct gsh_launch batch = merge_batch(run, stage);
    int inner = longest_of(&batch), d = 0;
    struct gsh_fft_lines lines = describe_lines(run, stage, &batch, inner);
    int64_t index[GSH_MAX_DIMS] = {0};
    do {
        for (unsigned k = 0; k < 2; k++) {
            lines.address[k] = run->sides[k == 0 ? stage->from : stage->to].address;
            for (int e = 0; e < batch.ndim; e++)
                lines.address[k] += (uint64_t)(index[e] * batch.strides[k][e]);
            if (lines.address[k] % alignment_of(run) != 0)
                return GSH_FAILED; /* real rows of odd length that could not be transformed at once */
        }
        GSH_TRY(run->device->transform(&lines, run->row));
        for (d = batch.ndim - 1; d >= 0; d--) {
            if (d != inner && ++index[d] < batch.shape[d])
                break;
            index[d] = 0;
        }
    } while (d >= 0);
    return GSH_OK;
}

/* Transforms all dimensions of the stage at once, or the last one and then, in place, the others. */
static enum gsh_status run_dimensions(const struct run *run, const struct stage *stage)
{
    enum gsh_status status = run_stage(run, stage);
    if (status != GSH_DECLINED || stage->rank == 1)
        return status;
    struct stage one = *stage;
    one.rank = 1;
    one.first += stage->rank - 1;
    GSH_TRY(run_stage(run, &one));
    one.type = GSH_FFT_C2C;
    one.from = one.to;
    while (one.first-- > stage->first)
        GSH_TRY(run_stage(run, &one));
    return GSH_OK;
}

static enum gsh_status transform(struct run *run)
{
    const struct stage stage = main_stage(run);
    if (stage.first > 0) {
        const struct stage others = {GSH_FFT_C2C, 0, stage.first, 0, 0};
        GSH_TRY(run_dimensions(run, &others));
    }
    if (stage.type == GSH_FFT_C2R)
        GSH_TRY(clear_imaginary(run));
    return run_dimensions(run, &stage);
}

static enum gsh_status run_all(struct run *run)
{
    GSH_TRY(take_workspaces(run));
    if (run->bytes[0] != 0)
        GSH_TRY(gather(run));
    GSH_TRY(transform(run));
    if (run->bytes[1] != 0 || run->factor != 1)
        return copy_numbers(run, &run->sides[1], &run->operands[1], run->numbers[1]);
    return GSH_OK;
}

enum gsh_status gsh_fft_run(const struct gsh_fft_device *device, const struct gsh_launch *launch,
                            unsigned row)
{
    struct run run = begin_run(launch);
    run.device = device;
    run.row = row;
    enum gsh_status status = run_all(&run);
    for (unsigned k = 0; k < 2; k++)
        if (run.bytes[k] != 0)
            device->release(run.sides[k].address, run.bytes[k]);
    return status == GSH_OK ? GSH_OK : GSH_FAILED;
}
