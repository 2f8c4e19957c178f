/* SPDX-License-Identifier: Apache-2.0
 *
 * The books of rent or buy.
 */
#include "ledger.h"

#define MOST_BACK_OFF 10
#define MOST_PARTS 10
#define LEAST_RENT 1e-12 /* of data that a call has used: not 0 */

void gsh_ledger_note_declined(struct gsh_ledger *ledger, double lost)
{
    ledger->debt += lost;
}

void gsh_ledger_note_settled(struct gsh_ledger *ledger)
{
    ledger->debt = 0;
}

void gsh_ledger_note_accepted(struct gsh_ledger *ledger, double gained)
{
    ledger->earned += gained;
}

void gsh_ledger_note_rented(struct gsh_ledger *ledger, double lost)
{
    ledger->rent = GSH_MAX(ledger->rent + lost, LEAST_RENT);
}

bool gsh_ledger_is_unused(const struct gsh_ledger *ledger)
{
    return ledger->rent == 0;
}

static void note_undone(struct gsh_ledger *ledger)
{
    if (ledger->is_home)
        ledger->undone =
            (uint8_t)(ledger->debt < 0 ? GSH_MIN(ledger->undone + 1, MOST_BACK_OFF) : 0);
    ledger->is_home = false;
    ledger->parts = 0;
}

void gsh_ledger_note_uploaded(struct gsh_ledger *ledger, double price)
{
    bool is_another_part = ledger->price > 0 && ledger->earned == 0; /* no call since */
    note_undone(ledger);
    if (is_another_part) {
        ledger->price += price;
        return;
    }
    if (ledger->price == 0 || ledger->earned >= ledger->price)
        ledger->back_off = 0;
    else if (ledger->back_off < MOST_BACK_OFF)
        ledger->back_off++;
    ledger->price = price;
    ledger->earned = 0;
    ledger->debt = 0;
}

void gsh_ledger_note_written(struct gsh_ledger *ledger)
{
    ledger->parts = 0;
}

void gsh_ledger_note_fetched(struct gsh_ledger *ledger, double price)
{
    ledger->debt = -price;
    ledger->rent = 0;
    ledger->parts = (uint8_t)GSH_MIN(ledger->parts + 1, MOST_PARTS);
    ledger->is_home = true;
}

double gsh_ledger_download_price(const struct gsh_ledger *ledger, double price)
{
    double part = price / (double)(1U << ledger->parts);
    return GSH_MAX(part - ledger->rent / (double)(1U << ledger->undone), 0);
}

double gsh_ledger_asking_price(const struct gsh_ledger *ledger, double price)
{
    return price * (double)(1U << ledger->back_off);
}
