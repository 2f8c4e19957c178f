/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "lapack_launch.h"

#include "coherence.h"

#include <stdlib.h>
#include <string.h>

void gsh_lapack_launch_begin(struct gsh_blas_entry_call *call, enum gsh_lapack_routine routine,
                             unsigned options)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(routine);
    struct gsh_launch *launch = &call->call.launch;
    *launch = (struct gsh_launch){
        .kind = GSH_LAUNCH_LAPACK, .loop = call->dtype, .nin = info->nin, .nout = info->nout};
    launch->lapack.routine = routine;
    launch->lapack.options = options;
    for (unsigned k = 0; k < info->nin + info->nout; k++)
        launch->operands[k].dtype = gsh_lapack_dtype(&info->operands[k], call->dtype);
}

static void place_core(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                       struct gsh_core core)
{
    struct gsh_launch *launch = &call->call.launch;
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        core.stride[d] *= size;
    launch->operands[k].address = (uint64_t)address;
    launch->lapack.cores[k] = core;
}

void gsh_lapack_launch_matrix(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t rows, int64_t columns, int64_t leading)
{
    place_core(call, k, address, (struct gsh_core){{rows, columns, 1}, {1, leading, 0}});
}

void gsh_lapack_launch_transpose(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                                 int64_t rows, int64_t columns, int64_t leading)
{
    place_core(call, k, address, (struct gsh_core){{rows, columns, 1}, {leading, 1, 0}});
}

void gsh_lapack_launch_vector(struct gsh_blas_entry_call *call, unsigned k, const void *address,
                              int64_t length)
{
    place_core(call, k, address, (struct gsh_core){{length, 1, 1}, {1, 0, 0}});
}

void *gsh_lapack_launch_memory(struct gsh_blas_entry_call *call, int64_t count, size_t size)
{
    size_t bytes;
    void *memory = gsh_mul((size_t)count, size, &bytes) ? malloc(bytes) : NULL;
    if (memory == NULL)
        call->why = GSH_REASON_MEMORY;
    return memory;
}

void gsh_lapack_launch_write_integers(const struct gsh_blas_entry_call *call, unsigned k,
                                      const int32_t *from, int64_t count)
{
    void *to = gsh_blas_entry_address(call, k);
    gsh_coherence_fetch(to, (size_t)count * (size_t)call->integer_bits / 8, true);
    if (call->integer_bits == 32)
        memcpy(to, from, (size_t)count * sizeof(*from));
    else
        for (int64_t i = 0; i < count; i++)
            ((int64_t *)to)[i] = from[i];
}

/* False: an integer is not within least..most. */
static bool read_integers(const struct gsh_blas_entry_call *call, unsigned k, int32_t *to,
                          int64_t count, int64_t least, int64_t most)
{
    const void *from = gsh_blas_entry_address(call, k);
    bool is_within = true;
    gsh_coherence_fetch(from, (size_t)count * (size_t)call->integer_bits / 8, false);
    for (int64_t i = 0; i < count; i++) {
        int64_t value =
            call->integer_bits == 32 ? ((const int32_t *)from)[i] : ((const int64_t *)from)[i];
        is_within &= value >= least && value <= most;
        to[i] = (int32_t)value;
    }
    return is_within;
}

bool gsh_lapack_launch_read_pivots(const struct gsh_blas_entry_call *call, unsigned k, int32_t *to,
                                   int64_t count, int64_t most)
{
    return read_integers(call, k, to, count, 1, most);
}

bool gsh_lapack_launch_read_block_pivots(const struct gsh_blas_entry_call *call, unsigned k,
                                         int32_t *to, int64_t count)
{
    bool is_good = read_integers(call, k, to, count, -count, count);
    for (int64_t i = 0; is_good && i < count; i++) {
        is_good = to[i] > 0 || (to[i] < 0 && i + 1 < count && to[i + 1] == to[i]);
        i += to[i] < 0 ? 1 : 0;
    }
    return is_good;
}

static void put_word(struct gsh_blas_entry_frame *frame, unsigned k, const void *address)
{
    if (k < 6)
        frame->registers[k] = (uint64_t)address;
    else
        frame->stack[k - 6] = (uint64_t)address;
}

/* Reads the length that a query wrote to the first element of a workspace. */
static int64_t read_length(const struct gsh_blas_entry_call *call, char kind, const void *element)
{
    if (kind != 'I')
        return (int64_t)gsh_blas_entry_number(call, element);
    return call->integer_bits == 32 ? *(const int32_t *)element : *(const int64_t *)element;
}

/* Whether the workspaces are as long as the original's answer to a query, which can be less than
 * the documented length. False without an original. */
static bool is_what_it_asks_for(const struct gsh_blas_entry_call *call,
                                const struct gsh_lapack_workspace *spaces, unsigned count)
{
    struct gsh_blas_entry_frame query;
    double answers[GSH_LAPACK_WORKSPACES][2] = {{0}};
    const int64_t asks = -1;
    int64_t info = -1;
    if (call->original == NULL)
        return false;
    gsh_blas_entry_copy_frame(call, &query);
    put_word(&query, (unsigned)call->routine->shape->info, &info);
    for (unsigned i = 0; i < count; i++) {
        put_word(&query, spaces[i].length, &asks);
        put_word(&query, spaces[i].argument, answers[i]);
    }
    gsh_blas_entry_call_original(call, &query);
    bool is_enough = (int32_t)info == 0;
    for (unsigned i = 0; i < count; i++)
        is_enough &= gsh_blas_entry_integer(call, spaces[i].length) >=
                     GSH_MAX(1, read_length(call, spaces[i].kind, answers[i]));
    return is_enough;
}

bool gsh_lapack_launch_has_space(const struct gsh_blas_entry_call *call,
                                 const struct gsh_lapack_workspace *spaces, unsigned count)
{
    bool is_enough = true;
    for (unsigned i = 0; i < count; i++) {
        int64_t length = gsh_blas_entry_integer(call, spaces[i].length);
        if (length <= 0)
            return false;
        is_enough &= length >= spaces[i].least;
    }
    return is_enough || is_what_it_asks_for(call, spaces, count);
}

static void put_length(const struct gsh_blas_entry_call *call,
                       const struct gsh_lapack_workspace *space)
{
    void *to = gsh_blas_entry_address(call, space->argument);
    int64_t length = gsh_blas_entry_integer(call, space->length);
    bool is_pair = space->kind == 'T' && gsh_blas_entry_is_complex(call);
    if (space->kind == 'I') {
        gsh_blas_entry_put_integer(call, space->argument, length);
    } else if (gsh_blas_entry_is_single(call)) {
        ((float *)to)[0] = (float)length;
        if (is_pair)
            ((float *)to)[1] = 0;
    } else {
        ((double *)to)[0] = (double)length;
        if (is_pair)
            ((double *)to)[1] = 0;
    }
}

bool gsh_lapack_launch_end(const struct gsh_blas_entry_call *call,
                           const struct gsh_lapack_workspace *spaces, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_length(call, &spaces[i]);
    gsh_blas_entry_put_integer(call, (unsigned)call->routine->shape->info, 0);
    return true;
}

bool gsh_lapack_launch_expect(struct gsh_blas_entry_call *call, bool is_understood)
{
    call->why = is_understood ? GSH_REASON_NONE : GSH_REASON_KEYWORDS;
    return is_understood;
}
