/* SPDX-License-Identifier: Apache-2.0
 *
 * The running part and its beginning are one atomic word, so that a switch is an exchange: threads and signal handlers that switch at
 * once lose no time and count none twice.
 */
#include "wall_time.h"

#include "base.h"
#include "clock.h"

#include <stdatomic.h>

enum { PART_BITS = 3 };
_Static_assert(GSH_WALL_PARTS <= 1 << PART_BITS, "a part fits");

enum role { OTHER, WATCHED, SERVANT };

static _Thread_local enum role role;
_Atomic bool gsh_wall_time_is_on;
static _Atomic bool is_waiting;
static uint64_t loaded_ns;
static _Atomic uint64_t running; /* ns at which it began << PART_BITS | part */
static _Atomic uint64_t spent_ns[GSH_WALL_PARTS];
static uint64_t given_at_ns; /* the program's, at the end of the last gsh_wall_time_give_cpu */

static enum gsh_wall_part part_of_sigsafe(uint64_t word)
{
    return (enum gsh_wall_part)(word & ((1U << PART_BITS) - 1));
}

static enum gsh_wall_part switch_sigsafe(enum gsh_wall_part part)
{
    uint64_t now = gsh_clock_ns();
    uint64_t before =
        atomic_exchange_explicit(&running, now << PART_BITS | (uint64_t)part, memory_order_relaxed);
    uint64_t begin = before >> PART_BITS;
    if (now > begin) /* not where another switch came in between */
        atomic_fetch_add_explicit(&spent_ns[part_of_sigsafe(before)], now - begin,
                                  memory_order_relaxed);
    return part_of_sigsafe(before);
}

void gsh_wall_time_note_load(void)
{
    loaded_ns = gsh_clock_ns();
}

void gsh_wall_time_begin(void)
{
    uint64_t begin = loaded_ns != 0 ? loaded_ns : gsh_clock_ns();
    role = WATCHED;
    atomic_store(&running, begin << PART_BITS | GSH_WALL_PROGRAM);
    atomic_store(&gsh_wall_time_is_on, true);
}

void gsh_wall_time_begin_after_fork(void)
{
    if (!atomic_load(&gsh_wall_time_is_on))
        return;
    for (unsigned part = 0; part < GSH_WALL_PARTS; part++)
        atomic_store(&spent_ns[part], 0);
    given_at_ns = 0;
    role = WATCHED;
    atomic_store(&is_waiting, false);
    atomic_store(&running, gsh_clock_ns() << PART_BITS | GSH_WALL_PROGRAM);
}

void gsh_wall_time_serve(void)
{
    role = SERVANT;
}

static bool may_switch_sigsafe(void)
{
    return role == WATCHED ||
           (role == SERVANT && atomic_load_explicit(&is_waiting, memory_order_relaxed));
}

int gsh_wall_time_switch_sigsafe(enum gsh_wall_part part)
{
    return may_switch_sigsafe() ? (int)switch_sigsafe(part) : -1;
}

void gsh_wall_time_wait_sigsafe(bool waits)
{
    if (role == WATCHED)
        atomic_store_explicit(&is_waiting, waits, memory_order_relaxed);
}

void gsh_wall_time_give_cpu(uint64_t ns)
{
    if (role != WATCHED)
        return;
    uint64_t program = atomic_load_explicit(&spent_ns[GSH_WALL_PROGRAM], memory_order_relaxed);
    ns = GSH_MIN(ns, program - given_at_ns);
    atomic_fetch_sub_explicit(&spent_ns[GSH_WALL_PROGRAM], ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&spent_ns[GSH_WALL_CPU], ns, memory_order_relaxed);
    given_at_ns = program - ns;
}

bool gsh_wall_time_is_watched(void)
{
    return role == WATCHED;
}

uint64_t gsh_wall_time_get(enum gsh_wall_part part)
{
    uint64_t ns = atomic_load_explicit(&spent_ns[part], memory_order_relaxed);
    uint64_t word = atomic_load_explicit(&running, memory_order_relaxed);
    uint64_t now = gsh_clock_ns(), begin = word >> PART_BITS;
    return word != 0 && part_of_sigsafe(word) == part && now > begin ? ns + now - begin : ns;
}
