/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes, elements and residency of a call, turned into the seconds of the cost model.
 */
#include "price.h"

#include "arena_internal.h"
#include "backend.h"
#include "cost_model.h"
#include "history.h"
#include "host_pace.h"
#include "options.h"

static const struct gsh_rates *rates(void)
{
    return gsh_backend_rates();
}

double gsh_price_start(void)
{
    int64_t wanted = gsh_option_number(GSH_OPTION_START_MS);
    return wanted >= 0 ? (double)wanted * 1e-3 : rates()->start;
}

double gsh_price_moving(double bytes)
{
    return gsh_backend_get() != NULL ? bytes / rates()->device_memory : 0;
}

double gsh_price_computing(double host_ns)
{
    return gsh_backend_get() != NULL ? host_ns * 1e-9 / rates()->device_cores : 0;
}

/* Bytes between operand k's lowest and highest element, and its first. */
static double span(const struct gsh_launch *launch, unsigned k, uint64_t *first)
{
    int64_t low = 0, high = 0;
    gsh_launch_extent(launch, k, &low, &high);
    *first = launch->operands[k].address + (uint64_t)low;
    return (double)(high - low);
}

static double operand_bytes(const struct gsh_launch *launch, unsigned k)
{
    return (double)gsh_launch_output_elements(launch, k) *
           (double)gsh_dtype_size(launch->operands[k].dtype);
}

/* Where an operand has bytes that matter: constants, fresh outputs and blocks that are overwritten as a whole have none. */
struct use {
    struct gsh_block *block; /* NULL: in none */
    bool is_foreign;         /* in memory that no block holds */
    bool is_overwritten;     /* without gaps, and not read before */
    uint64_t first;          /* address of the lowest byte */
    double bytes;            /* from there to the highest */
};

static struct use use_of(const struct gsh_call *call, unsigned k)
{
    const struct gsh_launch *launch = &call->launch;
    const struct gsh_operand *operand = &launch->operands[k];
    bool is_output = gsh_launch_is_output(launch, k);
    struct use use = {0};
    if (operand->is_constant || operand->address == 0 ||
        (is_output && call->fresh[k - launch->nin]))
        return use;
    use.bytes = span(launch, k, &use.first);
    use.block = gsh_arena_find_block((const void *)use.first);
    use.is_foreign = use.block == NULL;
    use.is_overwritten =
        is_output && !gsh_launch_reads_output(launch) && operand_bytes(launch, k) == use.bytes;
    if (use.bytes <= 0 ||
        (use.block != NULL && use.is_overwritten && use.bytes >= (double)use.block->size))
        use.block = NULL;
    return use;
}

/* Bytes of a block that only one side has: the device cannot compute without the ones that are missing, nor the CPU without
 * those that are away. */
struct gaps {
    double missing, away;
};

/* A chunk that is written as a whole need not be uploaded. */
static struct gaps find_gaps(const struct use *use)
{
    const struct gsh_block *block = use->block;
    struct gaps gaps = {0, 0};
    size_t begin = use->first - block->base, end = GSH_MIN(begin + (size_t)use->bytes, block->size);
    double chunk_bytes = (double)GSH_MIN((size_t)1 << block->chunk_shift, block->size);
    unsigned last = gsh_block_chunk(block, end - 1);
    for (unsigned chunk = gsh_block_chunk(block, begin); chunk <= last; chunk++) {
        bool is_whole = begin <= gsh_block_chunk_offset(block, chunk) &&
                        (end == block->size || end >= gsh_block_chunk_offset(block, chunk + 1));
        bool is_kept = !use->is_overwritten || !is_whole;
        enum gsh_chunk_state state = gsh_block_peek_state(block, chunk);
        gaps.missing += is_kept && state == GSH_CHUNK_HOST ? chunk_bytes : 0;
        gaps.away += state == GSH_CHUNK_DEVICE ? chunk_bytes : 0;
    }
    return gaps;
}

static void price_block(const struct use *use, struct gsh_facts *facts)
{
    const struct gsh_block *block = use->block;
    const struct gaps gaps = find_gaps(use);
    bool pinned = gsh_arena_is_registered(block, 0, block->size);
    facts->upload += gsh_ledger_asking_price(
        &block->ledger, gsh_cost_transfer(rates(), gaps.missing, pinned, block->large));
    facts->download += gsh_cost_transfer(rates(), gaps.away, pinned, false);
    if (gaps.missing > 0)
        facts->debt += block->ledger.debt;
}

/* Whether operand k's bytes, which are in no block, are those of an earlier input. */
static bool is_uploaded_before(const struct gsh_launch *launch, unsigned k, const struct use *use)
{
    bool is_same = false;
    for (unsigned j = 0; j < k && !is_same; j++) {
        uint64_t other = 0;
        is_same = !launch->operands[j].is_constant && span(launch, j, &other) == use->bytes &&
                  other == use->first;
    }
    return is_same;
}

static bool has_foreign_output(const struct gsh_launch *launch)
{
    bool is_foreign = false;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        uint64_t address = launch->operands[k].address;
        is_foreign |= address != 0 && !gsh_arena_contains((const void *)address);
    }
    return is_foreign;
}

/* Who wants results in memory of his own has mostly made it, and what is read there, for this one call. An output that is in
 * no block is fetched in any case. */
static void price_foreign(const struct gsh_launch *launch, unsigned k, const struct use *use,
                          struct gsh_facts *facts)
{
    double seconds = has_foreign_output(launch)
                         ? gsh_cost_foreign_transfer(rates(), use->bytes)
                         : gsh_cost_transfer(rates(), use->bytes, false, false);
    if (gsh_launch_is_output(launch, k)) {
        facts->fetch += seconds;
        facts->upload += gsh_launch_reads_output(launch) ? seconds : 0;
    } else if (!is_uploaded_before(launch, k, use)) {
        facts->upload += seconds;
    }
}

static void price_operand(const struct gsh_call *call, unsigned k, struct gsh_facts *facts)
{
    const struct use use = use_of(call, k);
    if (use.block != NULL)
        price_block(&use, facts);
    else if (use.is_foreign)
        price_foreign(&call->launch, k, &use, facts);
}

static double moved_bytes(const struct gsh_launch *launch)
{
    double elements = (double)gsh_launch_elements(launch);
    double bytes = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        bool is_result = k == launch->nin && launch->kind == GSH_LAUNCH_REDUCE;
        if (!launch->operands[k].is_constant && !is_result)
            bytes += elements * (double)gsh_dtype_size(launch->operands[k].dtype);
    }
    return bytes;
}

/* Bytes of all operands of a GEMM, LAPACK or FFT. */
static double batch_bytes(const struct gsh_launch *launch)
{
    double bytes = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        bytes += operand_bytes(launch, k);
    return bytes;
}

static bool is_double(const struct gsh_launch *launch)
{
    return launch->loop == GSH_FLOAT64 || launch->loop == GSH_COMPLEX128;
}

/* What is no BLAS's: NumPy multiplies integers, bools and float16 in a plain loop, the device in one of ours. Operations a
 * second. */
#define HOST_PLAIN_FLOPS 1e9
#define DEVICE_PLAIN_CORE_FLOPS 1e9
static void price_plain_product(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    double bytes = batch_bytes(launch), flops = gsh_launch_flops(launch);
    facts->host = gsh_cost_host(rates(), bytes, 0, 0) + flops / HOST_PLAIN_FLOPS;
    facts->device =
        gsh_cost_device(rates(), bytes) + flops / (DEVICE_PLAIN_CORE_FLOPS * rates()->device_cores);
}

static void price_product(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    double bytes = batch_bytes(launch), flops = gsh_launch_flops(launch);
    if (((GSH_SET_BOOL | GSH_SET_INTEGERS | 1u << GSH_FLOAT16) & 1u << launch->loop) != 0) {
        price_plain_product(launch, facts);
        return;
    }
    facts->host = gsh_cost_host_product(rates(), flops, bytes, is_double(launch));
    facts->device = gsh_cost_device_product(rates(), flops, bytes, is_double(launch));
}

/* Columns come one after another; the matrices of a batch side by side if they are many and small. */
static void price_routine(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(launch->lapack.routine);
    const int64_t *extent = launch->lapack.cores[0].extent;
    int64_t longest = GSH_MAX(extent[0], extent[1]), batch = gsh_launch_elements(launch);
    bool is_together = longest <= info->together && gsh_lapack_is_many(batch, longest);
    double columns = (double)GSH_MIN(extent[0], extent[1]) * (is_together ? 1 : (double)batch);
    double bytes = batch_bytes(launch), flops = gsh_launch_flops(launch);
    facts->host =
        gsh_cost_host_product(rates(), flops / info->host_share, bytes, is_double(launch));
    facts->device =
        gsh_cost_device_product(rates(), flops / info->device_share, bytes, is_double(launch)) +
        columns * info->device_column;
}

/* What a pass over the bytes takes, and on the host the arithmetic, of which pocketfft does about this much. */
#define HOST_TRANSFORM_FLOPS 3e9
static void price_transform(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    double bytes = batch_bytes(launch);
    facts->host =
        gsh_cost_host(rates(), bytes, 0, 0) + gsh_launch_flops(launch) / HOST_TRANSFORM_FLOPS;
    facts->device = gsh_cost_device(rates(), 2 * bytes);
}

static void price_loop(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    double bytes = moved_bytes(launch);
    double host_ns = launch->kind == GSH_LAUNCH_ELEMENTWISE ? gsh_op_info(launch->op)->host_ns
                     : launch->kind == GSH_LAUNCH_REDUCE    ? 0.2
                                                            : 1.0;
    facts->host = gsh_cost_host(rates(), bytes, (double)gsh_launch_elements(launch), host_ns);
    facts->device = gsh_cost_device(rates(), bytes);
}

static void price_work(const struct gsh_launch *launch, struct gsh_facts *facts)
{
    if (launch->kind == GSH_LAUNCH_GEMM)
        price_product(launch, facts);
    else if (launch->kind == GSH_LAUNCH_LAPACK)
        price_routine(launch, facts);
    else if (launch->kind == GSH_LAUNCH_FFT)
        price_transform(launch, facts);
    else
        price_loop(launch, facts);
}

/* Bytes of the outputs that stay on the device until the host looks at them. */
static double output_bytes(const struct gsh_launch *launch)
{
    double bytes = 0;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        uint64_t address = launch->operands[k].address;
        if (address == 0 || gsh_arena_contains((const void *)address))
            bytes += operand_bytes(launch, k);
    }
    return bytes;
}

/* The option that overrides the model for this class of operation, and the number it is compared
 * with. */
static int64_t class_minimum(const struct gsh_launch *launch, double *size)
{
    *size = gsh_launch_is_batch(launch) ? gsh_launch_flops(launch)
                                        : (double)gsh_launch_elements(launch);
    switch (launch->kind) {
    case GSH_LAUNCH_GEMM:
    case GSH_LAUNCH_LAPACK:
    case GSH_LAUNCH_FFT:
        return gsh_option_number(GSH_OPTION_MIN_FLOPS);
    case GSH_LAUNCH_REDUCE:
        return gsh_option_number(GSH_OPTION_MIN_REDUCE);
    case GSH_LAUNCH_ELEMENTWISE:
    case GSH_LAUNCH_SCAN:
    case GSH_LAUNCH_TAKE:
    case GSH_LAUNCH_PUT:
    case GSH_LAUNCH_COMPRESS:
    case GSH_LAUNCH_EXPAND:
        break;
    }
    return gsh_option_number(GSH_OPTION_MIN_ELEMENTS);
}

static struct gsh_facts gather(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    struct gsh_facts facts = {0};
    price_work(launch, &facts);
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        price_operand(call, k, &facts);
    double share = gsh_history_fetch_share(call->row);
    if (share > 0)
        facts.fetch += share * gsh_cost_transfer(rates(), output_bytes(launch), true, false);
    return facts;
}

struct gsh_verdict gsh_price_call(const struct gsh_call *call)
{
    double size = 0;
    int64_t minimum = class_minimum(&call->launch, &size);
    bool forced = gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_FORCE;
    if (forced || minimum >= 0) {
        bool accepted = forced || size >= (double)minimum;
        return (struct gsh_verdict){.reason = accepted ? GSH_REASON_NONE : GSH_REASON_TOO_SMALL,
                                    .is_asked = accepted};
    }
    struct gsh_facts facts = gather(call);
    double priced = facts.host;
    bool is_watched = gsh_backend_get()->watches_host;
    facts.host *= is_watched ? gsh_host_pace_factor(&call->launch, priced) : 1;
    struct gsh_verdict verdict = gsh_decide(&facts);
    verdict.watched = is_watched ? priced : 0;
    return verdict;
}

/* The blocks that a call uses, or of these only those that lack something on the device. */
static unsigned used_blocks(const struct gsh_call *call, bool only_missing,
                            struct gsh_block **blocks)
{
    unsigned count = 0;
    for (unsigned k = 0; k < gsh_launch_operands(&call->launch); k++) {
        const struct use use = use_of(call, k);
        if (use.block != NULL && (!only_missing || find_gaps(&use).missing > 0))
            blocks[count++] = use.block;
    }
    return count;
}

void gsh_price_note_declined(const struct gsh_call *call, double lost_seconds)
{
    struct gsh_block *blocks[GSH_MAX_OPERANDS];
    unsigned count = used_blocks(call, true, blocks);
    for (unsigned k = 0; k < count; k++)
        gsh_ledger_note_declined(&blocks[k]->ledger, lost_seconds / count);
}

void gsh_price_note_accepted(const struct gsh_call *call, double gained_seconds)
{
    struct gsh_block *blocks[GSH_MAX_OPERANDS];
    unsigned count = used_blocks(call, false, blocks);
    for (unsigned k = 0; k < count; k++)
        gsh_ledger_note_accepted(&blocks[k]->ledger, gained_seconds / count);
}

void gsh_price_note_uploaded(struct gsh_block *block, double bytes)
{
    bool pinned = gsh_arena_is_registered(block, 0, block->size);
    gsh_ledger_note_uploaded(&block->ledger, gsh_cost_transfer(rates(), bytes, pinned, false));
}

void gsh_price_note_fetched(struct gsh_block *block, double bytes)
{
    gsh_ledger_note_fetched(&block->ledger, gsh_cost_transfer(rates(), bytes, true, false));
}
