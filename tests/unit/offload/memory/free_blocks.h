/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the arena that are made and freed, and a thread that gives the pages of free blocks back meanwhile.
 */
#pragma once

#include "arena_internal.h"
#include "check.h"
#include "clock.h"
#include "idle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define KIB ((size_t)1 << 10)

enum { MOST_MADE = 512 };

/* An array whose pages have been touched. */
static inline char *make(size_t size)
{
    char *bytes = gsh_arena_allocate(size, GSH_ARENA_HOST);
    if (CHECK(bytes != NULL))
        memset(bytes, 1, size);
    return bytes;
}

/* `count` of them at a time, up to MOST_MADE. */
static inline void make_together(size_t size, size_t count)
{
    char *made[MOST_MADE];
    for (size_t k = 0; k < count; k++)
        made[k] = make(size);
    for (size_t k = 0; k < count; k++)
        gsh_arena_free(made[k]);
}

static _Atomic bool giving_back_is_over;

static void *give_back(void *unused)
{
    while (!atomic_load(&giving_back_is_over))
        gsh_idle_trim_host(0);
    return unused;
}

/* Calls `work` again and again for 0.3 s, while another thread gives the pages of free blocks back. */
static inline void work_beside_giving_back(void (*work)(void))
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, give_back, NULL), 0);
    for (uint64_t end = gsh_clock_ns() + 300000000; gsh_clock_ns() < end;)
        work();
    atomic_store(&giving_back_is_over, true);
    pthread_join(thread, NULL);
}
