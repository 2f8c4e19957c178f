/* SPDX-License-Identifier: Apache-2.0
 *
 * The program changes the pages of arrays itself. The pages first receive the newest bytes; later
 * calls see what is written afterwards; faults on pages that the program protects are its own;
 * memory that it maps there is never allocated again. The file under test is included, so that its
 * entry points can be called by name.
 */
#include "libc_memory.c" // NOLINT(bugprone-suspicious-include)
#include "libc_real.c"   // NOLINT(bugprone-suspicious-include)

#include "block.h"
#include "check.h"
#include "fault.h"
#include "live.h"
#include "raw_syscall.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL ((int64_t)1 << 17) /* doubles: 1 MiB, the zone of small pages */
#define LARGE                                                                                      \
    ((int64_t)3 << 18) /* 6 MiB: three chunks, cleared by advice when they are to be zero */
#define PAGE ((size_t)4096)
#define PAGE_ITEMS (PAGE / sizeof(double))

static double *made_on_device(int64_t count)
{
    double *from = live_doubles(count, GSH_ARENA_HOST);
    double *array = live_doubles(count, GSH_ARENA_DEVICE);
    for (int64_t k = 0; k < count; k++)
        from[k] = (double)k;
    CHECK_INT(live_add(from, NULL, 1, array, count), GSH_REASON_NONE);
    gsh_arena_free(from);
    CHECK_INT(gsh_coherence_residency(array), GSH_RESIDENT_DEVICE);
    return array;
}

/* Made on the device, read there and by the host since: its pages are read-only. */
static double *made_shared(int64_t count)
{
    double *array = made_on_device(count);
    gsh_coherence_fetch(array, (size_t)count * sizeof *array, false);
    CHECK_INT(gsh_coherence_residency(array), GSH_RESIDENT_SHARED);
    return array;
}

typedef double *maker(int64_t count);

static maker *const makers[] = {made_on_device, made_shared};
static const int64_t counts[] = {SMALL, LARGE};

#define FOR_EACH_ARRAY(array, count)                                                               \
    for (unsigned m = 0; m < GSH_COUNT(makers) * GSH_COUNT(counts); m++)                           \
        for (int64_t count = counts[m / 2], again = 1; again; again = 0)                           \
            for (double *array = makers[m % 2](count); array != NULL;                              \
                 gsh_arena_free(array), array = NULL)

/* The array has `value` at `place` for the host and for a call that reads it, wherever that runs. */
static int holds(const double *array, int64_t count, int64_t place, double value)
{
    double *sum = live_doubles(count, GSH_ARENA_DEVICE);
    enum gsh_reason why = live_add(array, NULL, 1, sum, count);
    bool right = array[place] == value &&
                 (why == GSH_REASON_NONE ? sum[place] == value + 1 : why == GSH_REASON_PINNED);
    gsh_arena_free(sum);
    return right;
}

static void test_protect(void)
{
    FOR_EACH_ARRAY(array, count)
    {
        CHECK_INT(entry_mprotect(array, PAGE, PROT_READ), 0);
        CHECK(array[3] == 4 && array[count - 1] == (double)count);
        CHECK_INT(entry_mprotect(array, PAGE, PROT_READ | PROT_WRITE), 0);
        array[3] = 100;
        CHECK(holds(array, count, 3, 100));
        array[3] = 200;
        CHECK(holds(array, count, 3, 200));
        CHECK(holds(array, count, count - 1, (double)count));
        CHECK_INT(gsh_coherence_residency(array), GSH_RESIDENT_HOST);
    }
}

static void test_discard(void)
{
    FOR_EACH_ARRAY(array, count)
    {
        CHECK_INT(entry_madvise(array, PAGE, MADV_DONTNEED), 0);
        CHECK(holds(array, count, 3, 0));
        CHECK(holds(array, count, (int64_t)PAGE_ITEMS, (double)PAGE_ITEMS + 1));
        CHECK_INT(entry_madvise(array, PAGE, MADV_HUGEPAGE), 0);
    }
}

static void test_populate(void)
{
    enum { MADV_POPULATE_READ_ = 22 };
    FOR_EACH_ARRAY(array, count)
    {
        CHECK(entry_madvise(array, PAGE, MADV_POPULATE_READ_) == 0 || errno == EINVAL);
        CHECK(holds(array, count, 3, 4));
    }
}

static void test_move(void)
{
    FOR_EACH_ARRAY(array, count)
    {
        const double *moved = entry_mremap(array, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
        CHECK(moved != MAP_FAILED && moved[3] == 4);
        CHECK(holds(array, count, 3, 0));
        CHECK(holds(array, count, count - 1, (double)count));
        munmap((void *)moved, PAGE);
    }
}

static void test_map_over(void)
{
    FOR_EACH_ARRAY(array, count)
    {
        CHECK(entry_mmap(array, PAGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == array);
        array[3] = 5;
        CHECK(holds(array, count, 3, 5));
        CHECK(holds(array, count, count - 1, (double)count));
    }
}

/* ---- the program's own faults ---- */

static double *barrier;
static volatile sig_atomic_t barrier_faults;

static void open_barrier(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if ((uintptr_t)info->si_addr - (uintptr_t)barrier >= PAGE)
        _exit(3);
    barrier_faults++;
    entry_mprotect(barrier, PAGE, PROT_READ | PROT_WRITE);
}

/* A write barrier: each first write to a page that it has made read-only reaches the program's handler. */
static void test_barrier(void)
{
    struct sigaction action = {.sa_sigaction = open_barrier, .sa_flags = SA_SIGINFO}, before;
    gsh_fault_swap_app_action_sigsafe(&action, &before);
    barrier_faults = 0;
    FOR_EACH_ARRAY(array, count)
    {
        barrier = array;
        for (int round = 1; round <= 3; round++) {
            CHECK_INT(entry_mprotect(array, PAGE, PROT_READ), 0);
            *(volatile double *)&array[3] = round;
            *(volatile double *)&array[4] = round;
            CHECK(holds(array, count, 3, round));
        }
    }
    CHECK_INT(barrier_faults, 3 * (int)(GSH_COUNT(makers) * GSH_COUNT(counts)));
    gsh_fault_swap_app_action_sigsafe(&before, NULL);
}

/* ---- after the block is freed ---- */

/* Of the blocks that are handed out next, none covers the address, and the host and the device can write all of each. */
static void check_not_handed_out(const double *address, int64_t count)
{
    enum { MANY = 6 };
    double *others[MANY];
    for (int k = 0; k < MANY; k++) {
        others[k] = k % 2 ? made_on_device(count) : live_doubles(count, GSH_ARENA_ZERO);
        CHECK(address == NULL || others[k] > address || others[k] + count <= address);
        CHECK(others[k][PAGE_ITEMS] == (k % 2 ? PAGE_ITEMS + 1.0 : 0.0));
        others[k][0] = others[k][count - 1] = 7;
    }
    for (int k = 0; k < MANY; k++)
        gsh_arena_free(others[k]);
}

static void test_hole_is_not_handed_out(void)
{
    for (unsigned k = 0; k < GSH_COUNT(counts); k++) {
        double *array = made_on_device(counts[k]), *hole = array + PAGE_ITEMS;
        CHECK_INT(entry_munmap(hole, PAGE), 0);
        double *other = mmap(hole, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(other == hole); /* another mapping, as the system might place it */
        CHECK(array[0] == 1 && array[counts[k] - 1] == (double)counts[k]);
        gsh_arena_free(array);
        check_not_handed_out(hole, counts[k]);
        CHECK(entry_munmap(hole, PAGE) == 0);
    }
}

static void test_freed_is_restored(void)
{
    for (unsigned k = 0; k < GSH_COUNT(counts); k++) {
        double *array = made_on_device(counts[k]);
        CHECK_INT(entry_mprotect(array, 2 * PAGE, PROT_NONE), 0);
        gsh_arena_free(array);
        check_not_handed_out(NULL, counts[k]);
        array = made_on_device(counts[k]);
        CHECK(entry_mlock(array, (size_t)counts[k] * sizeof *array) == 0 || errno == ENOMEM);
        CHECK(holds(array, counts[k], 3, 4));
        gsh_arena_free(array);
        check_not_handed_out(NULL, counts[k]);
    }
}

/* Memory that is locked is not given back by advice: it must be zeroed otherwise. */
static void test_locked_by_all(void)
{
    double *array = live_doubles(LARGE, GSH_ARENA_HOST);
    size_t size = (size_t)LARGE * sizeof *array;
    array[PAGE_ITEMS] = 5;
    gsh_arena_free(array);
    if (gsh_raw_syscall3(SYS_mlock, (long)array, (long)size, 0) != 0) {
        printf("skipped: memory cannot be locked here\n");
        return;
    }
    check_not_handed_out(NULL, LARGE);
    gsh_raw_syscall3(SYS_munlock, (long)array, (long)size, 0);
}

/* What a child was not to inherit, it does again once the block is another array's. */
static void test_fork_advice(void)
{
    double *array = made_shared(LARGE);
    CHECK_INT(entry_madvise(array, (size_t)LARGE * sizeof *array, MADV_DONTFORK), 0);
    gsh_arena_free(array);
    double *again = live_doubles(LARGE, GSH_ARENA_HOST);
    again[3] = 9;
    pid_t child = fork();
    if (child == 0)
        _exit(again[3] == 9 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    gsh_arena_free(again);
}

static void test_unmanaged_memory(void)
{
    char *memory =
        entry_mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory[0] = 1;
    CHECK_INT(entry_mprotect(memory, PAGE, PROT_READ), 0);
    CHECK_INT(entry_madvise(memory, PAGE, MADV_DONTNEED), 0);
    CHECK_INT(memory[0], 0);
    errno = 0;
    CHECK_INT(entry_mprotect(memory + 1, PAGE, PROT_READ), -1);
    CHECK_INT(errno, EINVAL);
    CHECK_INT(entry_munmap(memory, 2 * PAGE), 0);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    gsh_libc_memory_resolve();
    test_unmanaged_memory();
    test_protect();
    test_discard();
    test_populate();
    test_move();
    test_map_over();
    test_barrier();
    test_hole_is_not_handed_out();
    test_freed_is_restored();
    test_locked_by_all();
    test_fork_advice();
    return live_end();
}
