/* SPDX-License-Identifier: Apache-2.0
 *
 * Rent or buy, for single elements of a chunk that only the device holds: each access pays for a transfer, or the chunk
 * is fetched once and further accesses cost nothing. Seconds, all of them. Pure arithmetic.
 */
#pragma once

#include "cost_model.h"

struct gsh_element_rent {
    double paid;      /* by accesses since the contents were used otherwise */
    uint64_t version; /* of the contents at the last access */
    uint64_t calls;   /* that the device had accepted at the last access */
};

struct gsh_element_price {
    double access; /* one element, the chunk stays where it is */
    double fetch;  /* the chunk moves to the host, and back where elements are stored */
};

/* The prices for a chunk of `bytes` bytes, which are page-locked or not. */
struct gsh_element_price gsh_element_rent_read_price(const struct gsh_rates *rates, double bytes,
                                                     bool is_pinned);
struct gsh_element_price gsh_element_rent_store_price(const struct gsh_rates *rates, double bytes,
                                                      bool is_pinned);
/* One more access. True: it pays. False: so many accesses have cost as much as the fetch, which is due; the account is
 * then empty. `is_first`: what was paid before does not count. The first access always pays. */
bool gsh_element_rent_pay(struct gsh_element_rent *rent, const struct gsh_element_price *price,
                          bool is_first);
