/* SPDX-License-Identifier: Apache-2.0
 *
 * On which stack gsh_stack_pool_run calls its body: the main thread's own while little of that is used, one of the deep
 * ones where much is, and in threads with small stacks; always in a critical section.
 */
#include "stack_pool.h"

#include "check.h"
#include "critical.h"

#include <pthread.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_STACK_POOL 0
#else
#define HAS_STACK_POOL 1
#endif

#define NEAR ((uintptr_t)64 << 10)
#define USED_BYTES ((size_t)64 << 10)

struct seen {
    uintptr_t at[2]; /* of a frame of the body, and of one that it calls so */
    bool is_inside;
};

static void note_nested(void *argument)
{
    struct seen *seen = argument;
    seen->at[1] = (uintptr_t)__builtin_frame_address(0);
}

static void note(void *argument)
{
    struct seen *seen = argument;
    seen->at[0] = (uintptr_t)__builtin_frame_address(0);
    seen->is_inside = gsh_critical_is_inside();
    gsh_stack_pool_run(note_nested, argument);
}

static uintptr_t apart(uintptr_t a, uintptr_t b)
{
    return a > b ? a - b : b - a;
}

static void check_from_here(bool is_deep)
{
    struct seen seen = {{0, 0}, false};
    gsh_stack_pool_run(note, &seen);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    CHECK((apart(seen.at[0], here) > NEAR) == (is_deep && HAS_STACK_POOL));
    CHECK(apart(seen.at[0], seen.at[1]) < NEAR);
    CHECK(seen.is_inside && !gsh_critical_is_inside());
}

/* With USED_BYTES more of the stack in use at each level, whose caller's are looked at: no compiler makes a loop of it. */
__attribute__((noinline)) static int use_stack(unsigned levels, const volatile char *callers)
{
    volatile char used[USED_BYTES];
    used[0] = used[USED_BYTES - 1] = *callers;
    if (levels == 0)
        check_from_here(true);
    else
        return use_stack(levels - 1, used) + used[0];
    return used[USED_BYTES - 1];
}

static void *thread_main(void *unused)
{
    check_from_here(true);
    return unused;
}

int main(void)
{
    pthread_t thread;
    gsh_stack_pool_init();
    check_from_here(false);
    CHECK(use_stack(48, &(const volatile char){1}) == 49); /* 3 MiB */
    check_from_here(false);
    CHECK(pthread_create(&thread, NULL, thread_main, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return check_result();
}
