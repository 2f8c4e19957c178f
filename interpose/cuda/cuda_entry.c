/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of cuda_calls.def as functions.
 */
#include "cuda_entry.h"

#include "cuda_hold.h"
#include "cuda_interop.h"
#include "lock.h"
#include "memory_yield.h"

#include <string.h>

#define CODE_BYTES ((size_t)64 << 20) /* more than any module needs */
#define WIDEST_ELEMENT ((size_t)16)
#define ARRAY_BYTES(extents, depth)                                                                \
    ((extents)->width * GSH_MAX((extents)->height, 1) * (depth)*WIDEST_ELEMENT)

/* CUDA's handles of the default streams, for functions that take any stream. */
#define LEGACY_STREAM ((CUstream)(uintptr_t)1)
#define THREAD_STREAM ((CUstream)(uintptr_t)2)

struct gsh_cuda_entry_real gsh_cuda_entry_real;

/* The stream of a call: null, or no stream parameter, means the default stream. */
static CUstream name_stream(CUstream stream, bool is_per_thread)
{
    if (stream != NULL)
        return stream;
    return is_per_thread ? THREAD_STREAM : LEGACY_STREAM;
}

/* Releases device memory of arrays. gpushim's own calls of CUDA libraries handle lack of memory
 * themselves. */
static bool yield(size_t bytes)
{
    return !gsh_cuda_snapshot_interop.is_entered() && gsh_memory_yield(bytes);
}

/* ---- copies ---- */

#define NOW GSH_CUDA_NOW, NULL
#define LATER(stream) GSH_CUDA_LATER, stream
#define KEPT GSH_CUDA_KEPT, NULL

/* Copies from an array to device memory within the device, if the array's bytes are there. False:
 * not done. */
static bool copy_within(const struct gsh_cuda_ranges *ranges, CUdeviceptr dst, const void *src,
                        size_t size, CUstream stream, bool waits, gsh_cuda_enum *result)
{
    const struct gsh_cuda_range *range = gsh_cuda_ranges_at(ranges, 0);
    return ranges->count == 1 && !range->is_written && range->address == src &&
           range->size == size && !gsh_cuda_snapshot_interop.is_entered() &&
           !gsh_lock_is_any_held() &&
           gsh_cuda_snapshot_interop.copy(dst, src, size, stream, waits, result) == GSH_OK;
}

/* `copied`: tries to answer the call by a copy within the device. */
#define ENTRY(name, is_per_thread, parameters, arguments, touched, copied, ...)                    \
    static gsh_cuda_enum entry_##name parameters                                                   \
    {                                                                                              \
        struct gsh_cuda_ranges all = {.count = 0}, *ranges = &all;                                 \
        if (GSH_LIKELY(!(touched)))                                                                \
            return gsh_cuda_entry_real.name arguments;                                             \
        struct gsh_cuda_hold hold = {ranges, __VA_ARGS__};                                         \
        gsh_cuda_enum result = GSH_CUDA_OUT_OF_MEMORY;                                             \
        hold.stream = name_stream(hold.stream, is_per_thread);                                     \
        if (copied)                                                                                \
            return result;                                                                         \
        if (!ranges->is_short) {                                                                   \
            bool is_held = gsh_cuda_hold_begin(&hold);                                             \
            result = gsh_cuda_entry_real.name arguments;                                           \
            if (is_held)                                                                           \
                gsh_cuda_hold_end(&hold, result);                                                  \
        }                                                                                          \
        gsh_cuda_ranges_free(ranges);                                                              \
        return result;                                                                             \
    }
#define COPY_TOUCHED gsh_cuda_ranges_copy(ranges, (uintptr_t)dst, (uintptr_t)src, size)
#define COPY_LENT                                                                                  \
    copy_within(ranges, (CUdeviceptr)dst, (const void *)src, size, hold.stream,                    \
                hold.when == GSH_CUDA_NOW, &result)
#define X(base, suffix, since, parameters, arguments, when, touched)                               \
    ENTRY(base##suffix, false, parameters, arguments, touched, false, when)
#define P(base, suffix, form, since, parameters, arguments, when, touched)                         \
    ENTRY(base##suffix, false, parameters, arguments, touched, false, when)                        \
    ENTRY(base##suffix##_##form, true, parameters, arguments, touched, false, when)
#define L(base, suffix, form, since, parameters, arguments, when)                                  \
    ENTRY(base##suffix, false, parameters, arguments, COPY_TOUCHED, COPY_LENT, when)               \
    ENTRY(base##suffix##_##form, true, parameters, arguments, COPY_TOUCHED, COPY_LENT, when)

/* An allocation that failed for lack of memory is repeated if memory of arrays could be released.
 */
#define TAKER(name, parameters, arguments, bytes)                                                  \
    static gsh_cuda_enum entry_##name parameters                                                   \
    {                                                                                              \
        gsh_cuda_enum result = gsh_cuda_entry_real.name arguments;                                 \
        if (GSH_LIKELY(result != GSH_CUDA_OUT_OF_MEMORY) || !yield(bytes))                         \
            return result;                                                                         \
        return gsh_cuda_entry_real.name arguments;                                                 \
    }
#define A(base, suffix, since, parameters, arguments, bytes)                                       \
    TAKER(base##suffix, parameters, arguments, bytes)
#define AP(base, suffix, form, since, parameters, arguments, bytes)                                \
    TAKER(base##suffix, parameters, arguments, bytes)                                              \
    TAKER(base##suffix##_##form, parameters, arguments, bytes)
#define C(...)
#include "cuda_calls.def"

/* ---- names ---- */

enum form { ANY_STREAM, LEGACY, PER_THREAD };

static const struct name {
    const char *name, *base;
    int since;
    enum form form;
    void *ours;
    size_t real; /* offset of its original in gsh_cuda_entry_real */
} names[] = {
#define NAME(name, base, since, form, ours)                                                        \
    {#name, #base, since, form, (void *)(ours), offsetof(struct gsh_cuda_entry_real, name)},
#define X(base, suffix, since, ...)                                                                \
    NAME(base##suffix, base, since, ANY_STREAM, entry_##base##suffix)
#define P(base, suffix, kind, since, ...)                                                          \
    NAME(base##suffix, base, since, LEGACY, entry_##base##suffix)                                  \
    NAME(base##suffix##_##kind, base, since, PER_THREAD, entry_##base##suffix##_##kind)
#define C(base, suffix, since, ...)                                                                \
    NAME(base##suffix, base, since, ANY_STREAM, gsh_cuda_entry_##base##suffix)
#define L P
#define A X
#define AP P
#include "cuda_calls.def"
};
_Static_assert(GSH_COUNT(names) * sizeof(void *) == sizeof(struct gsh_cuda_entry_real),
               "one pointer a name");

static void **real_of(const struct name *name)
{
    return (void **)(void *)((char *)&gsh_cuda_entry_real + name->real);
}

/* Replaces a function that the driver does not have. */
static gsh_cuda_enum missing(void)
{
    return GSH_CUDA_NOT_FOUND;
}

void gsh_cuda_entry_fill(void *(*find)(const char *name), void **table)
{
    for (size_t i = 0; i < GSH_COUNT(names); i++) {
        void *found = find(names[i].name);
        *real_of(&names[i]) = found != NULL ? found : (void *)missing;
        table[i] = names[i].ours;
    }
    gsh_cuda_hold_resolve(find);
}

size_t gsh_cuda_entry_count(void)
{
    return GSH_COUNT(names);
}

/* ---- cuGetProcAddress ---- */

#define PER_THREAD_FLAG 2U /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

/* Finds the name of the function that the driver returned. If the driver has several functions for
 * the name and this one is unknown, chooses by the requested version and stream. */
static const struct name *find_name(const char *base, void *given, int version, bool is_per_thread)
{
    const struct name *found = NULL;
    for (size_t i = 0; i < GSH_COUNT(names); i++) {
        const struct name *name = &names[i];
        if (strcmp(name->base, base) != 0)
            continue;
        if (*real_of(name) == given)
            return name;
        if (*real_of(name) == (void *)missing || name->since > version ||
            name->form == (is_per_thread ? LEGACY : PER_THREAD))
            continue;
        if (found == NULL || name->since >= found->since)
            found = name;
    }
    return found;
}

static void replace(const char *base, void **function, int version, uint64_t flags)
{
    if (base == NULL || function == NULL || *function == NULL)
        return;
    const struct name *name = find_name(base, *function, version, (flags & PER_THREAD_FLAG) != 0);
    if (name != NULL)
        *function = name->ours;
}

gsh_cuda_enum gsh_cuda_entry_cuGetProcAddress(const char *name, void **function, int version,
                                              uint64_t flags)
{
    gsh_cuda_enum result = gsh_cuda_entry_real.cuGetProcAddress(name, function, version, flags);
    if (result == GSH_CUDA_SUCCESS)
        replace(name, function, version, flags);
    return result;
}

gsh_cuda_enum gsh_cuda_entry_cuGetProcAddress_v2(const char *name, void **function, int version,
                                                 uint64_t flags, gsh_cuda_enum *status)
{
    gsh_cuda_enum result =
        gsh_cuda_entry_real.cuGetProcAddress_v2(name, function, version, flags, status);
    if (result == GSH_CUDA_SUCCESS)
        replace(name, function, version, flags);
    return result;
}
