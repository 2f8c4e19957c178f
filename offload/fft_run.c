/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Copies are ELEMENTWISE launches over the batch and the line. The launch's batch need not step as one
 * dimension: what is left of it is a loop of transforms, unless they are too many or begin at odd places.
 */
#include "fft_run.h"

#include <string.h>

#define MOST_TRANSFORMS 16

/* Where one side of the transform lies: the launch's operand, or a workspace. */
struct side {
    enum gsh_dtype dtype;
    uint64_t address;
    int64_t line;                /* bytes from one number of a line to the next */
    int64_t batch[GSH_MAX_DIMS]; /* and from one line to the next */
};

struct run {
    const struct gsh_fft_device *device;
    const struct gsh_launch *launch;
    unsigned row;
    int64_t numbers[2];      /* of a line */
    struct side operands[2]; /* the launch's */
    struct side sides[2];    /* what is transformed */
    size_t bytes[2];         /* of the workspaces; 0: there is none */
    double factor;           /* still to be applied */
};

static enum gsh_dtype real_of(enum gsh_dtype dtype)
{
    return dtype == GSH_COMPLEX64 ? GSH_FLOAT32 : GSH_FLOAT64;
}

/* The dtype of the transform's input or output. */
static enum gsh_dtype dtype_of(const struct gsh_launch *launch, unsigned k)
{
    bool is_real = launch->fft.type == (k == 0 ? GSH_FFT_R2C : GSH_FFT_C2R);
    return is_real ? real_of(launch->loop) : launch->loop;
}

/* What the transform reads or writes of each line. */
static int64_t numbers_of(const struct gsh_fft *fft, unsigned k)
{
    bool is_half = fft->type == (k == 0 ? GSH_FFT_C2R : GSH_FFT_R2C);
    return is_half ? fft->length[0] / 2 + 1 : fft->length[0];
}

bool gsh_fft_supports(const struct gsh_launch *launch)
{
    const struct gsh_fft *fft = &launch->fft;
    bool is_directed = fft->type == GSH_FFT_C2C || fft->is_inverse == (fft->type == GSH_FFT_C2R);
    return (launch->loop == GSH_COMPLEX64 || launch->loop == GSH_COMPLEX128) && is_directed &&
           fft->rank == 1 && fft->length[0] > 0 && launch->nin == 1 && launch->nout == 1 &&
           !launch->has_mask && !launch->operands[0].is_constant &&
           launch->operands[1].dtype == dtype_of(launch, 1) &&
           fft->cores[1].extent[0] == numbers_of(fft, 1) && launch->ndim + 2 <= GSH_MAX_DIMS;
}

/* ---- layouts ---- */

static struct side operand_side(const struct gsh_launch *launch, unsigned k)
{
    struct side side = {.dtype = launch->operands[k].dtype,
                        .address = launch->operands[k].address,
                        .line = launch->fft.cores[k].stride[0]};
    memcpy(side.batch, launch->strides[k], sizeof(side.batch));
    return side;
}

/* Whether bytes are a forward step of whole numbers. */
static bool is_step(int64_t bytes, size_t size)
{
    return bytes > 0 && bytes % (int64_t)size == 0;
}

/* Whether operand k can be transformed where it lies. */
static bool is_plain(const struct run *run, unsigned k)
{
    const struct gsh_launch *launch = run->launch;
    const struct side *side = &run->operands[k];
    size_t size = gsh_dtype_size(side->dtype);
    if (side->dtype != dtype_of(launch, k) || side->address % gsh_dtype_size(launch->loop) != 0 ||
        (run->numbers[k] > 1 && !is_step(side->line, size)))
        return false;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->shape[d] > 1 && !is_step(side->batch[d], size))
            return false;
    return k == 1 ||
           (launch->fft.type != GSH_FFT_C2R && launch->fft.cores[0].extent[0] >= run->numbers[0]);
}

/* Whether operand k's neighbours are of different lines. */
static bool is_interleaved(const struct run *run, unsigned k)
{
    const struct side *side = &run->operands[k];
    for (int d = 0; d < run->launch->ndim; d++)
        if (run->launch->shape[d] > 1 && side->batch[d] != 0 &&
            gsh_launch_step(side->batch[d]) < gsh_launch_step(side->line))
            return true;
    return false;
}

/* Packs `extent` steps: *step becomes the step, *bytes what they take. */
static bool pack(int64_t extent, int64_t *step, size_t *bytes)
{
    *step = (int64_t)*bytes;
    return gsh_mul(*bytes, (size_t)extent, bytes);
}

/* A workspace for side k: the batch in its order, line after line, or number after number where the operand lies so, for
 * copies that read and write what lies together. */
static enum gsh_status take_workspace(struct run *run, unsigned k)
{
    const struct gsh_launch *launch = run->launch;
    struct side *side = &run->sides[k];
    bool is_line_first = is_interleaved(run, k), fits = true;
    side->dtype = dtype_of(launch, k);
    size_t bytes = gsh_dtype_size(side->dtype);
    if (!is_line_first)
        fits = pack(run->numbers[k], &side->line, &bytes);
    for (int d = launch->ndim; d-- > 0;)
        fits = fits && pack(launch->shape[d], &side->batch[d], &bytes);
    if (is_line_first)
        fits = fits && pack(run->numbers[k], &side->line, &bytes);
    if (!fits)
        return GSH_FAILED;
    GSH_TRY(run->device->allocate(bytes, &side->address));
    run->bytes[k] = bytes;
    return GSH_OK;
}

/* The batch as both sides step through it, in fewest dimensions. */
static struct gsh_launch merge_batch(const struct run *run)
{
    const struct gsh_launch *launch = run->launch;
    struct gsh_launch batch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                               .op = GSH_OP_COPY,
                               .nin = 1,
                               .nout = 1,
                               .ndim = launch->ndim};
    memcpy(batch.shape, launch->shape, sizeof(batch.shape));
    for (unsigned k = 0; k < 2; k++)
        memcpy(batch.strides[k], run->sides[k].batch, sizeof(batch.strides[k]));
    gsh_launch_collapse(&batch);
    return batch;
}

/* The batch's longest dimension, -1 where it has none. */
static int longest_of(const struct gsh_launch *batch)
{
    int longest = batch->ndim - 1;
    for (int d = 0; d < batch->ndim; d++)
        if (batch->shape[d] > batch->shape[longest])
            longest = d;
    return longest;
}

/* Whether each transform of the batch begins at an aligned number, and they are not too many. */
static bool can_loop(const struct run *run)
{
    struct gsh_launch batch = merge_batch(run);
    int inner = longest_of(&batch);
    int64_t complex_size = (int64_t)gsh_dtype_size(run->launch->loop);
    for (int d = 0; d < batch.ndim; d++)
        if (d != inner &&
            (batch.strides[0][d] % complex_size != 0 || batch.strides[1][d] % complex_size != 0))
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

static void place(struct gsh_launch *copy, unsigned k, const struct side *side)
{
    int line = copy->ndim - 1;
    copy->operands[k] = (struct gsh_operand){.dtype = side->dtype, .address = side->address};
    memcpy(copy->strides[k], side->batch, (size_t)line * sizeof(side->batch[0]));
    copy->strides[k][line] = side->line;
}

/* A copy over the batch and `extent` numbers of each line, whose operands are still to be placed. */
static struct gsh_launch begin_copy(const struct run *run, int64_t extent)
{
    struct gsh_launch copy = {.kind = GSH_LAUNCH_ELEMENTWISE,
                              .op = GSH_OP_COPY,
                              .nin = 1,
                              .nout = 1,
                              .ndim = run->launch->ndim + 1};
    memcpy(copy.shape, run->launch->shape, (size_t)run->launch->ndim * sizeof(copy.shape[0]));
    copy.shape[run->launch->ndim] = extent;
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

/* Makes the copy multiply by a real number, part by part: as complex numbers, an infinite part would spoil the other. */
static void multiply(struct gsh_launch *copy, double factor)
{
    enum gsh_dtype dtype = copy->operands[1].dtype;
    bool is_complex = gsh_dtype_kind(dtype) == 'c';
    enum gsh_dtype real = is_complex ? real_of(dtype) : dtype;
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

/* Applies the factor too, where nothing is cast. */
static enum gsh_status copy_lines(struct run *run, const struct side *from, const struct side *to,
                                  int64_t extent)
{
    struct gsh_launch copy = begin_copy(run, extent);
    place(&copy, 0, from);
    place(&copy, 1, to);
    copy.loop = to->dtype;
    if (run->factor != 1 && from->dtype == to->dtype) {
        multiply(&copy, run->factor);
        run->factor = 1;
    }
    gsh_launch_collapse(&copy);
    return run->device->launch(&copy, run->row);
}

/* Clears the imaginary parts of the first number of each line in the workspace, and for an even length of the last. */
static enum gsh_status clear_imaginary(struct run *run)
{
    const struct side *side = &run->sides[0];
    enum gsh_dtype real = real_of(side->dtype);
    int64_t half = run->launch->fft.length[0] / 2;
    struct gsh_launch copy = begin_copy(run, run->launch->fft.length[0] % 2 == 0 ? 2 : 1);
    struct side parts = *side;
    parts.dtype = real;
    parts.address += gsh_dtype_size(real);
    parts.line = side->line * half;
    place(&copy, 1, &parts);
    copy.operands[0] = make_constant(real, 0);
    copy.loop = real;
    gsh_launch_collapse(&copy);
    return run->device->launch(&copy, run->row);
}

static enum gsh_status gather(struct run *run)
{
    int64_t extent = GSH_MIN(run->launch->fft.cores[0].extent[0], run->numbers[0]);
    if (extent < run->numbers[0])
        GSH_TRY(run->device->clear(run->sides[0].address, run->bytes[0]));
    if (extent > 0)
        GSH_TRY(copy_lines(run, &run->operands[0], &run->sides[0], extent));
    return run->launch->fft.type == GSH_FFT_C2R ? clear_imaginary(run) : GSH_OK;
}

/* ---- the transform ---- */

static struct gsh_fft_lines describe_lines(const struct run *run, const struct gsh_launch *batch,
                                           int inner)
{
    const struct gsh_fft *fft = &run->launch->fft;
    struct gsh_fft_lines lines = {.type = fft->type,
                                  .is_inverse = fft->is_inverse,
                                  .is_single = run->launch->loop == GSH_COMPLEX64,
                                  .length = fft->length[0],
                                  .count = inner < 0 ? 1 : batch->shape[inner]};
    for (unsigned k = 0; k < 2; k++) {
        int64_t size = (int64_t)gsh_dtype_size(run->sides[k].dtype);
        lines.numbers[k] = run->numbers[k];
        lines.stride[k] = run->numbers[k] > 1 ? run->sides[k].line / size : 1;
        lines.distance[k] =
            inner < 0 ? lines.stride[k] * run->numbers[k] : batch->strides[k][inner] / size;
    }
    return lines;
}

static enum gsh_status transform(struct run *run)
{
    struct gsh_launch batch = merge_batch(run);
    int inner = longest_of(&batch), d = 0;
    struct gsh_fft_lines lines = describe_lines(run, &batch, inner);
    int64_t index[GSH_MAX_DIMS] = {0};
    do {
        for (unsigned k = 0; k < 2; k++) {
            lines.address[k] = run->sides[k].address;
            for (int e = 0; e < batch.ndim; e++)
                lines.address[k] += (uint64_t)(index[e] * batch.strides[k][e]);
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

static enum gsh_status run_all(struct run *run)
{
    GSH_TRY(take_workspaces(run));
    if (run->bytes[0] != 0)
        GSH_TRY(gather(run));
    GSH_TRY(transform(run));
    if (run->bytes[1] != 0 || run->factor != 1)
        return copy_lines(run, &run->sides[1], &run->operands[1], run->numbers[1]);
    return GSH_OK;
}

enum gsh_status gsh_fft_run(const struct gsh_fft_device *device, const struct gsh_launch *launch,
                            unsigned row)
{
    struct run run = {.device = device, .launch = launch, .row = row, .factor = launch->fft.factor};
    for (unsigned k = 0; k < 2; k++) {
        run.numbers[k] = numbers_of(&launch->fft, k);
        run.operands[k] = run.sides[k] = operand_side(launch, k);
    }
    enum gsh_status status = run_all(&run);
    for (unsigned k = 0; k < 2; k++)
        if (run.bytes[k] != 0)
            device->release(run.sides[k].address, run.bytes[k]);
    return status;
}
