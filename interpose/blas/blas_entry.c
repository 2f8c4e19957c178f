/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points, originals, and the choice between device and original for each call. An entry point
 * passes its arguments in place; it ends with a jump to the original, or returns. Checked by
 * tests/unit/interpose/blas/test_blas.c.
 */
#include "blas_entry.h"

#include "blas_number.h"
#include "clock.h"
#include "coherence.h"
#include "dispatch.h"
#include "host_calibration.h"
#include "host_routines.h"
#include "log.h"
#include "mangling.h"
#include "numpy_output.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define TEXT(x) #x
#define CACHED_CALLERS 6 /* libraries cached per name; more are looked up at every call */

struct caller {
    uintptr_t low, size; /* the calling library; size is written last, atomic */
    gsh_blas_entry_function *original;
    int integer_bits; /* integer width of the original; 0: its calls are not offloaded */
};

struct callers {
    unsigned claimed; /* atomic */
    struct caller list[CACHED_CALLERS];
};

/* An exported name and, per caller, the function that it would have reached without gpushim.
 * Constant, so that the loader of any program has to relocate only a few pages. */
struct gsh_symbol {
    const char *name;
    const struct gsh_blas_entry_routine *routine;
    struct callers *callers;
    int integer_bits; /* the width that the name implies */
};

/* ---- the table ---- */

#define ROUTINE(routine) gsh_blas_entry_routine_##routine
#define SYMBOL(prefix, routine, suffix) gsh_symbol_##prefix##routine##suffix
#define CALLERS(prefix, routine, suffix) callers_##prefix##routine##suffix
#define EXTERN(prefix, suffix, bits, routine)                                                      \
    extern const struct gsh_symbol SYMBOL(prefix, routine, suffix);
#define LISTED(prefix, suffix, bits, routine) &SYMBOL(prefix, routine, suffix),
#define X(form, routine, type, result)                                                             \
    GSH_MANGLING_SCHEMES(EXTERN, routine)                                                          \
    static const struct gsh_symbol *const mangled_##routine[] = {                                  \
        GSH_MANGLING_SCHEMES(LISTED, routine)};                                                    \
    static const struct gsh_blas_entry_routine ROUTINE(routine) = {                                \
        .name = #routine,                                                                          \
        .signature = result,                                                                       \
        .dtype = GSH_##type,                                                                       \
        .shape = &gsh_blas_entry_shape_##form,                                                     \
        .mangled = mangled_##routine};
#include "symbols.def"
#undef X

static const struct gsh_blas_entry_routine *const routines[] = {
#define X(shape, routine, ...) &ROUTINE(routine),
#include "symbols.def"
#undef X
};

#define SCHEMES GSH_COUNT(mangled_cblas_dgemm)

/* ---- originals ---- */

static unsigned scheme_of(const struct gsh_symbol *symbol)
{
    unsigned scheme = 0;
    while (scheme < SCHEMES - 1 && symbol->routine->mangled[scheme] != symbol)
        scheme++;
    return scheme;
}

/* The routine of this name with the type of `routine`. */
static const struct gsh_symbol *find_mangled_of(const struct gsh_blas_entry_routine *routine,
                                                const char *name, unsigned scheme)
{
    for (size_t i = 0; i < GSH_COUNT(routines); i++)
        if (routines[i]->name[0] == routine->name[0] && strcmp(routines[i]->name + 1, name) == 0)
            return routines[i]->mangled[scheme];
    return NULL;
}

typedef void getrf_function(const int64_t *, const int64_t *, void *, const int64_t *, int64_t *,
                            int64_t *);

/* The integer width of a LAPACK. Names alone do not determine it: some libraries have 64-bit
 * integers under plain names. A factorisation of an empty matrix shows how many bytes of `info` are
 * written. 0: unknown. */
static int measure_integers(getrf_function *getrf)
{
    const int64_t none = 0, one = 1;
    int64_t pivots[1] = {0}, info = -1;
    double nothing[2] = {0};
    if (getrf == NULL)
        return 0;
    getrf(&none, &none, nothing, &one, pivots, &info);
    if (info == 0)
        return 64;
    return info == (int64_t)((uint64_t)-1 << 32) ? 32 : 0;
}

static getrf_function *find_getrf(const struct gsh_symbol *symbol,
                                  const struct gsh_mangling_caller *library)
{
    const struct gsh_symbol *probe = ROUTINE(dgetrf_).mangled[scheme_of(symbol)];
    return (getrf_function *)gsh_mangling_find_original(probe->name, library);
}

static struct caller examine_caller(const struct gsh_symbol *symbol, const void *address)
{
    const struct gsh_blas_entry_shape *shape = symbol->routine->shape;
    struct gsh_mangling_caller spare;
    const struct gsh_mangling_caller *library = gsh_mangling_find_caller(address, &spare);
    struct caller caller = {
        .low = library->low,
        .size = library->size,
        .original = (gsh_blas_entry_function *)gsh_mangling_find_original(symbol->name, library),
        .integer_bits = symbol->integer_bits};
    if (caller.original == NULL)
        return caller;
    if (library->is_linear_algebra)
        caller.integer_bits = 0; /* the call is part of a routine that runs on the host */
    else if (shape->info != GSH_BLAS_ENTRY_NONE)
        caller.integer_bits = measure_integers(find_getrf(symbol, library));
    if (shape->lapack_routine != GSH_BLAS_ENTRY_NONE && caller.integer_bits != 0)
        gsh_host_routines_register(
            gsh_host_routines_lapack((enum gsh_lapack_routine)shape->lapack_routine),
            symbol->routine->dtype, caller.original, caller.integer_bits);
    if (shape->form != GSH_GEMM_GE && caller.integer_bits != 0)
        gsh_host_routines_register(gsh_host_routines_product(shape->form), symbol->routine->dtype,
                                   caller.original, caller.integer_bits);
    return caller;
}

static __attribute__((noinline)) const struct caller *
look_up(const struct gsh_symbol *symbol, const void *address, struct caller *spare)
{
    *spare = examine_caller(symbol, address);
    if (spare->original == NULL)
        return spare;
    struct callers *callers = symbol->callers;
    unsigned place = __atomic_load_n(&callers->claimed, __ATOMIC_RELAXED);
    if (place < CACHED_CALLERS)
        place = __atomic_fetch_add(&callers->claimed, 1, __ATOMIC_RELAXED);
    if (place >= CACHED_CALLERS)
        return spare; /* not cached: looked up again at each call */
    struct caller *own = &callers->list[place];
    own->low = spare->low;
    own->original = spare->original;
    own->integer_bits = spare->integer_bits;
    __atomic_store_n(&own->size, spare->size, __ATOMIC_RELEASE);
    return own;
}

static inline const struct caller *find_caller(const struct gsh_symbol *symbol, const void *address,
                                               struct caller *spare)
{
    const struct caller *list = symbol->callers->list;
    for (unsigned i = 0; i < CACHED_CALLERS; i++) {
        uintptr_t size = __atomic_load_n(&list[i].size, __ATOMIC_ACQUIRE);
        if ((uintptr_t)address - list[i].low < size)
            return &list[i];
        if (size == 0)
            break;
    }
    return look_up(symbol, address, spare);
}

void gsh_blas_entry_expect(const void *address)
{
    struct gsh_mangling_caller other;
    struct caller spare;
    void *handle = gsh_mangling_find_caller(address, &other)->handle;
    if (handle == NULL)
        return;
    for (size_t i = 0; i < GSH_COUNT(routines) * SCHEMES; i++) {
        const struct gsh_symbol *symbol = routines[i / SCHEMES]->mangled[i % SCHEMES];
        if (symbol->routine->shape->by_value && dlsym(handle, symbol->name) != NULL)
            find_caller(symbol, address, &spare);
    }
    dlerror();
}

gsh_blas_entry_function *gsh_blas_entry_find_other(const struct gsh_blas_entry_call *call,
                                                   const char *name)
{
    struct caller spare;
    const struct gsh_symbol *symbol = find_mangled_of(call->routine, name, call->scheme);
    return symbol == NULL ? NULL : find_caller(symbol, call->frame->caller, &spare)->original;
}

/* ---- arguments ---- */

static inline uint64_t word_at(const struct gsh_blas_entry_frame *frame, unsigned k)
{
    return k < 6 ? frame->registers[k] : frame->stack[k - 6];
}

static inline int64_t integer_at(const struct gsh_blas_entry_frame *frame, unsigned k,
                                 bool by_value, int bits)
{
    uint64_t word = word_at(frame, k);
    if (by_value)
        return bits == 32 ? (int32_t)word : (int64_t)word;
    return bits == 32 ? *(const int32_t *)word : *(const int64_t *)word;
}

uint64_t gsh_blas_entry_word(const struct gsh_blas_entry_call *call, unsigned k)
{
    return word_at(call->frame, k);
}

void *gsh_blas_entry_address(const struct gsh_blas_entry_call *call, unsigned k)
{
    return (void *)word_at(call->frame, k);
}

int64_t gsh_blas_entry_integer(const struct gsh_blas_entry_call *call, unsigned k)
{
    return integer_at(call->frame, k, call->routine->shape->by_value, call->integer_bits);
}

char gsh_blas_entry_letter(const struct gsh_blas_entry_call *call, unsigned k)
{
    return (char)toupper(*(const unsigned char *)word_at(call->frame, k));
}

void gsh_blas_entry_put_integer(const struct gsh_blas_entry_call *call, unsigned k, int64_t value)
{
    if (call->integer_bits == 32)
        *(int32_t *)gsh_blas_entry_address(call, k) = (int32_t)value;
    else
        *(int64_t *)gsh_blas_entry_address(call, k) = value;
}

double gsh_blas_entry_number(const struct gsh_blas_entry_call *call, const void *address)
{
    return gsh_blas_entry_is_single(call) ? (double)*(const float *)address
                                          : *(const double *)address;
}

double _Complex gsh_blas_entry_factor(const struct gsh_blas_entry_call *call, unsigned k)
{
    return gsh_blas_number_load(gsh_blas_entry_address(call, k), call->dtype, 0);
}

/* ---- device or original ---- */

unsigned gsh_blas_entry_row(const struct gsh_blas_entry_call *call, const char *name)
{
    char text[24] = "";
    size_t length = strlen(name);
    length -= length > 0 && name[length - 1] == '_' ? 1 : 0;
    memcpy(text, name, GSH_MIN(length, sizeof(text) - 1));
    return gsh_stats_row(text, call->routine->signature);
}

bool gsh_blas_entry_launch(struct gsh_blas_entry_call *call)
{
    if (call->call.row == 0)
        call->call.row = gsh_blas_entry_row(call, call->routine->name);
    call->why = gsh_dispatch_decide(&call->call);
    return call->why == GSH_REASON_NONE && gsh_dispatch_run(&call->call, &call->why) == GSH_OK;
}

/* Whether the product of the call's sizes is below the limit. One that wraps leaves a call to the
 * original. */
static inline bool is_small(const struct gsh_blas_entry_shape *shape,
                            const struct gsh_blas_entry_frame *frame, int bits)
{
    uint64_t size = 1;
    int64_t limit = gsh_dispatch_min_elements;
    for (unsigned i = 0; i < GSH_BLAS_ENTRY_SIZES && shape->sizes[i] != GSH_BLAS_ENTRY_NONE; i++) {
        size *= (uint64_t)integer_at(frame, (unsigned)shape->sizes[i], shape->by_value, bits);
        if ((int64_t)size >= limit)
            return false;
    }
    return limit > 1;
}

static __attribute__((noinline)) bool is_resident(const struct gsh_blas_entry_shape *shape,
                                                  const struct gsh_blas_entry_frame *frame)
{
    for (unsigned i = 0; i < GSH_BLAS_ENTRY_MATRICES && shape->matrices[i] != GSH_BLAS_ENTRY_NONE;
         i++)
        if (gsh_coherence_is_resident((const void *)word_at(frame, (unsigned)shape->matrices[i])))
            return true;
    return false;
}

/* False, after a few loads, for a call that must go straight to the original. */
static inline bool is_worth_a_look(const struct gsh_blas_entry_shape *shape,
                                   const struct gsh_blas_entry_frame *frame, int bits)
{
    if (bits == 0 || (is_small(shape, frame, bits) &&
                      (GSH_LIKELY(!gsh_coherence_is_in_use()) || !is_resident(shape, frame))))
        return false;
    return gsh_dispatch_is_live() && !gsh_numpy_output_host_is_inside();
}

uint64_t gsh_blas_entry_call_original(const struct gsh_blas_entry_call *call,
                                      const struct gsh_blas_entry_frame *frame)
{
    typedef uint64_t words(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                           double, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    const uint64_t *r = frame->registers;
    uint64_t s[GSH_BLAS_ENTRY_STACK_WORDS] = {0};
    _Static_assert(GSH_BLAS_ENTRY_STACK_WORDS == 20, "as many as are handed over");
    unsigned count = call->routine->shape->arguments;
    if (count > 6)
        memcpy(s, frame->stack, (count - 6) * sizeof(*s));
    return ((words *)call->original)(r[0], r[1], r[2], r[3], r[4], r[5], frame->vectors[0],
                                     frame->vectors[1], s[0], s[1], s[2], s[3], s[4], s[5], s[6],
                                     s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15],
                                     s[16], s[17], s[18], s[19]);
}

void gsh_blas_entry_copy_frame(const struct gsh_blas_entry_call *call,
                               struct gsh_blas_entry_frame *copy)
{
    unsigned count = call->routine->shape->arguments;
    memcpy(copy, call->frame, offsetof(struct gsh_blas_entry_frame, stack));
    if (count > 6)
        memcpy(copy->stack, call->frame->stack, (count - 6) * sizeof(copy->stack[0]));
}

/* Handles a call without an original: the caller found the name only because gpushim exports it. */
static void run_reference(struct gsh_blas_entry_call *call, const char *name)
{
    const struct gsh_blas_entry_shape *shape = call->routine->shape;
    if (shape->run_reference != NULL) {
        gsh_log_once("%s: no library loaded has it; computed without BLAS", name);
        if (!shape->run_reference(call))
            gsh_log(GSH_LOG_WARN, "%s: illegal argument", name);
        return;
    }
    gsh_log_once("%s: no library loaded has it", name);
    if (shape->info != GSH_BLAS_ENTRY_NONE)
        gsh_blas_entry_put_integer(call, (unsigned)shape->info, -1);
}

static bool has_succeeded(const struct gsh_blas_entry_call *call)
{
    const struct gsh_blas_entry_shape *shape = call->routine->shape;
    return shape->info == GSH_BLAS_ENTRY_NONE ||
           gsh_blas_entry_integer(call, (unsigned)shape->info) == 0;
}

/* Declines the call: returns the original, or NULL if it has already run. */
static gsh_blas_entry_function *decline(struct gsh_blas_entry_call *call,
                                        struct gsh_blas_entry_frame *frame)
{
    if (call->why == GSH_REASON_NONE)
        return call->original;
    unsigned row = gsh_blas_entry_row(call, call->routine->name);
    bool is_expected = gsh_host_calibration_is_expected(row);
    if (!gsh_stats_report_is_wanted() && !is_expected) {
        gsh_stats_host_call(row, call->why, 0);
        return call->original;
    }
    GSH_WALL_TIME(GSH_WALL_CPU);
    gsh_host_calibration_begin();
    uint64_t start = gsh_clock_ns();
    frame->result = gsh_blas_entry_call_original(call, frame);
    gsh_host_calibration_end(is_expected && has_succeeded(call));
    gsh_stats_host_call(row, call->why, gsh_clock_ns() - start);
    if (GSH_UNLIKELY(gsh_trace_is_on))
        GSH_TRACE_END(start, CALLS, .row = row, .reason = call->why);
    return NULL;
}

/* Runs the call on the device, or fetches its operands to the host. Cancellation is disabled: BLAS
 * and LAPACK are not cancellation points, and locks are taken here. */
static bool run_or_fetch(struct gsh_blas_entry_call *call)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    bool is_done = call->routine->shape->run(call);
    if (!is_done && call->call.launch.nin != 0)
        gsh_dispatch_fetch(&call->call);
    pthread_setcancelstate(cancel, NULL);
    return is_done;
}

static __attribute__((noinline)) gsh_blas_entry_function *
look_closer(const struct gsh_symbol *symbol, struct gsh_blas_entry_frame *frame,
            const struct caller *caller, bool is_worth)
{
    int error = errno;
    struct gsh_blas_entry_call call = {.routine = symbol->routine,
                                       .frame = frame,
                                       .scheme = scheme_of(symbol),
                                       .integer_bits = caller->integer_bits,
                                       .dtype = symbol->routine->dtype,
                                       .original = caller->original};
    gsh_blas_entry_function *original = NULL;
    frame->result = 0;
    bool is_done = is_worth && run_or_fetch(&call);
    errno = error;
    if (!is_done && call.original == NULL)
        run_reference(&call, symbol->name);
    else if (!is_done)
        original = decline(&call, frame);
    return original;
}

/* Called by the entry points. Returns the function to jump to. NULL: the entry point returns. */
static __attribute__((used)) gsh_blas_entry_function *
route(const struct gsh_symbol *symbol,
      struct gsh_blas_entry_frame *frame) __asm__("gsh_blas_entry_route");
static gsh_blas_entry_function *route(const struct gsh_symbol *symbol,
                                      struct gsh_blas_entry_frame *frame)
{
    struct caller spare;
    const struct caller *caller = find_caller(symbol, frame->caller, &spare);
    bool is_worth = is_worth_a_look(symbol->routine->shape, frame, caller->integer_bits);
    if (GSH_LIKELY(caller->original != NULL) && !is_worth)
        return caller->original;
    return look_closer(symbol, frame, caller, is_worth);
}

/* ---- entry points ---- */

_Static_assert(offsetof(struct gsh_blas_entry_frame, vectors) == 48 &&
                   offsetof(struct gsh_blas_entry_frame, result) == 64 &&
                   offsetof(struct gsh_blas_entry_frame, caller) == 72,
               "as the entry points lay it out");

/* %r11: the symbol. The frame ends with the return address, which the stack arguments follow. */
__asm__(".pushsection .text\n"
        "gsh_blas_entry_common:\n"
        "    .cfi_startproc\n"
        "    subq $72, %rsp\n"
        "    .cfi_adjust_cfa_offset 72\n"
        "    movq %rdi, (%rsp)\n"
        "    movq %rsi, 8(%rsp)\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %rcx, 24(%rsp)\n"
        "    movq %r8, 32(%rsp)\n"
        "    movq %r9, 40(%rsp)\n"
        "    movsd %xmm0, 48(%rsp)\n"
        "    movsd %xmm1, 56(%rsp)\n"
        "    movq %r11, %rdi\n"
        "    movq %rsp, %rsi\n"
        "    call gsh_blas_entry_route\n"
        "    movq %rax, %r11\n"
        "    movq (%rsp), %rdi\n"
        "    movq 8(%rsp), %rsi\n"
        "    movq 16(%rsp), %rdx\n"
        "    movq 24(%rsp), %rcx\n"
        "    movq 32(%rsp), %r8\n"
        "    movq 40(%rsp), %r9\n"
        "    movsd 48(%rsp), %xmm0\n"
        "    movsd 56(%rsp), %xmm1\n"
        "    movq 64(%rsp), %rax\n"
        "    addq $72, %rsp\n"
        "    .cfi_adjust_cfa_offset -72\n"
        "    testq %r11, %r11\n"
        "    jz 1f\n"
        "    jmp *%r11\n"
        "1:  ret\n"
        "    .cfi_endproc\n"
        "    .popsection\n");

#define ENTRY(name, symbol)                                                                        \
    __asm__(".pushsection .text\n"                                                                 \
            "    .globl " name "\n"                                                                \
            "    .type " name ", @function\n" name ":\n"                                           \
            "    .cfi_startproc\n"                                                                 \
            "    endbr64\n"                                                                        \
            "    leaq " symbol "(%rip), %r11\n"                                                    \
            "    jmp gsh_blas_entry_common\n"                                                      \
            "    .cfi_endproc\n"                                                                   \
            "    .size " name ", . - " name "\n"                                                   \
            "    .popsection\n");
#define DEFINE(prefix, suffix, bits, named)                                                        \
    static struct callers CALLERS(prefix, named, suffix);                                          \
    const struct gsh_symbol SYMBOL(prefix, named,                                                  \
                                   suffix) = {.name = TEXT(prefix) #named TEXT(suffix),            \
                                              .routine = &ROUTINE(named),                          \
                                              .callers = &CALLERS(prefix, named, suffix),          \
                                              .integer_bits = bits};                               \
    ENTRY(TEXT(prefix) #named TEXT(suffix), "gsh_symbol_" TEXT(prefix) #named TEXT(suffix))
#define X(shape, routine, ...) GSH_MANGLING_SCHEMES(DEFINE, routine)
#include "symbols.def"
#undef X
