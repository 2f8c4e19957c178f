/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes, elements and residency of a call, for the functions of policy/ that turn them into seconds and a verdict.
 */
#include "price.h"

#include "arena_internal.h"
#include "backend.h"
#include "device.h"
#include "expected.h"
#include "history.h"
#include "host_calibration.h"
#include "host_threads.h"
#include "launch_work.h"
#include "observer.h"
#include "options.h"
#include "parallel_loop.h"
#include "plain_time.h"
#include "recent_uploads.h"
#include "small_call_trial.h"
#include "stats.h"
#include "wall_time.h"

static const struct gsh_rates *rates(void)
{
    return gsh_backend_rates();
}

double gsh_price_start(void)
{
    return gsh_cost_model_start(rates(), gsh_option_number(GSH_OPTION_START_MS));
}

/* Where an operand has bytes that matter: constants, fresh outputs and blocks that are overwritten as a whole have none. */
struct use {
    struct gsh_block *block; /* NULL: in none */
    struct gsh_block *home;  /* the same, where the block is overwritten as a whole, too */
    bool is_unmanaged;       /* in memory that no block holds */
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
    use.bytes = gsh_launch_work_span(launch, k, &use.first);
    use.home = use.block = gsh_arena_find_block((const void *)use.first);
    use.is_unmanaged = use.block == NULL;
    use.is_overwritten = is_output && !gsh_launch_reads_output(launch) &&
                         gsh_launch_work_bytes(launch, k) == use.bytes;
    if (use.bytes <= 0 ||
        (use.block != NULL && use.is_overwritten && use.bytes >= (double)use.block->size))
        use.block = NULL;
    return use;
}

/* Chunks of a block that only one side has, as bits: the device cannot compute without the ones that are missing, nor the CPU
 * without those that are away. */
struct gaps {
    const struct gsh_block *block;
    uint64_t missing, away;
};

/* Chunks first..last that the use overwrites as a whole, as bits. */
static uint64_t overwritten_chunks(const struct use *use, size_t begin, size_t end)
{
    const struct gsh_block *block = use->block;
    unsigned first = gsh_block_chunk(block, begin), last = gsh_block_chunk(block, end - 1);
    uint64_t chunks = gsh_block_chunk_bits(first, last);
    if (!use->is_overwritten)
        return 0;
    if (begin > gsh_block_chunk_offset(block, first))
        chunks &= ~gsh_block_chunk_bits(first, first);
    if (end != block->size && end < gsh_block_chunk_offset(block, last + 1))
        chunks &= ~gsh_block_chunk_bits(last, last);
    return chunks;
}

static uint64_t chunks_in_state(const struct gsh_block *block, uint64_t chunks,
                                enum gsh_chunk_state state)
{
    uint64_t found = 0;
    for (unsigned chunk = 0; chunk < block->chunks; chunk++)
        if (gsh_block_peek_state(block, chunk) == state)
            found |= chunks & gsh_block_chunk_bits(chunk, chunk);
    return found;
}

static double bytes_of_chunks(const struct gsh_block *block, uint64_t chunks)
{
    double chunk_bytes = (double)GSH_MIN((size_t)1 << block->chunk_shift, block->size);
    return (double)__builtin_popcountll(chunks) * chunk_bytes;
}

/* A chunk that is written as a whole need not be uploaded. */
static struct gaps find_gaps(const struct use *use)
{
    const struct gsh_block *block = use->block;
    size_t begin = use->first - block->base, end = GSH_MIN(begin + (size_t)use->bytes, block->size);
    if (begin >= end) /* a view may lie behind the contents */
        return (struct gaps){.block = block};
    uint64_t away = 0, missing = gsh_block_chunk_bits(gsh_block_chunk(block, begin),
                                                      gsh_block_chunk(block, end - 1));
    if (atomic_load_explicit(&block->resident, memory_order_relaxed) != 0) {
        away = chunks_in_state(block, missing, GSH_CHUNK_DEVICE);
        missing = chunks_in_state(block, missing, GSH_CHUNK_HOST);
    }
    missing &= ~overwritten_chunks(use, begin, end);
    return (struct gaps){.block = block, .missing = missing, .away = away};
}

/* Once the device is ready, only what is there counts. */
static double expected_bytes(const struct gaps *gaps)
{
    return gsh_device_get_state() != GSH_DEVICE_READY
               ? bytes_of_chunks(gaps->block, gaps->missing & gsh_expected_chunks(gaps->block))
               : 0;
}

static struct gsh_operand_facts facts_of_block(const struct gaps *gaps)
{
    const struct gsh_block *block = gaps->block;
    return (struct gsh_operand_facts){.place = GSH_OPERAND_BLOCK,
                                      .missing = bytes_of_chunks(block, gaps->missing),
                                      .expected = expected_bytes(gaps),
                                      .away = bytes_of_chunks(block, gaps->away),
                                      .is_pinned = gsh_arena_is_registered(block, 0, block->size),
                                      .is_pinnable = block->large,
                                      .ledger = &block->ledger};
}

/* Whether operand k's bytes, which are in no block, are those of an earlier input. */
static bool is_uploaded_before(const struct gsh_launch *launch, unsigned k, const struct use *use)
{
    bool is_same = false;
    for (unsigned j = 0; j < k && !is_same; j++) {
        uint64_t other = 0;
        is_same = !launch->operands[j].is_constant &&
                  gsh_launch_work_span(launch, j, &other) == use->bytes && other == use->first;
    }
    return is_same;
}

static bool has_unmanaged_output(const struct gsh_launch *launch)
{
    bool is_unmanaged = false;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        uint64_t address = launch->operands[k].address;
        is_unmanaged |= address != 0 && !gsh_arena_contains((const void *)address);
    }
    return is_unmanaged;
}

/* Whether the call must bring input k's bytes to the device. */
static bool is_uploaded(const struct gsh_launch *launch, unsigned k, const struct use *use)
{
    return !is_uploaded_before(launch, k, use) &&
           !gsh_recent_uploads_expects(use->first, (size_t)use->bytes);
}

/* An output that is in no block is fetched in any case. */
static struct gsh_operand_facts facts_of_unmanaged(const struct gsh_launch *launch, unsigned k,
                                                   const struct use *use)
{
    bool is_output = gsh_launch_is_output(launch, k);
    return (struct gsh_operand_facts){.place = GSH_OPERAND_UNMANAGED,
                                      .bytes = use->bytes,
                                      .is_read = is_output ? gsh_launch_reads_output(launch)
                                                           : is_uploaded(launch, k, use),
                                      .is_written = is_output,
                                      .is_temporary = has_unmanaged_output(launch)};
}

/* Bytes of the outputs that stay on the device until the host looks at them. */
static double output_bytes(const struct gsh_launch *launch)
{
    double bytes = 0;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        uint64_t address = launch->operands[k].address;
        if (address == 0 || gsh_arena_contains((const void *)address))
            bytes += gsh_launch_work_bytes(launch, k);
    }
    return bytes;
}

/* The option that overrides the model for this class of operation, and the number it is compared
 * with. */
static int64_t class_minimum(const struct gsh_launch *launch, double *size)
{
    bool is_batch = gsh_launch_is_batch(launch);
    *size = is_batch ? gsh_launch_flops(launch) : (double)gsh_launch_elements(launch);
    return gsh_option_number(is_batch                                    ? GSH_OPTION_MIN_FLOPS
                             : gsh_launch_has(launch, GSH_TRAIT_REDUCES) ? GSH_OPTION_MIN_REDUCE
                                                                         : GSH_OPTION_MIN_ELEMENTS);
}

static struct gsh_override options_of(const struct gsh_launch *launch)
{
    struct gsh_override options = {.sends_all =
                                       gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_FORCE};
    options.minimum = class_minimum(launch, &options.size);
    return options;
}

/* What the operands so far lack. */
struct lacks {
    struct gaps gaps[GSH_MAX_OPERANDS];
    unsigned count;
};

/* Views of one block lack a chunk once: x *= 2, x[1:] - x[:-1]. Whether it lacks something that no earlier operand does, or is the
 * first of its block. */
static bool add_gaps(struct lacks *lacks, struct gaps *gaps)
{
    bool is_first = true;
    for (unsigned i = 0; i < lacks->count; i++)
        if (lacks->gaps[i].block == gaps->block) {
            gaps->missing &= ~lacks->gaps[i].missing;
            gaps->away &= ~lacks->gaps[i].away;
            is_first = false;
        }
    lacks->gaps[lacks->count++] = *gaps;
    return is_first || (gaps->missing | gaps->away) != 0;
}

static void add_operand(const struct gsh_call *call, unsigned k, struct lacks *lacks,
                        struct gsh_call_cost *cost)
{
    const struct use use = use_of(call, k);
    if (use.block == NULL) {
        if (use.is_unmanaged)
            cost->operands[cost->count++] = facts_of_unmanaged(&call->launch, k, &use);
        return;
    }
    struct gaps gaps = find_gaps(&use);
    if (add_gaps(lacks, &gaps))
        cost->operands[cost->count++] = facts_of_block(&gaps);
}

_Static_assert((int)GSH_CALL_COST_OPERANDS >= (int)GSH_MAX_OPERANDS, "room for all operands");
void gsh_price_gather(const struct gsh_call *call, struct gsh_price_inputs *inputs)
{
    struct gsh_call_cost *cost = &inputs->cost;
    inputs->rates = rates();
    cost->work = gsh_launch_work(&call->launch);
    if (call->is_einsum && cost->work.kind == GSH_WORK_PRODUCT)
        cost->work.host_share = gsh_cost_model_einsum_share(rates(), cost->work.is_double);
    cost->host_factor = 1;
    cost->count = 0;
    struct lacks lacks = {.count = 0};
    for (unsigned k = 0; k < gsh_launch_operands(&call->launch); k++)
        add_operand(call, k, &lacks, cost);
    cost->result_share = gsh_history_ask_fetch_share(call->row);
    cost->result_bytes = cost->result_share > 0 ? output_bytes(&call->launch) : 0;
}

static bool has_casts(const struct gsh_launch *launch)
{
    bool has = false;
    for (unsigned k = 0; k < launch->nin; k++)
        has |= launch->operands[k].dtype != gsh_launch_input_dtype(launch, k);
    for (unsigned j = 0; j < launch->nout; j++)
        has |= launch->operands[launch->nin + j].dtype != gsh_launch_result_dtype(launch, j);
    return has;
}

/* Seconds on the CPU where several of its cores compute the launch, as interpose/ufunc/numpy_parallel.h does. */
static double share(const struct gsh_launch *launch, double seconds)
{
    bool is_ufunc =
        gsh_launch_has(launch, GSH_TRAIT_MAPS) && gsh_op_info(launch->op)->ufunc[0] != '\0';
    if (!is_ufunc || launch->has_mask || has_casts(launch))
        return seconds;
    unsigned threads = gsh_parallel_loop_threads(seconds, gsh_host_threads_count());
    return gsh_parallel_loop_shared(seconds, threads);
}

static double calibrated(const struct gsh_launch *launch, double modelled)
{
    return modelled * gsh_host_calibration_factor(launch, modelled);
}

/* Bytes of operands that one side lacks. */
static double find_one_sided(const struct gsh_call_cost *cost)
{
    double bytes = 0;
    for (unsigned k = 0; k < cost->count; k++)
        bytes += cost->operands[k].missing + cost->operands[k].away;
    return bytes;
}

struct gsh_verdict gsh_price_call(const struct gsh_call *call,
                                  const struct gsh_price_inputs *inputs)
{
    const struct gsh_override options = options_of(&call->launch);
    struct gsh_verdict verdict;
    if (gsh_decide_by_options(&options, &verdict))
        return verdict;
    struct gsh_price_inputs own;
    if (inputs == NULL) {
        gsh_price_gather(call, &own);
        inputs = &own;
    }
    struct gsh_facts facts = gsh_call_cost_facts(inputs->rates, &inputs->cost);
    double modelled = facts.host;
    bool is_calibrated = gsh_backend_get()->calibrates_host;
    if (is_calibrated)
        facts.host = share(&call->launch, calibrated(&call->launch, modelled));
    verdict = gsh_decide(&facts);
    verdict.modelled = is_calibrated ? modelled : 0;
    if (is_calibrated)
        gsh_small_call_trial_apply(&verdict, gsh_launch_elements(&call->launch),
                                   find_one_sided(&inputs->cost));
    return verdict;
}

/* Bytes of the call's new results that malloc would map. */
static double mapped_bytes(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    double bytes = 0;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        bool is_new = launch->operands[k].address == 0 || call->fresh[k - launch->nin];
        double each = is_new ? gsh_launch_work_bytes(launch, k) : 0;
        bytes += each >= GSH_PLAIN_TIME_MAPPED ? each : 0;
    }
    return bytes;
}

/* That NumPy alone takes. */
static double plain_seconds(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    struct gsh_plain_call plain = {.work = gsh_launch_work(launch),
                                   .mapped = mapped_bytes(call),
                                   .is_masked = gsh_launch_has(launch, GSH_TRAIT_MAPS) &&
                                                launch->op == GSH_OP_SELECT,
                                   .cores = gsh_host_threads_count()};
    if (gsh_backend_get()->calibrates_host)
        plain.measured =
            gsh_host_calibration_mean(launch, gsh_cost_model_host_work(rates(), &plain.work));
    return gsh_plain_time(rates(), &plain);
}

/* Bytes of the block that would be uploaded before the call. */
static double find_lacking(const struct use *use)
{
    const struct gaps gaps = find_gaps(use);
    return bytes_of_chunks(use->block, gaps.missing) - expected_bytes(&gaps);
}

static bool is_used(const struct use *use)
{
    return use->block != NULL;
}

static void share_loss(struct gsh_block **blocks, unsigned count, double lost_seconds)
{
    for (unsigned k = 0; k < count; k++)
        gsh_ledger_note_declined(&blocks[k]->ledger, lost_seconds / count);
}

void gsh_price_note_declined(const struct gsh_call *call, double lost_seconds)
{
    struct gsh_block *lacking[GSH_MAX_OPERANDS];
    unsigned count = 0;
    for (unsigned k = 0; k < gsh_launch_operands(&call->launch); k++) {
        const struct use use = use_of(call, k);
        if (is_used(&use) && find_lacking(&use) > 0)
            lacking[count++] = use.block;
    }
    share_loss(lacking, count, lost_seconds);
}

/* The chunks that the call may use of the block that holds the operand; false: there is none. */
static bool find_chunks(const struct use *use, unsigned *first, unsigned *last)
{
    if (use->home == NULL || use->bytes <= 0)
        return false;
    size_t begin = use->first - use->home->base,
           end = GSH_MIN(begin + (size_t)use->bytes, use->home->size);
    *first = gsh_block_chunk(use->home, begin);
    *last = gsh_block_chunk(use->home, end - 1);
    return begin < end;
}

static void expect_operand(const struct gsh_call *call, unsigned k, const struct use *use)
{
    unsigned first, last;
    if (find_chunks(use, &first, &last))
        gsh_expected_mark(use->home, first, last);
    else if (gsh_launch_is_output(&call->launch, k) && call->launch.operands[k].address == 0)
        gsh_expected_add_result((size_t)gsh_launch_work_bytes(&call->launch, k));
}

/* Marks are set when all is known that they would change. */
void gsh_price_note_foregone(const struct gsh_call *call, double lost_seconds)
{
    struct use uses[GSH_MAX_OPERANDS];
    struct gsh_block *used[GSH_MAX_OPERANDS];
    unsigned operands = gsh_launch_operands(&call->launch), count = 0;
    for (unsigned k = 0; k < operands; k++) {
        uses[k] = use_of(call, k);
        if (!is_used(&uses[k]))
            continue;
        used[count++] = uses[k].block;
        if (find_lacking(&uses[k]) > 0)
            gsh_ledger_note_settled(&uses[k].block->ledger);
    }
    share_loss(used, count, lost_seconds);
    for (unsigned k = 0; k < operands; k++)
        expect_operand(call, k, &uses[k]);
}

void gsh_price_note_host_result(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
        const struct use use = use_of(call, k);
        unsigned first, last;
        if (find_chunks(&use, &first, &last) && gsh_expected_clear(use.home, first, last))
            gsh_ledger_note_settled(&use.home->ledger);
    }
}

/* What the report and an observer are told. */
static void tell_accepted(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    if (gsh_stats_report_is_wanted())
        gsh_stats_add(gsh_wall_time_is_watched() ? GSH_COUNTER_DEVICE_WORK_NS
                                                 : GSH_COUNTER_OTHER_WORK_NS,
                      (uint64_t)(plain_seconds(call) * 1e9));
    if (GSH_UNLIKELY(gsh_observer != NULL))
        gsh_observer->accepted((uint64_t)(verdict->facts.host * 1e9));
}

/* The blocks of a call that the host lacks, and what downloading each would take. */
struct away {
    struct gsh_block *blocks[GSH_MAX_OPERANDS];
    double seconds[GSH_MAX_OPERANDS];
    bool is_unused[GSH_MAX_OPERANDS];
    unsigned count;
};

static void add_away(struct away *away, const struct use *use)
{
    double bytes = bytes_of_chunks(use->block, find_gaps(use).away);
    if (bytes <= 0)
        return;
    away->blocks[away->count] = use->block;
    away->seconds[away->count] = gsh_cost_model_transfer(rates(), bytes, true, false);
    away->is_unused[away->count++] = gsh_ledger_is_unused(&use->block->ledger);
}

/* What it saves block k that the others were not downloaded for this call. */
static double find_avoided(const struct away *away, unsigned k)
{
    double seconds = 0;
    for (unsigned j = 0; j < away->count; j++)
        if (away->blocks[j] != away->blocks[k] && away->is_unused[j])
            seconds += away->seconds[j];
    return seconds;
}

void gsh_price_note_accepted(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    tell_accepted(call, verdict);
    if (verdict->is_forced)
        return;
    struct gsh_block *used[GSH_MAX_OPERANDS];
    unsigned used_count = 0;
    struct away away = {.count = 0};
    for (unsigned k = 0; k < gsh_launch_operands(&call->launch); k++) {
        const struct use use = use_of(call, k);
        if (use.home != NULL && gsh_launch_is_output(&call->launch, k))
            gsh_ledger_note_written(&use.home->ledger);
        if (!is_used(&use))
            continue;
        used[used_count++] = use.block;
        add_away(&away, &use);
    }
    for (unsigned k = 0; k < used_count; k++)
        gsh_ledger_note_accepted(&used[k]->ledger, verdict->gain / used_count);
    double lost = gsh_decide_loss(&verdict->facts) / GSH_MAX(away.count, 1);
    for (unsigned k = 0; k < away.count; k++)
        gsh_ledger_note_rented(&away.blocks[k]->ledger, lost - find_avoided(&away, k));
}

void gsh_price_note_uploaded(struct gsh_block *block, double bytes)
{
    bool pinned = gsh_arena_is_registered(block, 0, block->size);
    gsh_ledger_note_uploaded(&block->ledger,
                             gsh_cost_model_transfer(rates(), bytes, pinned, false));
}

void gsh_price_note_fetched(struct gsh_block *block, double bytes)
{
    gsh_ledger_note_fetched(&block->ledger, gsh_cost_model_transfer(rates(), bytes, true, false));
}
