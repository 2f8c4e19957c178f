/* SPDX-License-Identifier: Apache-2.0
 *
 * Rent or buy, for one piece of data: what was lost by leaving it on the host, what its last move to the device cost
 * and whether that paid, and what was lost by leaving it on the device. Seconds, all of them. Pure arithmetic; races between threads cost time, never a wrong result.
 */
#pragma once

#include "base.h"

struct gsh_ledger {
    double debt;   /* lost so far by leaving the data on the host */
    double price;  /* of the last upload */
    double earned; /* by device calls since then */
    double
        rent; /* lost so far by leaving the data on the device; 0: no call has used it there yet */
    uint8_t
        back_off;   /* uploads in a row that did not pay: each doubles what the next must promise */
    uint8_t undone; /* fetches in a row that an upload soon undid: each halves what rent pays */
    uint8_t parts;  /* fetched of the present contents: each halves what the next one costs */
    bool is_home;   /* fetched since the last upload */
};

/* A call was left to the CPU because the data was there: that cost so much. */
void gsh_ledger_note_declined(struct gsh_ledger *ledger, double lost);
/* The data would have been uploaded, or fetched back, had the device been ready: what was lost before is settled. */
void gsh_ledger_note_settled(struct gsh_ledger *ledger);
/* The device computed with the data: that won so much. */
void gsh_ledger_note_accepted(struct gsh_ledger *ledger, double gained);
/* The device computed with data that the host lacks: the CPU would have done it sooner by `lost`, were the data there. Negative:
 * it won. What calls win reduces the rent, which is never negative. */
void gsh_ledger_note_rented(struct gsh_ledger *ledger, double lost);
/* Whether this is the first call with the data on the device. To compute with it on the CPU then takes a download, which another
 * operand pays for by coming home: a loop that makes new data on the device would download it each time. */
bool gsh_ledger_is_unused(const struct gsh_ledger *ledger);
/* The data, or a part of it, moved to the device at this price. Parts that move before the next call is accepted are one
 * upload. It undoes a fetch if calls on the host have not lost as much since as the fetch cost. */
void gsh_ledger_note_uploaded(struct gsh_ledger *ledger, double price);
/* The device wrote the data, or a part of it. */
void gsh_ledger_note_written(struct gsh_ledger *ledger);
/* The host fetched it, or a part of it, back: that much must be earned back before it moves again. */
void gsh_ledger_note_fetched(struct gsh_ledger *ledger, double price);
/* What is left to pay of a download that costs `price`: calls on the device that only avoid it have paid the rent. Where the last
 * fetches were undone, other calls want the data on the device, and the rent counts for less. Where other parts of the same contents came
 * home, as in a loop over the rows of a matrix, the rent of the next part is less: that of all parts is at most twice that of one. */
double gsh_ledger_download_price(const struct gsh_ledger *ledger, double price);
/* What an upload must promise that costs `price`. */
double gsh_ledger_asking_price(const struct gsh_ledger *ledger, double price);
