/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are published as in stats.c: claimed by a counter, filled, and put into a hash table by one compare-and-swap.
 */
#include "line_profile.h"

#include "fmt.h"
#include "hash.h"
#include "readers.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS (2 * GSH_LINE_PROFILE_MAX_ROWS) /* a power of two */
#define ON_DEVICE 0x80000000U

struct call {
    _Atomic uint32_t operation; /* stats row, with ON_DEVICE; 0: free */
    _Atomic uint64_t calls;
};

struct row {
    char file[GSH_LINE_PROFILE_FILE];
    unsigned line;
#define X(member) _Atomic uint64_t member;
    GSH_LINE_PROFILE_COUNTERS(X)
#undef X
    _Atomic uint64_t largest_download; /* its bytes, and the reader in the bits below */
    _Atomic uint64_t reasons[GSH_STATS_MAX_REASONS], reason_ns[GSH_STATS_MAX_REASONS];
    struct call calls[GSH_LINE_PROFILE_CALLS];
};

bool gsh_line_profile_is_on;

static bool is_wanted, is_reported;
static unsigned (*find_line)(void), (*find_line_sigsafe)(void);
static struct row rows[GSH_LINE_PROFILE_MAX_ROWS]; /* row 0: no line, or no room for it */
static atomic_uint claimed = 1;
static _Atomic uint16_t slots[SLOTS]; /* index of a published row, or 0 */
static _Thread_local unsigned works_for;

void gsh_line_profile_want(bool in_report)
{
    is_wanted = true;
    is_reported |= in_report;
}

bool gsh_line_profile_is_wanted(void)
{
    return is_wanted;
}

bool gsh_line_profile_is_reported(void)
{
    return is_reported;
}

void gsh_line_profile_start(unsigned (*find)(void), unsigned (*find_sigsafe)(void))
{
    find_line = find;
    find_line_sigsafe = find_sigsafe;
    gsh_line_profile_is_on = true;
}

static unsigned find_none_sigsafe(void)
{
    return 0;
}

void gsh_line_profile_stop(void)
{
    find_line = find_line_sigsafe = find_none_sigsafe;
}

/* ---- rows ---- */

static const char *end_of_sigsafe(const char *file)
{
    size_t length = 0;
    while (file[length] != '\0')
        length++;
    return length < GSH_LINE_PROFILE_FILE ? file : file + length - (GSH_LINE_PROFILE_FILE - 1);
}

static uint64_t hash_sigsafe(const char *file, unsigned line)
{
    uint64_t hash = gsh_hash_add(GSH_HASH_BEGIN, line);
    for (; *file != '\0'; file++)
        hash = gsh_hash_add(hash, (unsigned char)*file);
    return gsh_hash_spread(hash);
}

static bool is_row_sigsafe(const struct row *row, const char *file, unsigned line)
{
    const char *own = row->file;
    while (*own != '\0' && *own == *file)
        own++, file++;
    return *own == *file && row->line == line;
}

static unsigned publish_sigsafe(const char *file, unsigned line, _Atomic uint16_t *slot)
{
    if (atomic_load_explicit(&claimed, memory_order_relaxed) >= GSH_LINE_PROFILE_MAX_ROWS)
        return 0;
    unsigned index = atomic_fetch_add_explicit(&claimed, 1, memory_order_relaxed);
    if (index >= GSH_LINE_PROFILE_MAX_ROWS)
        return 0;
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, rows[index].file, sizeof rows[index].file);
    gsh_fmt_text_sigsafe(&fmt, file);
    rows[index].line = line;
    uint16_t empty = 0;
    return atomic_compare_exchange_strong_explicit(slot, &empty, (uint16_t)index,
                                                   memory_order_release, memory_order_relaxed)
               ? index
               : atomic_load_explicit(slot, memory_order_acquire);
}

unsigned gsh_line_profile_row_sigsafe(const char *file, unsigned line)
{
    file = end_of_sigsafe(file);
    uint32_t probe = (uint32_t)hash_sigsafe(file, line);
    for (unsigned tries = 0; tries < SLOTS; probe++, tries++) {
        _Atomic uint16_t *slot = &slots[probe % SLOTS];
        unsigned index = atomic_load_explicit(slot, memory_order_acquire);
        if (index == 0)
            index = publish_sigsafe(file, line, slot);
        if (index == 0 || is_row_sigsafe(&rows[index], file, line))
            return index;
    }
    return 0;
}

/* ---- the thread's line ---- */

unsigned gsh_line_profile_here(void)
{
    if (!gsh_line_profile_is_on || works_for != 0)
        return works_for;
    return find_line();
}

unsigned gsh_line_profile_here_sigsafe(void)
{
    if (!gsh_line_profile_is_on || works_for != 0)
        return works_for;
    return find_line_sigsafe();
}

unsigned gsh_line_profile_swap_sigsafe(unsigned row)
{
    unsigned before = works_for;
    works_for = row;
    return before;
}

/* ---- events ---- */

static void add_sigsafe(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static void note_reader_sigsafe(struct row *row, uint64_t bytes, unsigned reader)
{
    uint64_t download = bytes * GSH_READERS_MAX + reader;
    uint64_t largest = atomic_load_explicit(&row->largest_download, memory_order_relaxed);
    while (largest < download &&
           !atomic_compare_exchange_weak_explicit(&row->largest_download, &largest, download,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void gsh_line_profile_count_sigsafe(enum gsh_counter counter, uint64_t amount, unsigned reader)
{
    if (counter > GSH_COUNTER_FAULTS_WRITE)
        return;
    struct row *row = &rows[gsh_line_profile_here_sigsafe()];
    if (counter == GSH_COUNTER_UPLOAD_BYTES) {
        add_sigsafe(&row->upload_bytes, amount);
        add_sigsafe(&row->uploads, 1);
    } else if (counter == GSH_COUNTER_DOWNLOAD_BYTES) {
        add_sigsafe(&row->download_bytes, amount);
        add_sigsafe(&row->downloads, 1);
        note_reader_sigsafe(row, amount, reader);
        add_sigsafe(&row->small_downloads, amount <= GSH_LINE_PROFILE_SMALL_BYTES);
    } else if (counter == GSH_COUNTER_FAULTS_READ) {
        add_sigsafe(&row->faults_read, amount);
    } else if (counter == GSH_COUNTER_FAULTS_WRITE) {
        add_sigsafe(&row->faults_write, amount);
    }
}

/* So many calls more of the operation; of those that find no room nothing is kept. */
static void note_call(struct row *row, uint32_t operation, unsigned calls)
{
    for (unsigned i = 0; i < GSH_LINE_PROFILE_CALLS; i++) {
        struct call *call = &row->calls[i];
        uint32_t seen = atomic_load_explicit(&call->operation, memory_order_relaxed);
        if (seen == 0 &&
            atomic_compare_exchange_strong_explicit(&call->operation, &seen, operation,
                                                    memory_order_relaxed, memory_order_relaxed))
            seen = operation;
        if (seen != operation)
            continue;
        add_sigsafe(&call->calls, calls);
        return;
    }
}

void gsh_line_profile_device_call(unsigned operation)
{
    struct row *row = &rows[gsh_line_profile_here()];
    add_sigsafe(&row->device_calls, 1);
    note_call(row, operation | ON_DEVICE, 1);
}

void gsh_line_profile_device_time(uint64_t ns)
{
    add_sigsafe(&rows[gsh_line_profile_here()].device_ns, ns);
}

void gsh_line_profile_host_call(unsigned operation, unsigned reason, unsigned calls, uint64_t ns)
{
    struct row *row = &rows[gsh_line_profile_here()];
    unsigned kept = GSH_MIN(reason, GSH_STATS_MAX_REASONS - 1);
    add_sigsafe(&row->host_calls, calls);
    add_sigsafe(&row->host_ns, ns);
    add_sigsafe(&row->reasons[kept], calls);
    add_sigsafe(&row->reason_ns[kept], ns);
    note_call(row, operation, calls);
}

/* ---- reading ---- */

unsigned gsh_line_profile_count(void)
{
    return GSH_MIN(atomic_load_explicit(&claimed, memory_order_relaxed),
                   (unsigned)GSH_LINE_PROFILE_MAX_ROWS);
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static struct gsh_line_profile_call get_call(struct call *call)
{
    uint32_t operation = atomic_load_explicit(&call->operation, memory_order_relaxed);
    return (struct gsh_line_profile_call){operation & ~ON_DEVICE, (operation & ON_DEVICE) != 0,
                                          get(&call->calls)};
}

bool gsh_line_profile_get(unsigned index, struct gsh_line_profile_copy *copy)
{
    if (index >= gsh_line_profile_count())
        return false;
    struct row *row = &rows[index];
    *copy = (struct gsh_line_profile_copy){.file = index == 0 ? "(no line)" : row->file,
                                           .line = row->line,
#define X(member) .member = get(&row->member),
                                           GSH_LINE_PROFILE_COUNTERS(X)
#undef X
    };
    copy->reader = (unsigned)(get(&row->largest_download) % GSH_READERS_MAX);
    for (size_t i = 0; i < GSH_STATS_MAX_REASONS; i++) {
        copy->reasons[i] = get(&row->reasons[i]);
        copy->reason_ns[i] = get(&row->reason_ns[i]);
    }
    for (size_t i = 0; i < GSH_LINE_PROFILE_CALLS; i++)
        copy->calls[i] = get_call(&row->calls[i]);
    return copy->device_calls + copy->host_calls + copy->device_ns + copy->uploads +
               copy->downloads + copy->faults_read + copy->faults_write !=
           0;
}

static void forget_row_after_fork(struct row *row)
{
#define X(member) atomic_store_explicit(&row->member, 0, memory_order_relaxed);
    GSH_LINE_PROFILE_COUNTERS(X)
#undef X
    atomic_store_explicit(&row->largest_download, 0, memory_order_relaxed);
    for (size_t i = 0; i < GSH_STATS_MAX_REASONS; i++) {
        atomic_store_explicit(&row->reasons[i], 0, memory_order_relaxed);
        atomic_store_explicit(&row->reason_ns[i], 0, memory_order_relaxed);
    }
    for (size_t i = 0; i < GSH_LINE_PROFILE_CALLS; i++) {
        atomic_store_explicit(&row->calls[i].calls, 0, memory_order_relaxed);
        atomic_store_explicit(&row->calls[i].operation, 0, memory_order_relaxed);
    }
}

void gsh_line_profile_forget_after_fork(void)
{
    unsigned end = atomic_load_explicit(&claimed, memory_order_relaxed);
    for (unsigned i = 0; i < GSH_MIN(end, (unsigned)GSH_LINE_PROFILE_MAX_ROWS); i++)
        forget_row_after_fork(&rows[i]);
}
