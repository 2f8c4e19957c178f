/* SPDX-License-Identifier: Apache-2.0
 *
 * An event's place is claimed by a counter, filled, and marked as written. Pages are touched as they are filled.
 */
#include "trace.h"

#include "fmt.h"
#include "raw_syscall.h"

#include <sys/mman.h>
#include <sys/syscall.h>

_Atomic bool gsh_trace_is_on;
_Thread_local const char *gsh_trace_why, *gsh_trace_of;
char gsh_trace_group[GSH_TRACE_TEXT];

static struct gsh_trace_event *slots;
static uint64_t capacity;
static _Atomic uint64_t claimed, short_calls, short_ns;
static atomic_uint threads;
static _Thread_local unsigned own_thread; /* 0: no event yet */

bool gsh_trace_start(uint64_t events)
{
    void *memory = mmap(NULL, events * sizeof(struct gsh_trace_event), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    slots = memory;
    capacity = events;
    gsh_trace_is_on = true;
    return true;
}

void gsh_trace_stop_sigsafe(void)
{
    gsh_trace_is_on = false;
}

void gsh_trace_clear_after_fork(void)
{
    /* The pages are those of a new mapping again. */
    gsh_raw_syscall3(SYS_madvise, (long)slots, (long)(capacity * sizeof(struct gsh_trace_event)),
                     MADV_DONTNEED);
    atomic_store(&claimed, 0);
    atomic_store(&short_calls, 0);
    atomic_store(&short_ns, 0);
    atomic_store(&threads, 0);
    own_thread = 0;
}

static uint16_t thread_sigsafe(void)
{
    if (own_thread == 0)
        own_thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return (uint16_t)(GSH_MIN(own_thread, (unsigned)GSH_TRACE_THREADS) - 1);
}

static void fill_sigsafe(struct gsh_trace_event *event, const struct gsh_trace_facts *facts)
{
    event->bytes = facts->bytes;
    event->name = facts->name;
    event->why = facts->why;
    event->of = facts->of;
    event->row = facts->row;
    event->count = facts->count;
    event->thread = facts->track == GSH_TRACE_DEVICE ? 0 : thread_sigsafe();
    event->track = (uint8_t)facts->track;
    event->reason = (uint8_t)facts->reason;
    if (facts->text == NULL)
        return;
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, event->text, sizeof event->text);
    gsh_fmt_text_sigsafe(&fmt, facts->text);
}

static void put_sigsafe(uint64_t begin_ns, uint64_t end_ns, const struct gsh_trace_facts *facts)
{
    uint64_t index = atomic_fetch_add_explicit(&claimed, 1, memory_order_relaxed);
    if (index >= capacity)
        return;
    struct gsh_trace_event *event = &slots[index];
    event->begin_ns = begin_ns;
    event->end_ns = end_ns;
    fill_sigsafe(event, facts);
    __atomic_store_n(&event->is_written, true, __ATOMIC_RELEASE);
}

void gsh_trace_add_sigsafe(uint64_t begin_ns, const struct gsh_trace_facts *facts)
{
    uint64_t end_ns = gsh_clock_ns();
    if (facts->reason != 0 && end_ns - begin_ns < GSH_TRACE_SHORT_NS) {
        atomic_fetch_add_explicit(&short_calls, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&short_ns, end_ns - begin_ns, memory_order_relaxed);
        return;
    }
    put_sigsafe(begin_ns, end_ns, facts);
}

void gsh_trace_add_past(uint64_t begin_ns, uint64_t end_ns, const struct gsh_trace_facts *facts)
{
    if (gsh_trace_is_on)
        put_sigsafe(begin_ns, end_ns, facts);
}

void gsh_trace_memory(uint64_t bytes)
{
    if (GSH_LIKELY(!gsh_trace_is_on))
        return;
    uint64_t now = gsh_clock_ns();
    put_sigsafe(now, now, &(struct gsh_trace_facts){.track = GSH_TRACE_MEMORY, .bytes = bytes});
}

uint64_t gsh_trace_count(void)
{
    return GSH_MIN(atomic_load_explicit(&claimed, memory_order_relaxed), capacity);
}

bool gsh_trace_get(uint64_t index, const struct gsh_trace_event **event)
{
    *event = &slots[index];
    return __atomic_load_n(&slots[index].is_written, __ATOMIC_ACQUIRE);
}

uint64_t gsh_trace_dropped(void)
{
    uint64_t all = atomic_load_explicit(&claimed, memory_order_relaxed);
    return all - GSH_MIN(all, capacity);
}

uint64_t gsh_trace_short_calls(uint64_t *ns)
{
    *ns = atomic_load_explicit(&short_ns, memory_order_relaxed);
    return atomic_load_explicit(&short_calls, memory_order_relaxed);
}
