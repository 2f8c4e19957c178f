/* SPDX-License-Identifier: Apache-2.0
 *
 * The policy's arithmetic: monotonic costs, the rule, and rent or buy.
 */
#include "backend.h"
#include "check.h"
#include "cost_model.h"
#include "decide.h"
#include "ledger.h"

static void check_costs(const struct gsh_rates *rates)
{
    double last = 0;
    for (double bytes = 1e3; bytes < 1e10; bytes *= 10) {
        double cost = gsh_cost_model_host(rates, bytes, bytes / 8, 1);
        CHECK(cost > last);
        CHECK(gsh_cost_model_transfer(rates, bytes, true, false) <=
              gsh_cost_model_transfer(rates, bytes, false, true));
        last = cost;
    }
    CHECK(gsh_cost_model_transfer(rates, 0, false, false) == 0);
    CHECK(gsh_cost_model_unmanaged_transfer(rates, 0) == 0);
    CHECK(gsh_cost_model_unmanaged_transfer(rates, 1e8) >=
          gsh_cost_model_transfer(rates, 1e8, false, false));
    CHECK(gsh_cost_model_host_product(rates, 1e12, 1e9, false) <
          gsh_cost_model_host_product(rates, 1e12, 1e9, true));
}

/* Small matrices are far from the rate of large ones, which none exceeds; einsum is from either. */
static void check_shares(const struct gsh_rates *rates)
{
    double einsum = gsh_cost_model_einsum_share(rates, true), last = 0;
    CHECK(einsum > 0 && einsum <= 1);
    for (int extent = 0; extent < 1000000; extent = 2 * extent + 1) {
        double share = gsh_cost_model_small_share(rates, extent, 0.25, true);
        CHECK(share > 0 && share >= last && share <= 0.25);
        last = share;
    }
    CHECK(last == 0.25);
    CHECK(gsh_cost_model_small_share(rates, 12, 0.25, true) * rates->host_flops[1] < 2e9);
}

static void check_rule(void)
{
    struct gsh_facts resident = {.host = 1e-3, .device = 1e-5};
    CHECK_INT(gsh_decide(&resident).reason, GSH_REASON_NONE);
    struct gsh_facts small = {.host = 1e-6, .device = 1e-5};
    CHECK_INT(gsh_decide(&small).reason, GSH_REASON_TOO_SMALL);
    struct gsh_facts small_but_away = {.host = 1e-6, .device = 1e-5, .download = 2e-5};
    CHECK_INT(gsh_decide(&small_but_away).reason, GSH_REASON_NONE);
    struct gsh_facts far = {.host = 1e-3, .device = 1e-5, .upload = 5e-3};
    CHECK_INT(gsh_decide(&far).reason, GSH_REASON_DATA_ON_HOST);
    struct gsh_facts fetched = {.host = 1e-3, .device = 1e-5, .fetch = 2e-3};
    CHECK_INT(gsh_decide(&fetched).reason, GSH_REASON_NO_GAIN);
    struct gsh_facts slow = {.host = 1e-3, .device = 2e-3};
    CHECK_INT(gsh_decide(&slow).reason, GSH_REASON_NO_GAIN);
}

/* However often the data is used, leaving it first costs at most as much again as moving it at
 * once. */
static void check_rent_or_buy(void)
{
    struct gsh_facts facts = {.host = 1e-3, .device = 1e-5, .upload = 5e-3};
    double lost = 0;
    int calls = 0;
    for (; gsh_decide(&facts).reason == GSH_REASON_DATA_ON_HOST; calls++) {
        lost += gsh_decide(&facts).gain;
        facts.debt = lost;
    }
    CHECK(calls > 1);
    CHECK(lost <= facts.upload);
}

/* A fetch that an upload undoes at once makes the next one twice as dear in rent; one after which the data is of use to the host
 * does not. */
static void check_undone(void)
{
    struct gsh_ledger ledger = {0};
    for (unsigned times = 0; times < 4; times++) {
        gsh_ledger_note_rented(&ledger, 1e-3);
        double left = gsh_ledger_download_price(&ledger, 1e-3), paid = 1e-3 / (1 << times);
        CHECK(left > 0.999e-3 - paid && left < 1.001e-3 - paid);
        gsh_ledger_note_fetched(&ledger, 1e-3);
        gsh_ledger_note_uploaded(&ledger, 1e-3);
        gsh_ledger_note_accepted(&ledger, 1);
    }
    gsh_ledger_note_fetched(&ledger, 1e-3);
    gsh_ledger_note_declined(&ledger, 2e-3);
    gsh_ledger_note_uploaded(&ledger, 1e-3);
    gsh_ledger_note_rented(&ledger, 1e-3);
    CHECK(gsh_ledger_download_price(&ledger, 1e-3) < 1e-9);
}

/* A loop over the parts of an array whose calls the CPU does sooner: the rent of all parts is at most twice that of the first. What is
 * written or uploaded is new. */
static void check_parts(void)
{
    struct gsh_ledger ledger = {0};
    double paid = 0;
    for (int part = 0; part < 100; part++) {
        for (; gsh_ledger_download_price(&ledger, 1e-3) > 0; paid += 1e-5)
            gsh_ledger_note_rented(&ledger, 1e-5);
        gsh_ledger_note_fetched(&ledger, 1e-3);
    }
    CHECK(paid > 1e-3 && paid < 3.1e-3); /* one call of 1e-5 for each part that costs less */
    gsh_ledger_note_uploaded(&ledger, 1e-3);
    CHECK(gsh_ledger_download_price(&ledger, 1e-3) == 1e-3);
}

/* However often the CPU would do a call sooner, leaving its data on the device first costs at most as much again as
 * fetching it at once. */
static void check_rent(void)
{
    struct gsh_ledger ledger = {0};
    struct gsh_facts facts = {.host = 1e-5, .device = 3e-5, .download = 1e-3};
    double lost = 0;
    for (; gsh_decide(&facts).reason == GSH_REASON_NONE && lost < 1; lost += 2e-5) {
        gsh_ledger_note_rented(&ledger, gsh_decide_loss(&facts));
        facts.download = gsh_ledger_download_price(&ledger, 1e-3);
    }
    CHECK(lost > 0 && lost <= 1e-3);
    gsh_ledger_note_fetched(&ledger, 1e-3);
    gsh_ledger_note_written(&ledger);
    CHECK(gsh_ledger_download_price(&ledger, 1e-3) == 1e-3);
    gsh_ledger_note_rented(&ledger, 1e-4);
    gsh_ledger_note_rented(&ledger, -1); /* a call that wins */
    CHECK(ledger.rent < 1e-9 && !gsh_ledger_is_unused(&ledger));
    check_undone();
    check_parts();
}

/* Data that keeps being written on the host after an upload is moved less and less often. */
static void check_back_off(void)
{
    struct gsh_ledger ledger = {0};
    int uploads = 0;
    for (int call = 0; call < 1000; call++) {
        struct gsh_facts facts = {.host = 1e-3,
                                  .device = 1e-5,
                                  .upload = gsh_ledger_asking_price(&ledger, 5e-3),
                                  .debt = ledger.debt};
        struct gsh_verdict verdict = gsh_decide(&facts);
        if (verdict.reason == GSH_REASON_NONE) {
            uploads++;
            gsh_ledger_note_uploaded(&ledger, 5e-3);
            gsh_ledger_note_accepted(&ledger, verdict.gain);
        } else {
            gsh_ledger_note_declined(&ledger, verdict.gain);
        }
    }
    CHECK(uploads >= 2 && uploads <= 10);
    gsh_ledger_note_declined(&ledger, 1);
    CHECK(ledger.debt > 0.9);
    gsh_ledger_note_settled(&ledger);
    CHECK(ledger.debt == 0);
    gsh_ledger_note_accepted(&ledger, 1);
    gsh_ledger_note_uploaded(&ledger, 5e-3);
    CHECK(gsh_ledger_asking_price(&ledger, 5e-3) == 5e-3);
}

int main(void)
{
    check_costs(gsh_cuda_backend.rates);
    check_costs(gsh_emu_backend.rates);
    check_shares(gsh_cuda_backend.rates);
    check_rule();
    check_rent_or_buy();
    check_rent();
    check_back_off();
    return check_result();
}
