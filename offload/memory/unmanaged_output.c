/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "unmanaged_output.h"

#include "arena_internal.h"
#include "backend.h"
#include "transfer.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIMS (GSH_MAX_DIMS + GSH_CORE_DIMS)

/* The output's dimensions, batch and core. The last one is copied in one piece where it is contiguous. */
struct walk {
    int ndim;
    size_t size; /* of an element */
    int64_t extent[MOST_DIMS], stride[MOST_DIMS];
};

static void add(struct walk *walk, int64_t extent, int64_t stride)
{
    if (extent == 1)
        return;
    walk->extent[walk->ndim] = extent;
    walk->stride[walk->ndim++] = stride;
}

/* Makes the contiguous dimension the last. */
static void put_contiguous_last(struct walk *walk)
{
    for (int d = 0; d < walk->ndim - 1; d++) {
        if (walk->stride[d] != (int64_t)walk->size)
            continue;
        int64_t extent = walk->extent[d];
        walk->extent[d] = walk->extent[walk->ndim - 1];
        walk->stride[d] = walk->stride[walk->ndim - 1];
        walk->extent[walk->ndim - 1] = extent;
        walk->stride[walk->ndim - 1] = (int64_t)walk->size;
    }
}

static struct walk describe(const struct gsh_launch *launch, unsigned k)
{
    struct walk walk = {.size = gsh_dtype_size(launch->operands[k].dtype)};
    struct gsh_core core = gsh_launch_core(launch, k);
    for (int d = 0; d < launch->ndim; d++)
        add(&walk, launch->shape[d], launch->strides[k][d]);
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        add(&walk, core.extent[d], core.stride[d]);
    put_contiguous_last(&walk);
    return walk;
}

/* Copies everything below dimension d, at the same offset in both. */
static void copy_below(const struct walk *walk, int d, char *to, const char *from)
{
    bool is_run = d == walk->ndim - 1 && walk->stride[d] == (int64_t)walk->size;
    if (d == walk->ndim || is_run) {
        memcpy(to, from, is_run ? (size_t)walk->extent[d] * walk->size : walk->size);
        return;
    }
    for (int64_t i = 0; i < walk->extent[d]; i++)
        copy_below(walk, d + 1, to + i * walk->stride[d], from + i * walk->stride[d]);
}

/* Copies one triangle of a matrix, column by column. */
static void copy_triangle(const struct gsh_launch *launch, char *to, const char *from)
{
    const struct gsh_gemm *g = &launch->gemm;
    bool is_upper = (g->options & GSH_GEMM_UPPER) != 0;
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    for (int64_t column = 0; column < g->n; column++) {
        int64_t first = is_upper ? 0 : column, count = is_upper ? column + 1 : g->n - column;
        int64_t at = (first * g->c_row + column * g->c_col) * size;
        memcpy(to + at, from + at, (size_t)(count * size));
    }
}

/* Whether the bytes go through a buffer: some of them are not the output's, or the old contents are needed if another
 * output fails. */
static bool takes_copy(const struct gsh_launch *launch, const struct gsh_unmanaged_output *output)
{
    size_t size = gsh_dtype_size(launch->operands[output->operand].dtype);
    return output->is_read ||
           (size_t)gsh_launch_output_elements(launch, output->operand) * size != output->bytes;
}

/* The arena keeps populated memory, some of it page-locked; malloc gives new pages to a large block at every call. */
static char *take_memory(size_t bytes)
{
    char *memory = gsh_arena_allocate(bytes, GSH_ARENA_HOST);
    return memory != NULL ? memory : malloc(bytes);
}

static void give_memory_back(char *memory)
{
    if (!gsh_arena_free(memory))
        free(memory);
}

static bool is_registered(const char *memory, size_t bytes)
{
    const struct gsh_block *block = gsh_arena_find_block(memory);
    return block != NULL && gsh_arena_is_registered(block, 0, bytes);
}

static enum gsh_status read_outputs(const struct gsh_launch *launch,
                                    const struct gsh_unmanaged_output *outputs, unsigned count,
                                    char **copies)
{
    GSH_TRY(gsh_transfer_finish());
    for (unsigned j = 0; j < count; j++) {
        bool is_copied = takes_copy(launch, &outputs[j]);
        if (is_copied && (copies[j] = take_memory(outputs[j].bytes)) == NULL)
            return GSH_FAILED;
        char *to = is_copied ? copies[j] : outputs[j].first;
        GSH_TRY(gsh_value_read(outputs[j].value, to, 0, outputs[j].bytes,
                               is_registered(to, outputs[j].bytes)));
    }
    return GSH_OK;
}

static void write_output(const struct gsh_launch *launch, const struct gsh_unmanaged_output *output,
                         const char *copy)
{
    struct walk walk = describe(launch, output->operand);
    size_t offset = launch->operands[output->operand].address - (uint64_t)output->first;
    char *to = (char *)output->first + offset;
    if (gsh_launch_writes_triangle(launch))
        copy_triangle(launch, to, copy + offset);
    else
        copy_below(&walk, 0, to, copy + offset);
}

enum gsh_status gsh_unmanaged_output_fetch(const struct gsh_launch *launch,
                                           const struct gsh_unmanaged_output *outputs,
                                           unsigned count)
{
    char *copies[GSH_MAX_OUTPUTS] = {NULL};
    enum gsh_status status = read_outputs(launch, outputs, count, copies);
    for (unsigned j = 0; j < count; j++) {
        if (status == GSH_OK && copies[j] != NULL)
            write_output(launch, &outputs[j], copies[j]);
        give_memory_back(copies[j]);
    }
    return status;
}
