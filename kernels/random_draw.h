/* SPDX-License-Identifier: Apache-2.0
 *
 * A draw: numbers of a distribution from a raw stream, as numpy.random.Generator makes them (NumPy 1.24 to 2.4:
 * numpy/random/src/pcg64, philox, distributions). Bits are NumPy's.
 *
 * A value is made of pieces of the stream: 64-bit words, or 32-bit words, or 16, 8 or 1 bits of a 32-bit word, the lowest ones
 * first. A draw of such small pieces begins at a 32-bit word, and drops what it leaves of its last one.
 */
#pragma once

#include "dtypes.h"

/* The stream of the first ones can be entered anywhere. That of MT19937 cannot: draws from it are of its 32-bit words as they are. */
enum gsh_random_generator {
    GSH_RANDOM_PCG64,
    GSH_RANDOM_PCG64DXSM,
    GSH_RANDOM_PHILOX,
    GSH_RANDOM_MT19937
};

/* Where a stream stands: the fields of NumPy's pcg64_state and philox_state. A 32-bit word is the lower half of a 64-bit one;
 * the upper half is kept for the next 32-bit word. 64-bit words pass over it. */
struct gsh_random_stream {
    enum gsh_random_generator generator;
    union {
        struct {
            unsigned __int128 state, increment;
        } pcg;
        struct {
            uint64_t counter[4], key[2], buffer[4];
            int buffer_at; /* the next word of the buffer; 4: none */
        } philox;
        struct {
            const uint32_t *key; /* 624 words of the caller's, which live until the draw has run */
            int at;              /* how many of them are taken */
        } twister;
    };
    bool has_half;
    uint32_t half;
};

/* What one value is made of. UNIFORM: of one piece, in [0, 1). NORMAL, EXPONENTIAL: by the ziggurat (ziggurat.h), of one piece or
 * more. BOUNDED: integers 0 .. range, of pieces some of which may be left out; of none where the range is 0. float32 forms take
 * 32-bit words, as integers do whose range fits. */
enum gsh_random_distribution {
    GSH_RANDOM_UNIFORM,
    GSH_RANDOM_NORMAL,
    GSH_RANDOM_EXPONENTIAL,
    GSH_RANDOM_BOUNDED
};
/* What becomes of the value x of UNIFORM, NORMAL and EXPONENTIAL. Each operation rounds. */
enum gsh_random_form {
    GSH_RANDOM_STANDARD, /* x */
    GSH_RANDOM_SCALED,   /* scale * x */
    GSH_RANDOM_SHIFTED,  /* shift + scale * x */
    GSH_RANDOM_EXP       /* exp(shift + scale * x) */
};
/* Which pieces BOUNDED leaves out, and what it makes of the others. */
enum gsh_random_method {
    GSH_RANDOM_ALL,    /* none */
    GSH_RANDOM_MASKED, /* those beyond the range under the mask `bound` */
    GSH_RANDOM_LEMIRE /* those whose product with range + 1 has a lower half below `bound`; the upper half is the value */
};

struct gsh_random_draw {
    struct gsh_random_stream stream;
    enum gsh_random_distribution distribution;
    enum gsh_random_form form; /* but for STANDARD: float64 only */
    bool is_masked; /* BOUNDED: MASKED, otherwise LEMIRE, where pieces must be left out */
    /* A device's limit on the pieces that a normal number takes beyond its first one, even; 0: the usual one. */
    unsigned reach;
    double shift, scale;
    uint64_t low, range; /* BOUNDED: low + 0 .. range, modulo the dtype's size */
    /* The stream behind the draw is stored here once the draw has been made. Host memory. NULL: nowhere. */
    struct gsh_random_stream *end;
};

/* Whether the dtype has this draw. */
bool gsh_random_draw_is_valid(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
/* The functions below: of draws that are valid, of a range that is not 0. Bits of a piece: */
int gsh_random_draw_width(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
/* Equal for draws that the same code makes. */
unsigned gsh_random_draw_kind(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
/* BOUNDED; others: ALL. */
enum gsh_random_method gsh_random_draw_method(const struct gsh_random_draw *draw,
                                              enum gsh_dtype dtype);
uint64_t gsh_random_draw_bound(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
/* BOUNDED: of all pieces, the share that is not left out. */
double gsh_random_draw_share(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
/* Whether the number of pieces depends on them. */
bool gsh_random_draw_rejects(const struct gsh_random_draw *draw, enum gsh_dtype dtype);
