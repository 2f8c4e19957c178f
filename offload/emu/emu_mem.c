/* SPDX-License-Identifier: Apache-2.0
 *
 * Small pieces are cut from slabs and keep their size class for ever. A large piece has a mapping of its own, which
 * is unmapped with its pages. Only tiny pieces come from the program's heap, which cannot give back memory below a
 * piece in use. Free pieces wait in the pool of their class, the newest first; those without pages are at its end.
 * The pools are bounded as the arena's are. Under AddressSanitizer, free pieces and the gap after each piece are
 * inaccessible.
 */
#include "emu_mem.h"

#include "raw_syscall.h"
#include "size_class.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define CLOSE(memory, size) ASAN_POISON_MEMORY_REGION(memory, size)
#define OPEN(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#define GAP ALIGNMENT
#else
#define CLOSE(memory, size) ((void)(memory), (void)(size))
#define OPEN(memory, size) ((void)(memory), (void)(size))
#define GAP ((size_t)0)
#endif

#define ALIGNMENT ((size_t)256)
#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE_LEAST (2 * HUGE_PAGE) /* in huge pages, as NumPy's: fewer first-touch faults */
#define SLAB_BYTES ((size_t)16 << 20)

struct piece { /* a free piece */
    struct piece *next;
    char *memory;
    size_t capacity;
    unsigned freed_at; /* `calls` at that time */
    bool has_pages;
};

struct pool {
    struct piece *newest;
    uint64_t used_at; /* `uses` when a piece of it was last taken or freed */
};

static struct pool pools[2][GSH_SIZE_CLASSES]; /* small, large */
static struct piece *spare_records;
static char *slab;
static size_t slab_left;
static size_t live_bytes, most_live_bytes; /* capacities of the pieces in use */
static size_t pooled_bytes;                /* of the free pieces that have pages */
static uint64_t uses;
static unsigned calls; /* of gsh_emu_mem_age */

/* ---- system calls ---- */

/* Raw system calls: the program may interpose libc's functions. */
static void advise(const char *memory, size_t size, int advice)
{
    gsh_raw_syscall3(SYS_madvise, (long)memory, (long)size, advice);
}

static void unmap(const char *memory, size_t size)
{
    if (size != 0)
        gsh_raw_syscall3(SYS_munmap, (long)memory, (long)size, 0);
}

static char *map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static char *map_large(size_t size)
{
    char *range = map(size + HUGE_PAGE);
    if (range == NULL)
        return NULL;
    size_t before = gsh_round_up((uintptr_t)range, HUGE_PAGE) - (uintptr_t)range;
    char *memory = range + before;
    unmap(range, before);
    unmap(memory + size, HUGE_PAGE - before);
    advise(memory, size, MADV_HUGEPAGE);
    return memory;
}

/* Cuts a small piece from the slab. A rest that is too small is never touched. */
static char *cut_small(size_t size)
{
    if (size > slab_left) {
        char *fresh = map(SLAB_BYTES);
        if (fresh == NULL)
            return NULL;
        slab = fresh;
        slab_left = SLAB_BYTES;
    }
    char *memory = slab;
    slab += size;
    slab_left -= size;
    return memory;
}

/* ---- the pools ---- */

static struct pool *pool_of(size_t size, size_t *capacity)
{
    bool is_large = size + GAP >= LARGE_LEAST;
    size_t unit = is_large ? HUGE_PAGE : PAGE;
    unsigned class;
    *capacity = gsh_size_class_round((size + GAP - 1) / unit + 1, &class) * unit;
    return class < GSH_SIZE_CLASSES ? &pools[is_large][class] : NULL;
}

static void note_used(struct pool *pool)
{
    pool->used_at = ++uses;
}

static void put_record(struct piece *piece)
{
    piece->next = spare_records;
    spare_records = piece;
}

/* NULL: there is none. */
static char *pop(struct pool *pool)
{
    struct piece *piece = pool->newest;
    if (piece == NULL)
        return NULL;
    pool->newest = piece->next;
    pooled_bytes -= piece->has_pages ? piece->capacity : 0;
    put_record(piece);
    return piece->memory;
}

/* Gives a piece's pages back; true where its addresses are gone too. */
static bool drop_pages(const char *memory, size_t capacity)
{
    if (capacity >= LARGE_LEAST) {
        OPEN(memory, capacity); /* for what may be mapped there next */
        unmap(memory, capacity);
        return true;
    }
    advise(memory, capacity, MADV_DONTNEED);
    return false;
}

static void drop(struct pool *pool, unsigned age)
{
    for (struct piece **link = &pool->newest, *piece;
         (piece = *link) != NULL && piece->has_pages;) {
        bool is_old = calls - piece->freed_at >= age;
        bool is_gone = is_old && drop_pages(piece->memory, piece->capacity);
        pooled_bytes -= is_old ? piece->capacity : 0;
        piece->has_pages = !is_old;
        *link = is_gone ? piece->next : piece;
        if (is_gone)
            put_record(piece);
        else
            link = &piece->next;
    }
}

static void drop_all(unsigned age)
{
    for (unsigned large = 0; large < 2; large++)
        for (unsigned k = 0; k < GSH_SIZE_CLASSES; k++)
            drop(&pools[large][k], age);
}

static bool is_idler(const struct pool *pool, const struct pool *other)
{
    return pool->newest != NULL && pool->newest->has_pages &&
           (other == NULL || pool->used_at < other->used_at);
}

/* The least recently used pool with pages; NULL: there is none. */
static struct pool *find_idlest(void)
{
    struct pool *found = NULL;
    for (unsigned large = 0; large < 2; large++)
        for (unsigned k = 0; k < GSH_SIZE_CLASSES; k++)
            if (is_idler(&pools[large][k], found))
                found = &pools[large][k];
    return found;
}

static void keep_limit(void)
{
    size_t limit = GSH_MAX(most_live_bytes - live_bytes, most_live_bytes / 2);
    for (struct pool *pool; pooled_bytes > limit && (pool = find_idlest()) != NULL;)
        drop(pool, 0);
}

static void push(struct pool *pool, char *memory, size_t capacity)
{
    struct piece *piece = spare_records;
    if (piece != NULL)
        spare_records = piece->next;
    else if ((piece = malloc(sizeof *piece)) == NULL) {
        (void)drop_pages(memory, capacity); /* its addresses are not used again */
        return;
    }
    *piece = (struct piece){pool->newest, memory, capacity, calls, true};
    pool->newest = piece;
    pooled_bytes += capacity;
}

/* ---- taking and giving ---- */

void gsh_emu_mem_trim(void)
{
    drop_all(0);
}

bool gsh_emu_mem_age(unsigned age)
{
    calls++;
    drop_all(age + 1);
    return pooled_bytes != 0;
}

size_t gsh_emu_mem_spare_bytes(void)
{
    return pooled_bytes;
}

static char *take(struct pool *pool, size_t capacity)
{
    char *memory = pop(pool);
    if (memory != NULL)
        return memory;
    return capacity >= LARGE_LEAST ? map_large(capacity) : cut_small(capacity);
}

void *gsh_emu_mem_take(size_t size)
{
    size_t capacity;
    size = gsh_round_up(size, ALIGNMENT);
    if (size < PAGE)
        return aligned_alloc(ALIGNMENT, size);
    struct pool *pool = pool_of(size, &capacity);
    char *memory = pool == NULL ? NULL : take(pool, capacity);
    if (memory == NULL && pool != NULL && pooled_bytes > 0) {
        gsh_emu_mem_trim();
        memory = take(pool, capacity);
    }
    if (memory == NULL)
        return NULL;
    OPEN(memory, size);
    CLOSE(memory + size, capacity - size);
    note_used(pool);
    live_bytes += capacity;
    most_live_bytes = GSH_MAX(most_live_bytes, live_bytes);
    return memory;
}

void gsh_emu_mem_give(void *memory, size_t size)
{
    size_t capacity;
    size = gsh_round_up(size, ALIGNMENT);
    if (size < PAGE) {
        free(memory);
        return;
    }
    struct pool *pool = pool_of(size, &capacity);
    CLOSE(memory, capacity);
    if (capacity >= LARGE_LEAST)
        advise(memory, capacity, MADV_FREE);
    live_bytes -= capacity;
    note_used(pool);
    push(pool, memory, capacity);
    keep_limit();
}
