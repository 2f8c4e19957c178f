/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds loops in the sequence of operations that a program makes, and cuts the sequence into pieces that recur. A loop makes
 * the same operations at each iteration; the number of operations of an iteration is its period. Operations are told apart by their
 * signatures. The cuts depend on the sequence alone, never on the time at which an operation is noted.
 *
 * Periods are found by the distance to the last operation with the same signature. A candidate becomes active after a whole
 * iteration (two of at most GSH_PERIOD_PIECE operations), and at least GSH_PERIOD_EVIDENCE operations, have matched. Several may be active at a time: those of nested loops.
 * An iteration begins where the fewest values pass from the operations before to those after. A piece is one iteration, or as many whole
 * iterations as have at most GSH_PERIOD_PIECE operations: operations of several iterations may run together. That is less than a group
 * can hold, because what precedes the loop may run together with its first piece.
 *
 * Pure: the state changes only by the arguments. No clock, no device, no lock. Operations are numbered from 1.
 */
#pragma once

#include "base.h"

#define GSH_PERIOD_HISTORY 2048U /* operations that are remembered */
#define GSH_PERIOD_LONGEST (GSH_PERIOD_HISTORY / 2)
#define GSH_PERIOD_EVIDENCE 16U
#define GSH_PERIOD_PIECE 40U
#define GSH_PERIOD_CANDIDATES 4U
#define GSH_PERIOD_READS 4U
#define GSH_PERIOD_SLOTS 512U /* of the table of last occurrences */

/* What an operation reads that an earlier one has written. */
struct gsh_period_read {
    uint64_t written;  /* the operation that wrote the value last; 0: none is known */
    uint64_t accessed; /* the last before this one that read or wrote it */
    bool is_whole; /* it wrote all of the value, which need not be stored if nobody else reads it */
};

/* The same, kept: distances from the reading operation; written 0: none. */
struct gsh_period_gap {
    uint16_t written, accessed;
    bool is_whole;
};

struct gsh_period_candidate {
    uint32_t period; /* 0: the entry is free */
    uint32_t piece;  /* operations of a piece, whole iterations; set while it is active */
    uint64_t first;  /* the first operation that matched the one a period before */
    uint64_t head;   /* the first operation of an iteration; 0: the candidate is not active */
    uint64_t next;   /* the next cut lies before this operation */
};

/* Zeros are the empty state. */
struct gsh_period {
    uint64_t count; /* operations noted */
    uint64_t
        ordered; /* the last operation before the last boundary that the program itself ordered */
    uint64_t signatures[GSH_PERIOD_HISTORY];
    struct gsh_period_gap gaps[GSH_PERIOD_HISTORY][GSH_PERIOD_READS];
    uint64_t cuts[GSH_PERIOD_HISTORY / 64];
    uint64_t last[GSH_PERIOD_SLOTS];
    struct gsh_period_candidate candidates[GSH_PERIOD_CANDIDATES];
};

/* Notes the next operation, whose number is then `count`. Reads beyond GSH_PERIOD_READS are left out. */
void gsh_period_note(struct gsh_period *state, uint64_t signature,
                     const struct gsh_period_read *reads, unsigned read_count);
/* The program orders a boundary after the last operation, because the host reads a result. Pieces begin anew there. A loop
 * with such a boundary in each iteration is not cut. */
void gsh_period_note_boundary(struct gsh_period *state);
/* Whether there is a cut after operation `before` and not after operation `after`; after <= count + 1. */
bool gsh_period_is_cut(const struct gsh_period *state, uint64_t before, uint64_t after);
/* A hash of the last signatures: where in the program its last operation is. */
uint64_t gsh_period_place(const struct gsh_period *state);
