/* SPDX-License-Identifier: Apache-2.0
 *
 * What one operand of a call adds to the call's facts (decide.h), from where its bytes are: the upload of bytes that only the
 * host has, the download of bytes that only the device has, and the fetch of a result that is wanted on the host. Pure
 * arithmetic.
 */
#pragma once

#include "cost_model.h"
#include "decide.h"
#include "ledger.h"

/* Constants, new outputs, and blocks that are overwritten as a whole cost nothing, and are none of these. */
enum gsh_operand_place {
    GSH_OPERAND_FREE, /* costs nothing: a constant, a new output, or a block that is overwritten as a whole */
    GSH_OPERAND_BLOCK,    /* in a block of the arena, which may be on either side */
    GSH_OPERAND_UNMANAGED /* in memory of the program's, which is always on the host */
};

struct gsh_operand_facts {
    enum gsh_operand_place place;

    /* BLOCK */
    double missing; /* bytes that the device lacks */
    double
        expected; /* of these, those that it would have if it had been ready so far: they count as there */
    double away;                     /* bytes that the host lacks */
    bool is_pinned;                  /* the block is page-locked */
    bool is_pinnable;                /* it will be, before it is uploaded */
    const struct gsh_ledger *ledger; /* the block's */

    /* UNMANAGED */
    double bytes;
    bool is_read;    /* by the call; false also where an earlier operand brings the same bytes */
    bool is_written; /* by the call: fetched as soon as it has run */
    bool
        is_temporary; /* the call writes unmanaged memory: what it reads there was mostly made for it too, and moves slowly */
};

/* Adds the operand's seconds to *facts. */
void gsh_operand_cost_add(const struct gsh_rates *rates, const struct gsh_operand_facts *operand,
                          struct gsh_facts *facts);
/* Adds what fetching the results costs, of which a share (fetch_share.h) is fetched. */
void gsh_operand_cost_add_results(const struct gsh_rates *rates, double bytes, double share,
                                  struct gsh_facts *facts);
