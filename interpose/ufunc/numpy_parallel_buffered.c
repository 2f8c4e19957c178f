/* SPDX-License-Identifier: Apache-2.0
 *
 * A block is a stretch of one row or, where rows are short, some whole rows. An operand whose rows are all the same bytes is copied once
 * for all blocks of whole rows.
 */
#include "numpy_parallel_buffered.h"

#include "cost_model.h"
#include "host_casts.h"
#include "numpy_parallel_walk.h"
#include "parallel_loop.h"

#include <string.h>

enum {
    /* Elements. NumPy reads longer rows where they lie since 2.3, before rows of twice as many. */
    MOST_ROW = 4096,
    MOST_INPUTS = 3,
    ROOM = 6144,       /* bytes of all buffers: a frame has room for some kilobytes */
    ITEM = 16,         /* bytes at most */
    PATTERN = 64,      /* bytes that are written at once */
    LEAST_ALONE = 8192 /* elements of a space that one thread computes */
};

/* Of an element to a buffer. */
#define COPY_NS 0.2
#define CAST_NS 0.5

/* Where the inner loop finds an operand. */
enum place {
    IN_PLACE, /* one step leads through all elements */
    IN_ROWS,  /* each row is contiguous, and a block is in one row */
    IN_BUFFER,
    IN_BUFFER_FOR_ALL /* the buffer has what every block needs */
};

struct buffered {
    const struct gsh_numpy_space *space;
    enum place places[GSH_MAX_OPERANDS];
    unsigned buffers;            /* operands that have one */
    int64_t block;               /* elements at most */
    int64_t rows, rows_of_block; /* a block has one row or less, or several whole ones */
    int64_t row_blocks;          /* blocks of a row */
    int64_t blocks, piece;       /* of the space; of a part */
};

/* Each buffer has a pattern's bytes more than its part of the room. */
struct buffers {
    _Alignas(PATTERN) char bytes[ROOM + MOST_INPUTS * PATTERN];
    char *of[MOST_INPUTS];
};

static size_t item_bytes(const struct gsh_numpy_space *space, unsigned k)
{
    return gsh_dtype_size(space->loop->operands[k]);
}

static unsigned count_inputs(const struct gsh_numpy_space *space)
{
    return gsh_op_info(space->loop->op)->nin;
}

static size_t largest_item(const struct gsh_numpy_space *space)
{
    size_t largest = 1;
    for (unsigned k = 0; k < space->loop->count; k++)
        largest = GSH_MAX(largest, item_bytes(space, k));
    return largest;
}

static bool is_cast(const struct gsh_numpy_space *space, unsigned k)
{
    return space->given[k] != space->loop->operands[k];
}

static bool has_casts(const struct gsh_numpy_space *space)
{
    bool has = false;
    for (unsigned k = 0; k < count_inputs(space); k++)
        has |= is_cast(space, k);
    return has;
}

static bool is_flat(const struct gsh_numpy_space *space, unsigned k)
{
    for (int d = 1; d < space->ndim; d++)
        if (space->strides[k][d] != space->strides[k][d - 1] * space->shape[d - 1])
            return false;
    return true;
}

static bool repeats_row(const struct gsh_numpy_space *space, unsigned k)
{
    for (int d = 1; d < space->ndim; d++)
        if (space->strides[k][d] != 0)
            return false;
    return true;
}

static bool is_one_element(const struct gsh_numpy_space *space, unsigned k)
{
    return space->strides[k][0] == 0 && repeats_row(space, k);
}

/* NumPy reads the same operands where they lie, and casts one element only once. */
static bool takes_operand(const struct gsh_numpy_space *space, unsigned k)
{
    bool is_input = k < count_inputs(space);
    if (is_cast(space, k))
        return is_input && !is_one_element(space, k);
    return is_flat(space, k) || (is_input && space->shape[0] <= MOST_ROW);
}

bool gsh_numpy_parallel_buffered_takes(const struct gsh_numpy_space *space)
{
    bool takes = (space->ndim > 1 || has_casts(space)) && count_inputs(space) <= MOST_INPUTS &&
                 largest_item(space) <= ITEM;
    for (unsigned k = 0; k < space->loop->count; k++)
        takes &= takes_operand(space, k);
    return takes;
}

static enum place find_place(const struct gsh_numpy_space *space, unsigned k, bool is_in_row)
{
    if (is_flat(space, k) && !is_cast(space, k))
        return IN_PLACE;
    if (is_in_row && is_cast(space, k))
        return IN_BUFFER;
    if (is_in_row)
        return space->strides[k][0] == (int64_t)item_bytes(space, k) ? IN_ROWS : IN_BUFFER;
    return repeats_row(space, k) ? IN_BUFFER_FOR_ALL : IN_BUFFER;
}

/* Whether the operand may need a buffer. */
static bool may_need_buffer(const struct gsh_numpy_space *space, unsigned k)
{
    return !is_flat(space, k) || is_cast(space, k);
}

static struct buffered plan(const struct gsh_numpy_space *space)
{
    int64_t length = space->shape[0];
    struct buffered buffered = {.space = space, .rows = gsh_numpy_parallel_walk_rows(space)};
    for (unsigned k = 0; k < count_inputs(space); k++)
        buffered.buffers += may_need_buffer(space, k);
    buffered.block = ROOM / (int64_t)(GSH_MAX(buffered.buffers, 1U) * largest_item(space));
    buffered.rows_of_block = GSH_MAX(buffered.block / length, 1);
    buffered.row_blocks = (length - 1) / buffered.block + 1;
    buffered.blocks = ((buffered.rows - 1) / buffered.rows_of_block + 1) * buffered.row_blocks;
    for (unsigned k = 0; k < space->loop->count; k++)
        buffered.places[k] = find_place(space, k, buffered.rows_of_block == 1);
    return buffered;
}

static double copy_ns(const struct buffered *buffered, unsigned k)
{
    if (is_cast(buffered->space, k))
        return CAST_NS;
    return buffered->places[k] == IN_BUFFER ? COPY_NS : 0;
}

static double seconds_of(const struct buffered *buffered)
{
    const struct gsh_numpy_space *space = buffered->space;
    double elements = (double)buffered->rows * (double)space->shape[0];
    double ns = gsh_op_host_ns(space->loop->op, space->loop->dtype);
    for (unsigned k = 0; k < count_inputs(space); k++)
        ns += copy_ns(buffered, k);
    return gsh_parallel_loop_seconds(elements * (double)gsh_numpy_parallel_element_bytes(space),
                                     elements, ns);
}

/* Whether one thread copies in less time than NumPy's iterator, which copies what rows share again and again. */
static bool is_copied_sooner(const struct buffered *buffered)
{
    const struct gsh_numpy_space *space = buffered->space;
    int64_t row_bytes = space->shape[0] * (int64_t)largest_item(space);
    bool is_sooner = largest_item(space) < ITEM && !has_casts(space) &&
                     buffered->rows * space->shape[0] >= LEAST_ALONE;
    for (unsigned k = 0; k < count_inputs(space); k++)
        is_sooner &= buffered->places[k] != IN_BUFFER || row_bytes >= PATTERN;
    return is_sooner;
}

bool gsh_numpy_parallel_buffered_pays(const struct gsh_numpy_space *space)
{
    struct buffered buffered = plan(space);
    return is_copied_sooner(&buffered) || gsh_numpy_parallel_threads(seconds_of(&buffered)) > 1;
}

/* ---- copies to a buffer ---- */

/* Equally long rows, which are `row_stride` bytes apart. */
struct rows {
    const char *first;
    int64_t stride, length;
    int64_t row_stride, count;
};

/* Elements that are one in memory: whole patterns are written, also behind the row's end. */
#define FILL_ROWS(type)                                                                            \
    for (int64_t r = 0; r < rows->count; r++, to += rows->length * (int64_t)sizeof(type)) {        \
        type value, pattern[PATTERN / sizeof(type)];                                               \
        memcpy(&value, rows->first + r * rows->row_stride, sizeof(type));                          \
        for (size_t i = 0; i < PATTERN / sizeof(type); i++)                                        \
            pattern[i] = value;                                                                    \
        for (int64_t at = 0; at < rows->length * (int64_t)sizeof(type); at += PATTERN)             \
            memcpy(to + at, pattern, PATTERN);                                                     \
    }

#define COPY_ROWS(type)                                                                            \
    for (int64_t r = 0; r < rows->count; r++)                                                      \
        for (int64_t i = 0; i < rows->length; i++, to += sizeof(type))                             \
            memcpy(to, rows->first + r * rows->row_stride + i * rows->stride, sizeof(type));

#define MOVE_ROWS(type)                                                                            \
    if (rows->stride == 0) {                                                                       \
        FILL_ROWS(type)                                                                            \
    } else {                                                                                       \
        COPY_ROWS(type)                                                                            \
    }

static void copy_runs(char *to, const struct rows *rows, size_t item)
{
    size_t bytes = (size_t)rows->length * item;
    if (rows->row_stride == (int64_t)bytes)
        memcpy(to, rows->first, bytes * (size_t)rows->count);
    else
        for (int64_t r = 0; r < rows->count; r++, to += bytes)
            memcpy(to, rows->first + r * rows->row_stride, bytes);
}

static void copy_rows(char *to, const struct rows *rows, size_t item)
{
    if (rows->stride == (int64_t)item) {
        copy_runs(to, rows, item);
        return;
    }
    switch (item) {
    case 16:
        MOVE_ROWS(unsigned __int128)
        break;
    case 8:
        MOVE_ROWS(uint64_t)
        break;
    case 4:
        MOVE_ROWS(uint32_t)
        break;
    case 2:
        MOVE_ROWS(uint16_t)
        break;
    default:
        MOVE_ROWS(uint8_t)
    }
}

/* Rows that continue each other are one. */
static void cast_rows(char *to, const struct rows *rows, enum gsh_dtype from, enum gsh_dtype dtype)
{
    int64_t bytes = rows->length * (int64_t)gsh_dtype_size(dtype);
    bool is_one = rows->row_stride == rows->length * rows->stride;
    int64_t count = is_one ? 1 : rows->count, length = rows->length * (rows->count / count);
    for (int64_t r = 0; r < count; r++)
        gsh_host_casts_run(to + r * bytes, dtype, (int64_t)gsh_dtype_size(dtype),
                           rows->first + r * rows->row_stride, from, rows->stride, length);
}

static void move_rows(char *to, const struct rows *rows, const struct gsh_numpy_space *space,
                      unsigned k)
{
    if (is_cast(space, k))
        cast_rows(to, rows, space->given[k], space->loop->operands[k]);
    else
        copy_rows(to, rows, item_bytes(space, k));
}

/* Copies `count` elements from `offset` of a row on or, of whole rows, so many rows. */
static void copy_block(char *to, const struct gsh_numpy_space *space, unsigned k,
                       const struct gsh_numpy_parallel_walk *walk, int64_t offset, int64_t count)
{
    const int64_t *strides = space->strides[k];
    int64_t length = GSH_MIN(count, space->shape[0] - offset), left = count / length;
    struct rows rows = {walk->row[k] + offset * strides[0], strides[0], length, strides[1],
                        gsh_numpy_parallel_walk_run(walk, space, left)};
    move_rows(to, &rows, space, k);
    if (rows.count == left)
        return;
    struct gsh_numpy_parallel_walk at = *walk;
    while ((left -= rows.count) > 0) {
        gsh_numpy_parallel_walk_skip(&at, space, rows.count);
        to += rows.count * length * (int64_t)item_bytes(space, k);
        rows.first = at.row[k];
        rows.count = gsh_numpy_parallel_walk_run(&at, space, left);
        move_rows(to, &rows, space, k);
    }
}

/* ---- in each thread ---- */

/* Elements of the space before a block, and of the block. */
struct stretch {
    int64_t row, offset, count;
};

static struct stretch stretch_of(const struct buffered *buffered, int64_t block)
{
    int64_t length = buffered->space->shape[0];
    int64_t row = block / buffered->row_blocks * buffered->rows_of_block;
    int64_t offset = block % buffered->row_blocks * buffered->block;
    int64_t rows = GSH_MIN(buffered->rows_of_block, buffered->rows - row);
    return (struct stretch){row, offset,
                            rows > 1 ? rows * length : GSH_MIN(length - offset, buffered->block)};
}

/* Whether whole rows lie one after the other. */
static bool is_one_run(const struct gsh_numpy_space *space, unsigned k,
                       const struct gsh_numpy_parallel_walk *walk, const struct stretch *stretch)
{
    int64_t item = (int64_t)item_bytes(space, k), length = space->shape[0];
    int64_t rows = stretch->count / length;
    return rows > 0 && !is_cast(space, k) && space->strides[k][0] == item &&
           space->strides[k][1] == length * item &&
           gsh_numpy_parallel_walk_run(walk, space, rows) == rows;
}

static char *find_operand(const struct buffered *buffered, unsigned k,
                          const struct gsh_numpy_parallel_walk *walk, const struct stretch *stretch,
                          struct buffers *buffers)
{
    const struct gsh_numpy_space *space = buffered->space;
    int64_t step = space->strides[k][0];
    if (buffered->places[k] == IN_PLACE)
        return space->first[k] + (stretch->row * space->shape[0] + stretch->offset) * step;
    if (buffered->places[k] == IN_ROWS)
        return walk->row[k] + stretch->offset * step;
    if (buffered->places[k] == IN_BUFFER && is_one_run(space, k, walk, stretch))
        return walk->row[k];
    if (buffered->places[k] == IN_BUFFER)
        copy_block(buffers->of[k], space, k, walk, stretch->offset, stretch->count);
    return buffers->of[k];
}

/* To the row behind whole rows; of a part of a row, only behind its last one. */
static void advance(struct gsh_numpy_parallel_walk *walk, const struct buffered *buffered,
                    const struct stretch *done)
{
    const struct gsh_numpy_space *space = buffered->space;
    int64_t rows = (done->offset + done->count) / space->shape[0];
    while (rows > 0) {
        int64_t run = gsh_numpy_parallel_walk_run(walk, space, rows);
        gsh_numpy_parallel_walk_skip(walk, space, run);
        rows -= run;
    }
}

/* Also fills those that every block needs. */
static void place_buffers(const struct buffered *buffered,
                          const struct gsh_numpy_parallel_walk *walk, struct buffers *buffers)
{
    const struct gsh_numpy_space *space = buffered->space;
    int64_t count = buffered->rows_of_block * space->shape[0], room = 0;
    memset(buffers->of, 0, sizeof buffers->of);
    for (unsigned k = 0; k < count_inputs(space); k++) {
        buffers->of[k] = buffers->bytes + room;
        room += may_need_buffer(space, k) ? ROOM / buffered->buffers + PATTERN : 0;
        if (buffered->places[k] == IN_BUFFER_FOR_ALL)
            copy_block(buffers->of[k], space, k, walk, 0, count);
    }
}

static void compute_part(void *context, int64_t part)
{
    const struct buffered *buffered = context;
    const struct gsh_numpy_loop *loop = buffered->space->loop;
    int64_t block = part * buffered->piece,
            end = GSH_MIN(block + buffered->piece, buffered->blocks);
    int64_t steps[GSH_MAX_OPERANDS];
    struct buffers buffers;
    struct gsh_numpy_parallel_walk walk;
    for (unsigned k = 0; k < loop->count; k++)
        steps[k] = buffered->places[k] == IN_PLACE ? buffered->space->strides[k][0]
                                                   : (int64_t)item_bytes(buffered->space, k);
    gsh_numpy_parallel_walk_begin(&walk, buffered->space, stretch_of(buffered, block).row);
    place_buffers(buffered, &walk, &buffers);
    for (; block < end; block++) {
        struct stretch stretch = stretch_of(buffered, block);
        char *args[GSH_MAX_OPERANDS];
        for (unsigned k = 0; k < loop->count; k++)
            args[k] = find_operand(buffered, k, &walk, &stretch, &buffers);
        loop->function(args, &stretch.count, steps, loop->data);
        advance(&walk, buffered, &stretch);
    }
}

void gsh_numpy_parallel_buffered_compute(const struct gsh_numpy_space *space)
{
    struct buffered buffered = plan(space);
    double seconds = seconds_of(&buffered);
    int64_t elements = buffered.rows * space->shape[0];
    int64_t piece = gsh_parallel_loop_piece(elements, gsh_numpy_parallel_element_bytes(space),
                                            gsh_numpy_parallel_threads(seconds));
    buffered.piece = GSH_MAX(piece * buffered.blocks / elements, 1);
    int64_t parts = (buffered.blocks - 1) / buffered.piece + 1;
    if (gsh_numpy_parallel_do(compute_part, &buffered, parts, seconds))
        return;
    for (int64_t part = 0; part < parts; part++)
        compute_part(&buffered, part);
}
