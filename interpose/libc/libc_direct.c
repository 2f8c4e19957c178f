/* SPDX-License-Identifier: Apache-2.0
 *
 * Each name is one jump through the table, as cheap as a call through the procedure linkage table.
 * Before the C library's functions are found, memory functions work byte by byte: a relocation of
 * another library may run our code that early.
 */
#include "libc_direct.h"

#include "libc_real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBC "libc.so.6"

#define X(result, name, parameters, ...) static result first_##name parameters;
#include "libc_direct.def"
#undef X
static void first_free(void *memory);

static struct {
#define X(result, name, parameters, ...) result(*name) parameters;
#include "libc_direct.def"
#undef X
    void (*free)(void *);
} direct = {
#define X(result, name, ...) .name = first_##name,
#include "libc_direct.def"
#undef X
    .free = first_free};

/* ---- the names ---- */

#define X(result, name, parameters, arguments)                                                     \
    __attribute__((visibility("hidden"))) result name parameters                                   \
    {                                                                                              \
        return __atomic_load_n(&direct.name, __ATOMIC_RELAXED) arguments;                          \
    }
#include "libc_direct.def"
#undef X

__attribute__((visibility("hidden"))) void free(void *memory)
{
    __atomic_load_n(&direct.free, __ATOMIC_RELAXED)(memory);
}

__attribute__((visibility("hidden"))) char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

/* ---- lookup ---- */

/* Finds the name in the C library's own scope, where no other library interposes. If there is no C
 * library of the expected name, takes the next definition. */
static void *find(void *libc, const char *name)
{
    void *found = libc != NULL ? dlsym(libc, name) : NULL;
    return found != NULL ? found : gsh_libc_real_find(name);
}

void gsh_libc_direct_resolve(void)
{
    void *(*open)(const char *, int) = (void *(*)(const char *, int))gsh_libc_real_find("dlopen");
    void *libc = open(LIBC, RTLD_LAZY | RTLD_NOLOAD);
#define X(result, name, ...)                                                                       \
    __atomic_store_n(&direct.name, (__typeof__(direct.name))find(libc, #name), __ATOMIC_RELAXED);
    X(void, free, )
#include "libc_direct.def"
#undef X
}

/* ---- before the lookup ---- */

static void *first_malloc(size_t size)
{
    gsh_libc_direct_resolve();
    return direct.malloc(size);
}

static void *first_calloc(size_t count, size_t size)
{
    gsh_libc_direct_resolve();
    return direct.calloc(count, size);
}

static void *first_realloc(void *memory, size_t size)
{
    gsh_libc_direct_resolve();
    return direct.realloc(memory, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
    gsh_libc_direct_resolve();
    return direct.aligned_alloc(alignment, size);
}

static void first_free(void *memory)
{
    gsh_libc_direct_resolve();
    direct.free(memory);
}

static int first_clock_gettime(clockid_t clock, struct timespec *now)
{
    gsh_libc_direct_resolve();
    return direct.clock_gettime(clock, now);
}

static int first_pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                        pthread_mutex_t *restrict mutex,
                                        const struct timespec *restrict end)
{
    gsh_libc_direct_resolve();
    return direct.pthread_cond_timedwait(condition, mutex, end);
}

/* Volatile: the compiler must not replace these loops by calls of memcpy and memset. */
static void *first_memcpy(void *restrict to, const void *restrict from, size_t size)
{
    volatile char *at = to;
    const volatile char *bytes = from;
    for (size_t i = 0; i < size; i++)
        at[i] = bytes[i];
    return to;
}

static void *first_memmove(void *to, const void *from, size_t size)
{
    volatile char *at = to;
    const volatile char *bytes = from;
    if ((const char *)to <= (const char *)from)
        return first_memcpy(to, from, size);
    for (size_t i = size; i-- > 0;)
        at[i] = bytes[i];
    return to;
}

static void *first_memset(void *to, int byte, size_t size)
{
    volatile unsigned char *at = to;
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)byte;
    return to;
}

static int first_memcmp(const void *a, const void *b, size_t size)
{
    const volatile unsigned char *first = a, *second = b;
    for (size_t i = 0; i < size; i++)
        if (first[i] != second[i])
            return first[i] - second[i];
    return 0;
}
