/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pieces a draw takes. Integers of 64 bits whose range fits into 32 take 32-bit words.
 */
#include "random_draw.h"

#define FLOATS (1u << GSH_FLOAT32 | 1u << GSH_FLOAT64)

static bool is_word(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    return dtype == GSH_UINT32 && draw->distribution == GSH_RANDOM_BOUNDED && draw->low == 0 &&
           draw->range == UINT32_MAX && draw->form == GSH_RANDOM_STANDARD && draw->end == NULL;
}

bool gsh_random_draw_is_valid(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    if (draw->stream.generator == GSH_RANDOM_MT19937)
        return is_word(draw, dtype);
    if (draw->distribution != GSH_RANDOM_BOUNDED)
        return dtype == GSH_FLOAT64 || (dtype == GSH_FLOAT32 && draw->form == GSH_RANDOM_STANDARD);
    int bits = dtype == GSH_BOOL ? 1 : 8 * (int)gsh_dtype_size(dtype);
    bool is_integer = (1u << dtype & (GSH_SET_INTEGERS | GSH_SET_BOOL)) != 0;
    return is_integer && (bits == 64 || draw->range >> bits == 0);
}

int gsh_random_draw_width(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    if (dtype == GSH_BOOL)
        return 1;
    int bits = 8 * (int)gsh_dtype_size(dtype);
    return draw->distribution == GSH_RANDOM_BOUNDED && draw->range <= UINT32_MAX ? GSH_MIN(bits, 32)
                                                                                 : bits;
}

static uint64_t all_bits(int width)
{
    return UINT64_MAX >> (64 - width);
}

enum gsh_random_method gsh_random_draw_method(const struct gsh_random_draw *draw,
                                              enum gsh_dtype dtype)
{
    if (draw->distribution != GSH_RANDOM_BOUNDED ||
        draw->range == all_bits(gsh_random_draw_width(draw, dtype)))
        return GSH_RANDOM_ALL;
    return draw->is_masked ? GSH_RANDOM_MASKED : GSH_RANDOM_LEMIRE;
}

uint64_t gsh_random_draw_bound(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    uint64_t all = all_bits(gsh_random_draw_width(draw, dtype));
    switch (gsh_random_draw_method(draw, dtype)) {
    case GSH_RANDOM_MASKED:
        return UINT64_MAX >> __builtin_clzll(draw->range);
    case GSH_RANDOM_LEMIRE:
        return (all - draw->range) % (draw->range + 1);
    case GSH_RANDOM_ALL:
        break;
    }
    return 0;
}

double gsh_random_draw_share(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    double bound = (double)gsh_random_draw_bound(draw, dtype);
    double all = (double)all_bits(gsh_random_draw_width(draw, dtype)) + 1;
    switch (gsh_random_draw_method(draw, dtype)) {
    case GSH_RANDOM_MASKED:
        return ((double)draw->range + 1) / (bound + 1);
    case GSH_RANDOM_LEMIRE:
        return (all - bound) / all;
    case GSH_RANDOM_ALL:
        break;
    }
    return 1;
}

bool gsh_random_draw_rejects(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    uint64_t bound = gsh_random_draw_bound(draw, dtype);
    switch (draw->distribution) {
    case GSH_RANDOM_UNIFORM:
        return false;
    case GSH_RANDOM_NORMAL:
    case GSH_RANDOM_EXPONENTIAL:
        return true;
    case GSH_RANDOM_BOUNDED:
        break;
    }
    return gsh_random_draw_method(draw, dtype) == GSH_RANDOM_MASKED ? bound != draw->range
                                                                    : bound != 0;
}

unsigned gsh_random_draw_kind(const struct gsh_random_draw *draw, enum gsh_dtype dtype)
{
    unsigned kind = (unsigned)draw->stream.generator;
    kind = kind << 4 | (unsigned)draw->distribution;
    kind = kind << 4 | (unsigned)draw->form;
    kind = kind << 4 | (unsigned)gsh_random_draw_method(draw, dtype);
    kind = kind << 8 | (unsigned)gsh_random_draw_width(draw, dtype);
    return kind << 1 | gsh_random_draw_rejects(draw, dtype);
}
