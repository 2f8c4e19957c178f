/* SPDX-License-Identifier: Apache-2.0
 *
 * One output at a time, its elements in C order: the first that no other beats, or the first NaN.
 */
#include "host_arg.h"

#include "host_casts.h"
#include "host_convert.h"
#include "host_loops.h"
#include "host_math.h"
#include "host_walk.h"

/* A value as loaded: a bool may be any byte. */
#define LOADED(dtype)                                                                              \
    __typeof__(_Generic((gsh_value_##dtype)0, bool : (uint8_t)0, default : (gsh_value_##dtype)0))

/* Searches n > 0 values for one that beats *best; returns its index, -1 where none does. */
typedef int64_t search(void *best, const void *values, int64_t n);

#define SEARCH(dtype, name, a_beats_b)                                                             \
    static int64_t name##_##dtype(void *best, const void *values, int64_t n)                       \
    {                                                                                              \
        const LOADED(dtype) *x = values;                                                           \
        gsh_value_##dtype b = (gsh_value_##dtype) * (const LOADED(dtype) *)best;                   \
        int64_t place = -1;                                                                        \
        if (gsh_isnan(b))                                                                          \
            return -1;                                                                             \
        for (int64_t j = 0; j < n; j++) {                                                          \
            gsh_value_##dtype a = (gsh_value_##dtype)x[j];                                         \
            if (!(a_beats_b) && !gsh_isnan(a))                                                     \
                continue;                                                                          \
            b = a;                                                                                 \
            place = j;                                                                             \
            if (gsh_isnan(a))                                                                      \
                break;                                                                             \
        }                                                                                          \
        *(gsh_value_##dtype *)best = b;                                                            \
        return place;                                                                              \
    }
#define X(name, ...)                                                                               \
    SEARCH(name, larger, gsh_greater(a, b))                                                        \
    SEARCH(name, smaller, gsh_less(a, b))
#include "dtypes.def"
#undef X

static search *const searches[GSH_DTYPE_COUNT][2] = {
#define X(name, ...) {larger_##name, smaller_##name},
#include "dtypes.def"
#undef X
};

/* The index of the winner among the elements that the walk passes. */
static int64_t find(struct gsh_host_walk *walk, search *find_better, int64_t elements)
{
    enum gsh_dtype loop = walk->launch->loop, dtype = walk->launch->operands[0].dtype;
    _Alignas(16) char best[GSH_HOST_ELEMENT_BYTES];
    struct gsh_host_buffer values;
    int64_t stride = gsh_host_walk_stride(walk, 0), winner = 0;
    gsh_host_casts_load(best, loop, walk->address[0], dtype, 0, 1);
    for (int64_t done = 0; done < elements;) {
        int64_t n = GSH_MIN(gsh_host_walk_left(walk), GSH_HOST_BLOCK);
        gsh_host_casts_load(values.bytes, loop, walk->address[0], dtype, stride, n);
        int64_t place = find_better(best, values.bytes, n);
        winner = place >= 0 ? done + place : winner;
        gsh_host_walk_step(walk, n);
        done += n;
    }
    return winner;
}

void gsh_host_arg_run(const struct gsh_launch *launch)
{
    int kept = launch->ndim - launch->nreduce;
    int64_t outputs = 1, elements = 1;
    for (int d = 0; d < launch->ndim; d++)
        *(d < kept ? &outputs : &elements) *= launch->shape[d];
    bool wants_least = gsh_reduction_info(launch->reduction)->combine == GSH_OP_MINIMUM;
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, kept);
    for (int64_t done = 0; done < outputs; done++, gsh_host_walk_step(&walk, 1)) {
        struct gsh_host_walk reduced = walk;
        reduced.first = kept;
        reduced.end = launch->ndim;
        int64_t winner = find(&reduced, searches[launch->loop][wants_least], elements);
        gsh_host_casts_run(walk.address[1], launch->operands[1].dtype, 0, &winner, GSH_INT64, 0, 1);
    }
}
