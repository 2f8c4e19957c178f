/* SPDX-License-Identifier: Apache-2.0
 *
 * Page faults between closed pages on a thread's alternate stack of 8 KiB. All kinds of faults fit,
 * with the CPU's widest registers in use, and they use less stack than sigaltstack requires. A
 * smaller stack is refused. The file under test is included.
 */
#include "libc_real.c"  // NOLINT(bugprone-suspicious-include)
#include "libc_stack.c" // NOLINT(bugprone-suspicious-include)

#include "check.h"
#include "live.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define COUNT 4096
#define PAGE 4096
#define STACK_BYTES ((size_t)8192)
#define MARK 0x5a

static double *ones, *memory;

static void offload_memory(double value)
{
    CHECK_INT(live_add(ones, NULL, value - 1, memory, COUNT), GSH_REASON_NONE);
}

static char *make_stack(void)
{
    char *range = mmap(NULL, STACK_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED || mprotect(range + PAGE, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    memset(range + PAGE, MARK, STACK_BYTES);
    return range + PAGE;
}

static size_t used_of(const char *stack)
{
    size_t untouched = 0;
    while (untouched < STACK_BYTES && stack[untouched] == MARK)
        untouched++;
    return STACK_BYTES - untouched;
}

/* With vector registers in use, which the kernel saves. */
static double touch(volatile double *place, bool write)
{
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile("vpternlogd $0xff, %%zmm17, %%zmm17, %%zmm17" ::: "memory");
    if (write)
        place[5] = 7;
    return place[COUNT - 1];
}

static void *fault(void *unused)
{
    char *memory_of_stack = make_stack();
    stack_t stack = {.ss_sp = memory_of_stack, .ss_size = STACK_BYTES},
            none = {.ss_flags = SS_DISABLE};
    CHECK(memory_of_stack != NULL);
    CHECK_INT(entry_sigaltstack(&stack, NULL), 0);
    offload_memory(3);
    CHECK(touch(memory, false) == 3); /* download */
    CHECK(touch(memory, true) == 3);  /* of a shared page, opened */
    offload_memory(4);
    CHECK(touch(memory, true) == 4 && memory[5] == 7);
    CHECK_INT(entry_sigaltstack(&none, NULL), 0);
    size_t used = used_of(memory_of_stack);
    printf("%zu bytes of the stack used, %zu asked for\n", used, gsh_libc_stack_need());
    CHECK(used > 1024 && used <= gsh_libc_stack_need());
    return unused;
}

static void test_refusal(void)
{
    static char bytes[STACK_BYTES];
    stack_t stack = {.ss_sp = bytes, .ss_size = gsh_libc_stack_need() - 1}, old;
    CHECK_INT(entry_sigaltstack(&stack, NULL), -1);
    CHECK_INT(errno, ENOMEM);
    stack.ss_size = 100; /* the kernel's own refusal */
    CHECK_INT(entry_sigaltstack(&stack, NULL), -1);
    CHECK_INT(errno, ENOMEM);
    CHECK_INT(entry_sigaltstack(NULL, &old), 0);
    gsh_libc_stack_resolve(false);
    stack.ss_size = gsh_libc_stack_need() - 1;
    CHECK_INT(entry_sigaltstack(&stack, NULL), 0);
    stack.ss_flags = SS_DISABLE;
    CHECK_INT(entry_sigaltstack(&stack, NULL), 0);
    gsh_libc_stack_resolve(true);
}

int main(void)
{
    gsh_libc_stack_resolve(true);
    if (!live_start())
        return CHECK_SKIP;
    CHECK(gsh_libc_stack_need() <= STACK_BYTES);
    ones = live_doubles(COUNT, GSH_ARENA_HOST);
    memory = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int k = 0; k < COUNT; k++)
        ones[k] = 1;
    test_refusal();
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, fault, NULL), 0);
    pthread_join(thread, NULL);
    return live_end();
}
