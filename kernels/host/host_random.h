/* SPDX-License-Identifier: Apache-2.0
 *
 * A draw on CPU cores, in parts that several threads compute. The result and the stream behind it are those of one thread that makes
 * value after value; neither depends on the number of threads.
 *
 * The stream is cut into parts of so many words. A thread makes the words of a part by jumping to it. Where a value may take several
 * words, it is not known at first where the values of a part begin. The thread takes the part's first word for a beginning,
 * and notes the first beginnings that follow. What the part before ends with then says where the first value begins
 * and how many there are before it. Nearly always that is one of the beginnings noted. Otherwise the part is made again from there.
 * Checked by tests/unit/kernels/host/test_host_random.c.
 */
#pragma once

#include "host_random_values.h"
#include "random_stream.h"

#define GSH_HOST_RANDOM_SLOTS 64
#define GSH_HOST_RANDOM_PART_WORDS                                                                 \
    8192 /* of a part of a stream whose values may take several words */

struct gsh_host_random {
    struct gsh_random_draw draw;
    struct gsh_host_random_recipe recipe;
    char *out; /* `count` values of so many bytes, one after the other */
    int64_t count, itemsize;
    int64_t parts;         /* that suffice, most likely */
    int64_t lead;          /* words before the first new word of 64 bits: those of the kept half */
    char *scratch;         /* of the slots */
    int slots;             /* parts that may be computed at once */
    _Atomic uint64_t busy; /* slots, a bit each */
    /* Behind the parts below `next`, which are done: values made, and the word at which the next value begins. */
    _Atomic int64_t next, made;
    int64_t position;
    _Atomic bool is_failed;
};

/* Prepares a draw of `count` > 0 values to `out`, by at most `threads` threads at once. False: there is no such draw, or no memory. */
bool gsh_host_random_begin(struct gsh_host_random *random, const struct gsh_random_draw *draw,
                           enum gsh_dtype dtype, void *out, int64_t count, unsigned threads);
/* Computes a part. Parts may be computed at once, if they are taken in order. */
void gsh_host_random_part(void *random, int64_t part);
/* Computes what no part has, frees the memory, and moves the draw's stream behind the last value. False: the values of the stream are
 * not random at all, and `out` has undefined contents. */
bool gsh_host_random_end(struct gsh_host_random *random);
