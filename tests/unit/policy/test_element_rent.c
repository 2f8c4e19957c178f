/* SPDX-License-Identifier: Apache-2.0
 *
 * Rent or buy of single elements.
 */
#include "backend.h"
#include "check.h"
#include "element_rent.h"

/* Accesses until the fetch is due, and what they cost. */
static unsigned count_paid(const struct gsh_element_price *price, double *paid)
{
    struct gsh_element_rent rent = {0};
    unsigned count = 0;
    for (*paid = 0; gsh_element_rent_pay(&rent, price, count == 0); count++)
        *paid += price->access;
    CHECK(rent.paid == 0);
    return count;
}

static void check_competitive(const struct gsh_element_price *price)
{
    double paid = 0;
    CHECK(count_paid(price, &paid) >= 1);
    CHECK(paid <=
          GSH_MAX(price->fetch, price->access)); /* with the fetch: at most twice its cost */
    CHECK(paid + price->access > price->fetch);
}

static void check_prices(const struct gsh_rates *rates)
{
    for (double bytes = 8; bytes < 1e8; bytes *= 4) {
        struct gsh_element_price read = gsh_element_rent_read_price(rates, bytes, true);
        struct gsh_element_price store = gsh_element_rent_store_price(rates, bytes, true);
        double transfer = gsh_cost_model_transfer(rates, bytes, true, false);
        CHECK(read.fetch > transfer && store.fetch - read.fetch > 0.99 * transfer);
        CHECK(gsh_element_rent_read_price(rates, bytes, false).fetch >= read.fetch);
        check_competitive(&read);
        check_competitive(&store);
    }
}

/* What was paid before another use does not count. */
static void check_reset(void)
{
    struct gsh_element_price price = {.access = 1, .fetch = 2};
    struct gsh_element_rent rent = {0};
    for (int i = 0; i < 10; i++) {
        CHECK(gsh_element_rent_pay(&rent, &price, true));
        CHECK(gsh_element_rent_pay(&rent, &price, false));
    }
    CHECK(!gsh_element_rent_pay(&rent, &price, false));
    CHECK(gsh_element_rent_pay(&rent, &price, false)); /* after the fetch, from zero */
}

/* One access pays even where the chunk is as small as the element. */
static void check_first(void)
{
    struct gsh_element_price price = {.access = 3, .fetch = 2};
    struct gsh_element_rent rent = {0};
    CHECK(gsh_element_rent_pay(&rent, &price, false));
    CHECK(!gsh_element_rent_pay(&rent, &price, false));
}

int main(void)
{
    check_prices(gsh_cuda_backend.rates);
    check_prices(gsh_emu_backend.rates);
    check_reset();
    check_first();
    return check_result();
}
