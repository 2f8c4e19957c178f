/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws that take every way through the kernels, and streams that stand anywhere.
 */
#pragma once

#include "launch.h"

static const struct draw_case {
    const char *name;
    enum gsh_dtype dtype;
    enum gsh_random_distribution distribution;
    enum gsh_random_form form;
    bool is_masked;
    double shift, scale;
    uint64_t low, range;
} draw_cases[] = {
    {"random", GSH_FLOAT64, GSH_RANDOM_UNIFORM, GSH_RANDOM_STANDARD, false, 0, 0, 0, 0},
    {"random float32", GSH_FLOAT32, GSH_RANDOM_UNIFORM, GSH_RANDOM_STANDARD, false, 0, 0, 0, 0},
    {"uniform", GSH_FLOAT64, GSH_RANDOM_UNIFORM, GSH_RANDOM_SHIFTED, false, -3, 7.1, 0, 0},
    {"standard_normal", GSH_FLOAT64, GSH_RANDOM_NORMAL, GSH_RANDOM_STANDARD, false, 0, 0, 0, 0},
    {"standard_normal float32", GSH_FLOAT32, GSH_RANDOM_NORMAL, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     0},
    {"normal", GSH_FLOAT64, GSH_RANDOM_NORMAL, GSH_RANDOM_SHIFTED, false, 1.3, 2.7, 0, 0},
    {"standard_exponential", GSH_FLOAT64, GSH_RANDOM_EXPONENTIAL, GSH_RANDOM_STANDARD, false, 0, 0,
     0, 0},
    {"standard_exponential float32", GSH_FLOAT32, GSH_RANDOM_EXPONENTIAL, GSH_RANDOM_STANDARD,
     false, 0, 0, 0, 0},
    {"lognormal", GSH_FLOAT64, GSH_RANDOM_NORMAL, GSH_RANDOM_EXP, false, 0.3, 1.9, 0, 0},
    {"exponential", GSH_FLOAT64, GSH_RANDOM_EXPONENTIAL, GSH_RANDOM_SCALED, false, 0, 0.7, 0, 0},
    {"integers bool", GSH_BOOL, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0, 1},
    {"integers int8, all", GSH_INT8, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 128,
     255},
    {"integers uint8", GSH_UINT8, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 3, 199},
    {"integers int16", GSH_INT16, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 17, 999},
    {"integers int32, 2^16", GSH_INT32, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     65535},
    {"integers int32", GSH_INT32, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     INT32_MAX - 6},
    {"integers int64, 0..999", GSH_INT64, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     999},
    {"integers int64, 0..2^40", GSH_INT64, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     UINT64_C(1) << 40},
    {"integers uint64, all", GSH_UINT64, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 0,
     UINT64_MAX},
    {"integers int64, 3 * 2^61", GSH_INT64, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, false, 0, 0, 5,
     UINT64_C(3) << 61},
    {"integers uint32, masked", GSH_UINT32, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, true, 0, 0, 1,
     600},
    {"integers uint64, masked", GSH_UINT64, GSH_RANDOM_BOUNDED, GSH_RANDOM_STANDARD, true, 0, 0, 1,
     UINT64_C(5) << 33},
};

/* A stream with or without half a word, of Philox at the given word of its buffer (1 to 4). */
static inline struct gsh_random_stream draw_stream(enum gsh_random_generator generator,
                                                   uint64_t seed, bool has_half, int buffer_at)
{
    struct gsh_random_stream stream = {
        .generator = generator, .has_half = has_half, .half = (uint32_t)(seed * 2654435761u)};
    uint64_t words[10];
    for (int i = 0; i < 10; i++) {
        seed = (seed ^ seed >> 29) * 0x9e3779b97f4a7c15u + 1;
        words[i] = seed;
    }
    if (generator == GSH_RANDOM_PHILOX) {
        for (int i = 0; i < 4; i++) {
            stream.philox.counter[i] = i == 0 ? UINT64_MAX - 20 : i == 1 ? UINT64_MAX : words[i];
            stream.philox.buffer[i] = words[4 + i];
        }
        stream.philox.key[0] = words[8];
        stream.philox.key[1] = words[9];
        stream.philox.buffer_at = buffer_at;
    } else {
        stream.pcg.state = (unsigned __int128)words[0] << 64 | words[1];
        stream.pcg.increment = (unsigned __int128)words[2] << 64 | words[3] | 1;
    }
    return stream;
}

/* A draw of `count` values to `address`. */
static inline struct gsh_launch draw_launch(const struct draw_case *draw,
                                            const struct gsh_random_stream *stream, int64_t count,
                                            uint64_t address)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_DRAW, .op = GSH_OP_COPY, .loop = draw->dtype, .nout = 1, .ndim = 1};
    launch.shape[0] = count;
    launch.strides[0][0] = (int64_t)gsh_dtype_size(draw->dtype);
    launch.operands[0] = (struct gsh_operand){.dtype = draw->dtype, .address = address};
    launch.draw = (struct gsh_random_draw){.stream = *stream,
                                           .distribution = draw->distribution,
                                           .form = draw->form,
                                           .is_masked = draw->is_masked,
                                           .shift = draw->shift,
                                           .scale = draw->scale,
                                           .low = draw->low,
                                           .range = draw->range};
    return launch;
}
