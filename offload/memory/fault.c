/* SPDX-License-Identifier: Apache-2.0
 *
 * The SIGSEGV handler. It runs on any thread at any instruction: no allocation, no lock but a block's bit lock, no
 * libc beyond raw system calls, less than 1 KiB of stack. A fault that is not ours goes to the program's action with
 * that action's flags and mask.
 */
#include "fault.h"

#include "arena.h"
#include "coherence_events.h"
#include "coherence_fault.h"
#include "critical.h"
#include "forked.h"
#include "log.h"
#include "pages.h"
#include "raw_syscall.h"
#include "readers.h"
#include "service.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define ERROR_WRITE 2U /* bits of the x86 page-fault error code */
#define ERROR_FETCH 0x10U
#define REPEAT_LIMIT 1000 /* an access that faults on open pages so often is no coherence fault */

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction app_action; /* guarded by app_lock */
static _Atomic uint32_t app_lock;
static _Atomic bool installed;
static _Thread_local struct {
    uintptr_t address, instruction;
    unsigned count;
} last_fault;
static volatile sig_atomic_t probe_seen;
static volatile uintptr_t probe_page;

/* Raw system calls: the C library's functions may be interposed. */
static void set_mask_sigsafe(int how, const sigset_t *mask, sigset_t *before)
{
    gsh_raw_syscall5(SYS_rt_sigprocmask, how, (long)mask, (long)before, 8, 0);
}

static void raise_sigsafe(int number)
{
    gsh_raw_syscall3(SYS_tgkill, gsh_raw_syscall3(SYS_getpid, 0, 0, 0),
                     gsh_raw_syscall3(SYS_gettid, 0, 0, 0), number);
}

/* The caller's structures are read and written outside the lock. All signals are blocked while it is held: a handler
 * that asks for the action too would wait for ever. */
void gsh_fault_swap_app_action_sigsafe(const struct sigaction *replacement, struct sigaction *old)
{
    struct sigaction next = {0}, before;
    sigset_t all, mask;
    if (replacement != NULL)
        next = *replacement;
    sigfillset(&all);
    set_mask_sigsafe(SIG_BLOCK, &all, &mask);
    while (atomic_exchange_explicit(&app_lock, 1, memory_order_acquire) != 0)
        __builtin_ia32_pause();
    before = app_action;
    if (replacement != NULL)
        app_action = next;
    atomic_store_explicit(&app_lock, 0, memory_order_release);
    set_mask_sigsafe(SIG_SETMASK, &mask, NULL);
    if (old != NULL)
        *old = before;
}

/* ---- faults of the program ---- */

/* The default action: the kernel repeats the faulting instruction and ends the process with the true core. A signal
 * that was sent does not repeat by itself, so it is raised again. */
static void take_default_action_sigsafe(bool synchronous)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    real_sigaction(SIGSEGV, &action, NULL);
    if (!synchronous)
        raise_sigsafe(SIGSEGV);
}

static void call_app_handler_sigsafe(const struct sigaction *action, siginfo_t *info, void *context)
{
    sigset_t mask = action->sa_mask, before;
    if (!(action->sa_flags & SA_NODEFER))
        sigaddset(&mask, SIGSEGV);
    set_mask_sigsafe(SIG_BLOCK, &mask, &before);
    gsh_critical_here.handlers++;
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(SIGSEGV, info, context);
    else
        action->sa_handler(SIGSEGV);
    gsh_critical_here.handlers--;
    set_mask_sigsafe(SIG_SETMASK, &before, NULL);
}

/* Whether the access reads or writes memory of the arena that no array has: of one that was freed, or past its end. */
static bool is_stray_sigsafe(const siginfo_t *info, const ucontext_t *context)
{
    return gsh_arena_contains(info->si_addr) &&
           (context->uc_mcontext.gregs[REG_ERR] & ERROR_FETCH) == 0 &&
           gsh_arena_find_block_sigsafe(info->si_addr) == NULL;
}

static void forward_sigsafe(siginfo_t *info, void *context)
{
    bool synchronous = info->si_code > 0;
    struct sigaction action;
    gsh_fault_swap_app_action_sigsafe(NULL, &action);
    if (action.sa_flags & SA_RESETHAND) {
        struct sigaction reset = {.sa_handler = SIG_DFL};
        gsh_fault_swap_app_action_sigsafe(&reset, NULL);
    }
    bool is_default = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
    bool is_ignored = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
    if (is_default || (is_ignored && synchronous)) {
        if (synchronous && is_stray_sigsafe(info, context))
            gsh_log_sigsafe("access to memory that belongs to no array");
        take_default_action_sigsafe(synchronous);
    } else if (!is_ignored) {
        call_app_handler_sigsafe(&action, info, context);
    }
}

static bool has_app_handler_sigsafe(void)
{
    struct sigaction action;
    gsh_fault_swap_app_action_sigsafe(NULL, &action);
    return (action.sa_flags & SA_SIGINFO) ||
           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/* ---- our faults ---- */

/* Whether the access has repeated more than `limit` times. Another thread may have opened the page first, which
 * explains a few repeats. */
static bool repeats_too_often_sigsafe(uintptr_t address, uintptr_t instruction, unsigned limit)
{
    if (last_fault.address != address || last_fault.instruction != instruction)
        last_fault.count = 0;
    last_fault.address = address;
    last_fault.instruction = instruction;
    return ++last_fault.count > limit;
}

/* A page that the program has protected faults each time. The count begins again, because the program's handler may
 * open the page and close it again. */
static bool is_programs_fault_sigsafe(uintptr_t address, uintptr_t instruction)
{
    if (!repeats_too_often_sigsafe(address, instruction, 1))
        return false;
    last_fault.count = 0;
    return true;
}

/* Any part of a frame of the code that faulted: AddressSanitizer may forbid it to that code. */
static __attribute__((no_sanitize("address"))) uintptr_t read_stack_sigsafe(greg_t pointer)
{
    return *(const volatile uintptr_t *)pointer;
}

/* The service thread resolves the fault, for the code that faulted where the thread names no reader. */
static bool serve_sigsafe(const void *address, bool write, const ucontext_t *context)
{
    struct gsh_reader reader = gsh_readers_here_sigsafe();
    const greg_t *registers = context->uc_mcontext.gregs;
    if (reader.name == NULL)
        gsh_readers_swap_sigsafe(
            (struct gsh_reader){.instruction = (uintptr_t)registers[REG_RIP],
                                .caller = read_stack_sigsafe(registers[REG_RSP])});
    bool is_resolved = gsh_service_resolve_sigsafe(address, write);
    gsh_readers_swap_sigsafe(reader);
    return is_resolved;
}

static bool resolve_sigsafe(const siginfo_t *info, const ucontext_t *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    greg_t error = context->uc_mcontext.gregs[REG_ERR];
    if (address == probe_page && probe_page != 0) {
        probe_seen = 1;
        return gsh_pages_protect_sigsafe(probe_page, GSH_GRANULE_SMALL, PROT_READ | PROT_WRITE);
    }
    if (!gsh_arena_contains((void *)address) || (error & ERROR_FETCH))
        return false;
    bool write = (error & ERROR_WRITE) != 0;
    uintptr_t instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    GSH_WALL_TIME(GSH_WALL_DISPATCH);
    enum gsh_fault_outcome outcome = gsh_coherence_fault_sigsafe((void *)address, write);
    if (outcome == GSH_FAULT_ALREADY_OPEN)
        return !repeats_too_often_sigsafe(address, instruction, REPEAT_LIMIT);
    if (outcome == GSH_FAULT_PROGRAMS)
        return !is_programs_fault_sigsafe(address, instruction);
    last_fault.count = 0;
    if (outcome == GSH_FAULT_NEEDS_SERVICE) {
        bool is_resolved = serve_sigsafe((void *)address, write, context);
        if (!is_resolved && gsh_forked_is_child_sigsafe())
            gsh_coherence_fault_stop_child_sigsafe((void *)address);
        gsh_coherence_events.announce_sigsafe();
        return is_resolved;
    }
    return outcome == GSH_FAULT_RESOLVED;
}

static bool resolve_traced_sigsafe(const siginfo_t *info, const ucontext_t *context)
{
    uint64_t begin = gsh_trace_begin();
    bool is_write = (context->uc_mcontext.gregs[REG_ERR] & ERROR_WRITE) != 0;
    bool is_resolved = resolve_sigsafe(info, context);
    if (is_resolved)
        GSH_TRACE_END(begin, FAULTS, .name = is_write ? "write fault" : "read fault");
    return is_resolved;
}

/* SIGINT has waited too long for the operation that this thread waits for. Ends the process by SIGINT's default
 * action. */
static void end_by_interrupt_sigsafe(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t interrupt;
    gsh_log_sigsafe("the device does not answer: SIGINT ends the program");
    gsh_stats_report_at_death_sigsafe();
    real_sigaction(SIGINT, &action, NULL);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    set_mask_sigsafe(SIG_UNBLOCK, &interrupt, NULL);
    raise_sigsafe(SIGINT);
}

static void on_segv_sigsafe(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    int keep = errno;
    bool is_sent = info->si_code <= 0, is_overdue;
    if (is_sent && gsh_critical_is_alarm_sigsafe(info, &is_overdue)) {
        if (is_overdue)
            end_by_interrupt_sigsafe();
    } else if (is_sent && gsh_critical_is_inside() && has_app_handler_sigsafe()) {
        gsh_critical_defer_sigsafe(SIGSEGV, info, context);
    } else if (is_sent || !resolve_traced_sigsafe(info, context)) {
        forward_sigsafe(info, context);
    }
    errno = keep;
}

/* ---- installation ---- */

/* Makes one deliberate fault: proves that the kernel delivers to us and that a repaired access succeeds. */
static bool probe(void)
{
    void *page = mmap(NULL, GSH_GRANULE_SMALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    probe_page = (uintptr_t)page;
    *(volatile unsigned char *)page = 1;
    probe_page = 0;
    munmap(page, GSH_GRANULE_SMALL);
    return probe_seen != 0;
}

static void unblock_segv(void)
{
    sigset_t segv;
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &segv, NULL);
}

enum gsh_status gsh_fault_init(void)
{
    *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    struct sigaction action = {.sa_sigaction = on_segv_sigsafe,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (real_sigaction == NULL || real_sigaction(SIGSEGV, &action, &app_action) != 0)
        return GSH_DECLINED;
    unblock_segv();
    if (!probe()) {
        real_sigaction(SIGSEGV, &app_action, NULL);
        gsh_log(GSH_LOG_INFO, "page faults do not reach the handler");
        return GSH_DECLINED;
    }
    atomic_store_explicit(&installed, true, memory_order_release);
    return GSH_OK;
}

bool gsh_fault_is_installed(void)
{
    return atomic_load_explicit(&installed, memory_order_acquire);
}
