/* SPDX-License-Identifier: Apache-2.0
 *
 * All stacks lie in one mapping, each above a guard page. A thread takes the first free one, so that few are ever
 * touched. The main thread takes none while little of its own stack is in use. Sanitizers keep shadow memory of
 * stacks; with them no stack is switched.
 */
#include "stack_pool.h"

#include "critical.h"
#include "forked.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define STACKS 16
/* The least size of the main thread's stack. Arguments and environment may take a quarter of it: execve(2). */
#define MAIN_STACK_BYTES ((size_t)8 << 20)
/* The main thread runs on its own stack up to this use, which leaves about half of it. */
#define ROOMY_BYTES ((size_t)2 << 20)
#define GUARD_BYTES 4096

/* stack_pool_entry.S: body(argument) with the stack pointer at `top`, which is a multiple of 16. */
void gsh_stack_pool_entry(void *top, void (*body)(void *argument), void *argument);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* The highest address of the main thread's stack. */
extern void *__libc_stack_end __attribute__((weak));

static char *stacks;    /* NULL: none */
static uintptr_t roomy; /* ROOMY_BYTES from here on are the main thread's stack; 0: not known */
static _Atomic bool in_use[STACKS];
static _Thread_local bool is_on_one;

static int take(void)
{
    for (int k = 0; k < STACKS; k++)
        if (!atomic_load_explicit(&in_use[k], memory_order_relaxed) &&
            !atomic_exchange_explicit(&in_use[k], true, memory_order_acquire))
            return k;
    return -1;
}

/* In a forked child: frees the stacks of the parent's other threads. */
static void free_all_after_fork(void)
{
    for (int k = 0; k < STACKS; k++)
        atomic_store(&in_use[k], false);
}

static void find_roomy(void)
{
    struct rlimit limit;
    if (&__libc_stack_end != NULL && getrlimit(RLIMIT_STACK, &limit) == 0 &&
        limit.rlim_cur >= MAIN_STACK_BYTES)
        roomy = (uintptr_t)__libc_stack_end - ROOMY_BYTES;
}

void gsh_stack_pool_init(void)
{
    if (stacks != NULL || IS_SANITIZED)
        return;
    char *range = mmap(NULL, STACKS * GSH_STACK_POOL_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (range == MAP_FAILED)
        return;
    for (size_t k = 0; k < STACKS; k++)
        mprotect(range + k * GSH_STACK_POOL_BYTES, GUARD_BYTES, PROT_NONE);
    gsh_forked_add(NULL, NULL, free_all_after_fork);
    stacks = range;
    find_roomy();
}

static bool has_room(void)
{
    return roomy != 0 && (uintptr_t)__builtin_frame_address(0) - roomy < ROOMY_BYTES;
}

void gsh_stack_pool_run(void (*body)(void *argument), void *argument)
{
    gsh_critical_enter();
    int taken = has_room() || stacks == NULL || is_on_one ? -1 : take();
    if (taken < 0) {
        body(argument);
    } else {
        is_on_one = true;
        gsh_stack_pool_entry(stacks + ((size_t)taken + 1) * GSH_STACK_POOL_BYTES, body, argument);
        is_on_one = false;
        atomic_store_explicit(&in_use[taken], false, memory_order_release);
    }
    gsh_critical_leave();
}
