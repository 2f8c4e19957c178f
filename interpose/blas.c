/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of symbols.def as exported functions, each in four spellings. NumPy's own products
 * are taken by the matmul hooks, where residency is known best; these are for SciPy and other
 * libraries. Plain names catch every library in the process, so a call that is small, or made while
 * nothing can be taken over, goes on to its original at once. Never calls Python; any thread.
 * Checked by tests/unit/test_blas.c.
 */
#include "arena.h"
#include "clock.h"
#include "coherence.h"
#include "dispatch.h"
#include "log.h"
#include "naming.h"
#include "numpy_output.h"
#include "stats.h"

#include <pthread.h>

#define TEXT(x) #x
#define CACHED_CALLERS 8 /* libraries that call one name; more are looked up at every call */

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANSPOSE = 111, TRANSPOSE = 112, CONJUGATE_TRANSPOSE = 113 };

typedef void (*any_function)(void);

/* An exported name, and which function its callers would have reached without us. */
struct symbol {
    const char *name;
    const char *row_name, *signature; /* for the report */
    unsigned claimed;                 /* callers taken, atomic */
    struct {
        uintptr_t low, size; /* the calling library; size is written last, atomic */
        any_function original;
    } callers[CACHED_CALLERS];
};

/* One call of ?gemm with its integers widened. */
struct product {
    enum gsh_dtype dtype;
    int order, transpose_a, transpose_b;
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
};

/* ---- originals ---- */

static __attribute__((noinline)) any_function look_up(struct symbol *symbol, const void *caller)
{
    uintptr_t low, high;
    any_function original =
        (any_function)gsh_naming_find_original(symbol->name, caller, &low, &high);
    if (original == NULL)
        return NULL;
    unsigned place = __atomic_load_n(&symbol->claimed, __ATOMIC_RELAXED);
    if (place < CACHED_CALLERS)
        place = __atomic_fetch_add(&symbol->claimed, 1, __ATOMIC_RELAXED);
    if (place >= CACHED_CALLERS)
        return original; /* looked up again at each call */
    symbol->callers[place].low = low;
    symbol->callers[place].original = original;
    __atomic_store_n(&symbol->callers[place].size, high - low, __ATOMIC_RELEASE);
    return original;
}

static inline any_function find_original(struct symbol *symbol, const void *caller)
{
    for (unsigned i = 0; i < CACHED_CALLERS; i++) {
        uintptr_t size = __atomic_load_n(&symbol->callers[i].size, __ATOMIC_ACQUIRE);
        if ((uintptr_t)caller - symbol->callers[i].low < size)
            return symbol->callers[i].original;
        if (size == 0)
            break;
    }
    return look_up(symbol, caller);
}

/* ---- ?gemm ---- */

/* False at the price of a few loads for what must reach the original at once. */
static inline bool is_worth_a_look(int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                                   const void *c)
{
    if (!gsh_dispatch_is_live() || gsh_numpy_output_host_is_inside())
        return false;
    double work = (double)m * (double)n * (double)k;
    return work >= (double)gsh_dispatch_min_elements || gsh_coherence_is_resident(a) ||
           gsh_coherence_is_resident(b) || gsh_coherence_is_resident(c);
}

static struct gsh_operand operand_at(enum gsh_dtype dtype, const void *address)
{
    return (struct gsh_operand){.dtype = dtype, .address = (uint64_t)(uintptr_t)address};
}

/* Element strides of a rows x columns matrix; false where BLAS forbids the leading dimension. */
static bool set_strides(bool columns_contiguous, int64_t rows, int64_t columns, int64_t leading,
                        int64_t *row_stride, int64_t *column_stride)
{
    *row_stride = columns_contiguous ? leading : 1;
    *column_stride = columns_contiguous ? 1 : leading;
    return leading >= GSH_MAX(1, columns_contiguous ? columns : rows);
}

/* False for arguments that BLAS refuses or has nothing to do for: the original knows best. */
static bool describe_product(const struct product *p, struct gsh_launch *launch)
{
    bool known = (p->order == ROW_MAJOR || p->order == COLUMN_MAJOR) &&
                 p->transpose_a >= NO_TRANSPOSE && p->transpose_a <= CONJUGATE_TRANSPOSE &&
                 p->transpose_b >= NO_TRANSPOSE && p->transpose_b <= CONJUGATE_TRANSPOSE;
    if (!known || p->m <= 0 || p->n <= 0 || p->k <= 0)
        return false;
    bool row_major = p->order == ROW_MAJOR;
    *launch = (struct gsh_launch){.kind = GSH_LAUNCH_GEMM, .loop = p->dtype, .nin = 2, .nout = 1};
    launch->operands[0] = operand_at(p->dtype, p->a);
    launch->operands[1] = operand_at(p->dtype, p->b);
    launch->operands[2] = operand_at(p->dtype, p->c);
    struct gsh_gemm *gemm = &launch->gemm;
    *gemm = (struct gsh_gemm){.m = p->m, .n = p->n, .k = p->k, .alpha = p->alpha, .beta = p->beta};
    return set_strides(row_major == (p->transpose_a == NO_TRANSPOSE), p->m, p->k, p->lda,
                       &gemm->a_row, &gemm->a_col) &&
           set_strides(row_major == (p->transpose_b == NO_TRANSPOSE), p->k, p->n, p->ldb,
                       &gemm->b_row, &gemm->b_col) &&
           set_strides(row_major, p->m, p->n, p->ldc, &gemm->c_row, &gemm->c_col);
}

static double load(const void *matrix, enum gsh_dtype dtype, int64_t index)
{
    return dtype == GSH_FLOAT32 ? (double)((const float *)matrix)[index]
                                : ((const double *)matrix)[index];
}

static void store(void *matrix, enum gsh_dtype dtype, int64_t index, double value)
{
    if (dtype == GSH_FLOAT32)
        ((float *)matrix)[index] = (float)value;
    else
        ((double *)matrix)[index] = value;
}

/* A caller that found the name only because we export it has no original: it gets its product all
 * the same. */
static void compute_here(const struct product *p, const struct gsh_gemm *g)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < g->k; l++)
                sum += load(p->a, p->dtype, i * g->a_row + l * g->a_col) *
                       load(p->b, p->dtype, l * g->b_row + j * g->b_col);
            int64_t at = i * g->c_row + j * g->c_col;
            double old = g->beta == 0 ? 0 : g->beta * load(p->c, p->dtype, at);
            store(p->c, p->dtype, at, g->alpha * sum + old);
        }
}

static void call_original(const struct product *p, any_function original)
{
    if (p->dtype == GSH_FLOAT32)
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, float, const void *, int64_t,
                   const void *, int64_t, float, void *, int64_t))original)(
            p->order, p->transpose_a, p->transpose_b, p->m, p->n, p->k, (float)p->alpha, p->a,
            p->lda, p->b, p->ldb, (float)p->beta, p->c, p->ldc);
    else
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, double, const void *, int64_t,
                   const void *, int64_t, double, void *, int64_t))original)(
            p->order, p->transpose_a, p->transpose_b, p->m, p->n, p->k, p->alpha, p->a, p->lda,
            p->b, p->ldb, p->beta, p->c, p->ldc);
}

static void run_on_host(const struct product *p, struct symbol *symbol, any_function original,
                        const struct gsh_launch *launch)
{
    if (original != NULL) {
        call_original(p, original);
        return;
    }
    gsh_log_once("%s: no library loaded has it; computed without BLAS", symbol->name);
    if (launch != NULL)
        compute_here(p, &launch->gemm);
    else if (p->m != 0 && p->n != 0 && p->k != 0)
        gsh_log(GSH_LOG_WARN, "%s: illegal argument", symbol->name);
}

/* Runs on the device. BLAS is no cancellation point, whatever the device's library calls. */
static bool run_uncancelled(struct gsh_call *call, enum gsh_reason *why)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    bool done = gsh_dispatch_run(call, why) == GSH_OK;
    pthread_setcancelstate(cancel, NULL);
    return done;
}

static __attribute__((noinline)) void run_product(const struct product *p, struct symbol *symbol,
                                                  any_function original)
{
    struct gsh_call call = {.row = 0};
    if (!describe_product(p, &call.launch)) {
        run_on_host(p, symbol, original, NULL);
        return;
    }
    call.row = gsh_stats_row(symbol->row_name, symbol->signature);
    enum gsh_reason why = GSH_REASON_FOREIGN_OUTPUT;
    if (gsh_arena_contains(p->c) && is_worth_a_look(p->m, p->n, p->k, p->a, p->b, p->c)) {
        why = gsh_dispatch_decide(&call);
        if (why == GSH_REASON_NONE && run_uncancelled(&call, &why))
            return;
    }
    gsh_dispatch_home(&call);
    uint64_t start = gsh_stats_wanted() ? gsh_clock_ns() : 0;
    run_on_host(p, symbol, original, &call.launch);
    gsh_stats_host_call(call.row, why, start == 0 ? 0 : gsh_clock_ns() - start);
}

/* ---- entry points ---- */

/* The integers of a call as the family that has `bits` of them means them. */
#define INTEGER_32(x) ((int64_t)(int32_t)(x))
#define INTEGER_64(x) (x)

/* Integers are declared 64 bits wide in every family: the registers and stack slots are the same,
 * and a library that gives plain names 64-bit integers gets them through whole. */
#define GEMM(routine, element, gsh_type, sig, prefix, suffix, bits)                                \
    static struct symbol symbol_##prefix##routine##suffix = {                                      \
        .name = TEXT(prefix) #routine TEXT(suffix), .row_name = #routine, .signature = sig};       \
    GSH_EXPORT void entry_##prefix##routine##suffix(                                               \
        int order, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,              \
        element alpha, const element *a, int64_t lda, const element *b, int64_t ldb, element beta, \
        element *c, int64_t ldc) __asm__(TEXT(prefix) #routine TEXT(suffix));                      \
    void entry_##prefix##routine##suffix(int order, int transpose_a, int transpose_b, int64_t m,   \
                                         int64_t n, int64_t k, element alpha, const element *a,    \
                                         int64_t lda, const element *b, int64_t ldb, element beta, \
                                         element *c, int64_t ldc)                                  \
    {                                                                                              \
        struct symbol *symbol = &symbol_##prefix##routine##suffix;                                 \
        any_function original = find_original(symbol, __builtin_return_address(0));                \
        if (GSH_LIKELY(original != NULL) &&                                                        \
            !is_worth_a_look(INTEGER_##bits(m), INTEGER_##bits(n), INTEGER_##bits(k), a, b, c)) {  \
            ((__typeof__(&entry_##prefix##routine##suffix))original)(                              \
                order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);    \
            return;                                                                                \
        }                                                                                          \
        struct product product = {GSH_##gsh_type,                                                  \
                                  order,                                                           \
                                  transpose_a,                                                     \
                                  transpose_b,                                                     \
                                  INTEGER_##bits(m),                                               \
                                  INTEGER_##bits(n),                                               \
                                  INTEGER_##bits(k),                                               \
                                  (double)alpha,                                                   \
                                  (double)beta,                                                    \
                                  a,                                                               \
                                  b,                                                               \
                                  c,                                                               \
                                  INTEGER_##bits(lda),                                             \
                                  INTEGER_##bits(ldb),                                             \
                                  INTEGER_##bits(ldc)};                                            \
        run_product(&product, symbol, original);                                                   \
    }

#define FAMILY(prefix, suffix, bits, shape, routine, element, dtype, signature)                    \
    shape(routine, element, dtype, signature, prefix, suffix, bits)
#define X(shape, routine, element, dtype, signature)                                               \
    GSH_NAMING_FAMILIES(FAMILY, shape, routine, element, dtype, signature)
#include "symbols.def"
#undef X
