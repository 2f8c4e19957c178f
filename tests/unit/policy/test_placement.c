/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of the verdict for one call, over a grid of facts: it never sends a call to the device that loses there, and it
 * changes one way only as a fact grows. And of what operands add to the facts.
 */
#include "backend.h"
#include "check.h"
#include "operand_cost.h"

static const double seconds[] = {0, 1e-7, 3e-6, 2e-5, 4e-4, 5e-3, 0.3, 8};
enum { STEPS = GSH_COUNT(seconds) };

static struct gsh_facts facts_at(unsigned point)
{
    double at[6];
    for (unsigned k = 0; k < 6; k++, point /= STEPS)
        at[k] = seconds[point % STEPS];
    return (struct gsh_facts){at[0], at[1], at[2], at[3], at[4], at[5]};
}

static bool goes(struct gsh_facts facts)
{
    return gsh_decide(&facts).reason == GSH_REASON_NONE;
}

/* The device gets no call that it does not win, and no upload that neither the call nor what was lost before pays. */
static void check_no_loss(const struct gsh_facts *facts)
{
    struct gsh_verdict verdict = gsh_decide(facts);
    CHECK(verdict.gain == facts->host + facts->download - facts->device - facts->fetch);
    CHECK(!verdict.is_forced);
    if (verdict.reason == GSH_REASON_TOO_SMALL || verdict.reason == GSH_REASON_NO_GAIN)
        CHECK(verdict.gain <= 0);
    else if (verdict.reason == GSH_REASON_DATA_ON_HOST)
        CHECK(verdict.gain > 0 && verdict.gain + facts->debt <= facts->upload);
    else
        CHECK(verdict.gain > 0 && verdict.gain + facts->debt > facts->upload);
}

/* A dearer CPU, a larger debt or more data away never takes a call from the device; a dearer device, upload or fetch never gives
 * it one. */
static void check_directions(struct gsh_facts facts)
{
    double *const towards[] = {&facts.host, &facts.download, &facts.debt};
    double *const away[] = {&facts.device, &facts.upload, &facts.fetch};
    bool before = goes(facts);
    for (unsigned k = 0; k < 3; k++) {
        double kept = *towards[k];
        *towards[k] += 1e-3;
        CHECK(goes(facts) || !before);
        *towards[k] = kept;
        kept = *away[k];
        *away[k] += 1e-3;
        CHECK(before || !goes(facts));
        *away[k] = kept;
    }
}

static void check_options(void)
{
    struct gsh_verdict verdict;
    struct gsh_override none = {.minimum = -1, .size = 1e12},
                        force = {.sends_all = true, .minimum = 5};
    CHECK(!gsh_decide_by_options(&none, &verdict));
    CHECK(gsh_decide_by_options(&force, &verdict));
    CHECK(verdict.reason == GSH_REASON_NONE && verdict.is_forced);
    for (int64_t size = 0; size < 10; size++) {
        struct gsh_override minimum = {.minimum = 5, .size = (double)size};
        CHECK(gsh_decide_by_options(&minimum, &verdict));
        CHECK_INT(verdict.reason, size >= 5 ? GSH_REASON_NONE : GSH_REASON_TOO_SMALL);
        CHECK_INT(verdict.is_forced, size >= 5);
    }
}

/* ---- operands ---- */

static struct gsh_facts add(struct gsh_operand_facts operand)
{
    struct gsh_facts facts = {0};
    gsh_operand_cost_add(gsh_cuda_backend.rates, &operand, &facts);
    return facts;
}

static void check_blocks(void)
{
    struct gsh_ledger ledger = {0};
    struct gsh_operand_facts block = {
        .place = GSH_OPERAND_BLOCK, .missing = 1e6, .away = 2e6, .ledger = &ledger};
    struct gsh_facts facts = add(block);
    CHECK(facts.upload > 0 && facts.download > facts.upload && facts.fetch == 0);
    ledger.debt = 2;
    ledger.back_off = 3;
    CHECK(add(block).upload == 8 * facts.upload && add(block).debt == 2);
    block.expected = 5e5; /* half of it counts as there */
    CHECK(add(block).upload > 0 && add(block).upload < 8 * facts.upload && add(block).debt == 2);
    block.expected = block.missing;
    CHECK(add(block).upload == 0 && add(block).debt == 0 && add(block).download == facts.download);
    block.expected = 0;
    block.is_pinned = true;
    CHECK(add(block).upload < 8 * facts.upload);
    facts = add(block);
    ledger.rent = facts.download / 2;
    CHECK(add(block).download < facts.download && add(block).download > 0);
    ledger.rent = 2 * facts.download;
    CHECK(add(block).download == 0);
    block.missing = 0; /* nothing moves there, so nothing is owed */
    CHECK(add(block).upload == 0 && add(block).debt == 0);
}

static void check_unmanaged(void)
{
    struct gsh_operand_facts unmanaged = {.place = GSH_OPERAND_UNMANAGED, .bytes = 1e6};
    CHECK(add(unmanaged).upload == 0 && add(unmanaged).fetch == 0);
    unmanaged.is_read = true;
    double upload = add(unmanaged).upload;
    CHECK(upload > 0 && add(unmanaged).fetch == 0);
    unmanaged.is_written = true;
    CHECK(add(unmanaged).upload == upload && add(unmanaged).fetch == upload);
    unmanaged.is_temporary = true;
    CHECK(add(unmanaged).upload > upload);
}

static void check_results(void)
{
    struct gsh_facts facts = {0};
    gsh_operand_cost_add_results(gsh_cuda_backend.rates, 1e6, 0, &facts);
    CHECK(facts.fetch == 0);
    gsh_operand_cost_add_results(gsh_cuda_backend.rates, 1e6, 0.5, &facts);
    CHECK(facts.fetch == 0.5 * gsh_cost_model_transfer(gsh_cuda_backend.rates, 1e6, true, false));
}

/* ---- the cost of work ---- */

/* More work is dearer on either side, and from some size on the device is the cheaper side. */
static void check_work(struct gsh_work work)
{
    const struct gsh_rates *rates = gsh_cuda_backend.rates;
    double host = 0, device = 0;
    bool was_cheaper = false;
    for (double size = 1; size < 1e12; size *= 10) {
        work.bytes = work.near = 8 * size;
        work.elements = size;
        work.flops = 100 * size;
        double on_host = gsh_cost_model_host_work(rates, &work),
               on_device = gsh_cost_model_device_work(rates, &work);
        CHECK(on_host > host && on_device > device);
        CHECK(!was_cheaper || on_device < on_host);
        was_cheaper = on_device < on_host;
        host = on_host;
        device = on_device;
    }
    CHECK(was_cheaper);
}

/* ---- operands of loops ---- */

static struct gsh_work add_loop_operand(double elements, double distinct, double step, double span,
                                        bool is_written)
{
    const struct gsh_loop_operand operand = {elements, distinct, 8, step, span, is_written};
    struct gsh_work work = {0};
    gsh_cost_model_add_operand(gsh_cuda_backend.rates, &operand, &work);
    return work;
}

static void check_bytes(struct gsh_work work, double near, double far, double device)
{
    CHECK(work.near == near && work.far == far && work.bytes == device);
}

/* Of 1000 float64: dense, apart, further apart than a line, written, in the cache, broadcast. */
static void check_steps(void)
{
    const double beyond = 2 * gsh_cuda_backend.rates->host_cache_bytes;
    check_bytes(add_loop_operand(1000, 1000, 8, beyond, false), 8000, 0, 8000);
    check_bytes(add_loop_operand(1000, 1000, 16, beyond, false), 0, 16000, 16000);
    check_bytes(add_loop_operand(1000, 1000, 800, beyond, false), 0, 64000, 32000);
    check_bytes(add_loop_operand(1000, 1000, 800, beyond, true), 0, 128000, 32000);
    check_bytes(add_loop_operand(1000, 1000, 800, 8e5, false), 8000, 0, 32000);
    check_bytes(add_loop_operand(1000, 1, 0, 8, false), 8000, 0, 8000);
    check_bytes(add_loop_operand(1000, 10, 800, beyond, false), 8000, 0, 8000);
    const struct gsh_work rows = {.rows = 1e6}, none = {.rows = 0};
    CHECK(gsh_cost_model_host_work(gsh_cuda_backend.rates, &rows) >
          gsh_cost_model_host_work(gsh_cuda_backend.rates, &none) + 5e-3);
    const struct gsh_work lines = {.far = 64e6}, elements = {.near = 8e6};
    CHECK(gsh_cost_model_host_work(gsh_cuda_backend.rates, &lines) >
          7 * gsh_cost_model_host_work(gsh_cuda_backend.rates, &elements));
}

static void check_rematerialise_inputs(void)
{
    const struct gsh_rates rates = {.device_memory = 1e9, .device_cores = 10};
    CHECK(gsh_cost_model_moving(&rates, 1e9) == 1 && gsh_cost_model_computing(&rates, 1e10) == 1);
    CHECK(gsh_cost_model_start(gsh_cuda_backend.rates, -1) == gsh_cuda_backend.rates->start);
    CHECK(gsh_cost_model_start(gsh_cuda_backend.rates, 20) == 20e-3);
}

int main(void)
{
    unsigned points = STEPS * STEPS * STEPS * STEPS * STEPS * STEPS;
    for (unsigned point = 0; point < points; point++) {
        const struct gsh_facts facts = facts_at(point);
        check_no_loss(&facts);
        check_directions(facts);
    }
    check_options();
    check_blocks();
    check_unmanaged();
    check_results();
    check_work((struct gsh_work){.kind = GSH_WORK_LOOP, .host_ns = 1});
    check_work((struct gsh_work){.kind = GSH_WORK_PRODUCT, .host_share = 1, .device_share = 1});
    check_work((struct gsh_work){.kind = GSH_WORK_PRODUCT,
                                 .is_double = true,
                                 .host_share = 0.1,
                                 .device_share = 0.05,
                                 .columns = 10,
                                 .device_column = 1e-5});
    check_work((struct gsh_work){.kind = GSH_WORK_PLAIN_PRODUCT});
    check_work((struct gsh_work){.kind = GSH_WORK_TRANSFORM});
    check_work((struct gsh_work){.kind = GSH_WORK_DRAW});
    check_steps();
    check_rematerialise_inputs();
    return check_result();
}
