/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and originals. dlsym(RTLD_NEXT) alone is not enough: NumPy's BLAS is a dependency of a
 * module opened with RTLD_LOCAL, so it is not in the global search order, but only in that of the
 * calling library.
 */
#include "mangling.h"

#include "fmt.h"
#include "libc_dlopen.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#define TEXT(x) #x
#define KNOWN_CALLERS 32
#define PAGE 4096

static const struct {
    const char *prefix, *suffix;
    int int_bits;
    const char *words;
} schemes[] = {
#define X(prefix, suffix, bits, ...)                                                               \
    {TEXT(prefix), TEXT(suffix), bits,                                                             \
     TEXT(prefix) "cblas_*" TEXT(suffix) ", " TEXT(bits) "-bit integers"},
    GSH_MANGLING_SCHEMES(X, )
#undef X
};

static void *find_mangled(size_t scheme, const char *base, void *library_handle)
{
    char name[64];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, name, sizeof name);
    gsh_fmt_text(&fmt, schemes[scheme].prefix);
    gsh_fmt_text(&fmt, base);
    gsh_fmt_text(&fmt, schemes[scheme].suffix);
    return dlsym(library_handle, name);
}

void *gsh_mangling_find_blas(const char *base, void *library_handle, int *int_bits)
{
    void *function = NULL;
    for (size_t i = 0; i < GSH_COUNT(schemes) && function == NULL; i++) {
        function = find_mangled(i, base, library_handle);
        if (function != NULL)
            *int_bits = schemes[i].int_bits;
    }
    dlerror();
    return function;
}

const char *gsh_mangling_describe_blas(void *library_handle)
{
    const char *words = "no CBLAS with a known spelling";
    for (size_t i = GSH_COUNT(schemes); i-- > 0;)
        if (find_mangled(i, "cblas_dgemm", library_handle) != NULL)
            words = schemes[i].words;
    dlerror();
    return words;
}

/* ---- originals ---- */

/* The addresses of the first byte and one past the last byte of this library, from the linker. */
extern const char gsh_mangling_own_low[] __asm__("__ehdr_start")
    __attribute__((visibility("hidden")));
extern const char gsh_mangling_own_high[] __asm__("_end") __attribute__((visibility("hidden")));

static bool is_own(const void *function)
{
    return (uintptr_t)function >= (uintptr_t)gsh_mangling_own_low &&
           (uintptr_t)function < (uintptr_t)gsh_mangling_own_high;
}

/* A loaded object, found by an address inside it or by its position in the loader's list. */
struct object {
    uintptr_t address; /* 0: search by position */
    size_t place;      /* position; counted down to 0 */
    uintptr_t low, high;
    char path[PATH_MAX]; /* empty: the main program */
};

static bool span_object(const struct dl_phdr_info *info, struct object *object)
{
    object->low = UINTPTR_MAX;
    object->high = 0;
    bool holds = false;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
        holds |= object->address >= low && object->address < high;
        object->low = GSH_MIN(object->low, low);
        object->high = GSH_MAX(object->high, high);
    }
    return object->address == 0 ? object->place-- == 0 : holds;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct object *object = context;
    if (!span_object(info, object))
        return 0;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, object->path, sizeof object->path);
    gsh_fmt_text(&fmt, info->dlpi_name);
    return 1;
}

static void *open_object(const struct object *object)
{
    return gsh_libc_dlopen_open(object->path[0] == '\0' ? NULL : object->path,
                                RTLD_NOLOAD | RTLD_LAZY);
}

/* `name` in the object of the handle and its dependencies. NULL if it is missing or this library's
 * own. */
static void *find_others(void *handle, const char *name)
{
    void *function = dlsym(handle, name);
    return function == NULL || is_own(function) ? NULL : function;
}

/* Whether the object itself defines a BLAS or LAPACK routine, under any mangling. */
static bool has_routine(const struct object *object, void *handle)
{
    static const char *const probes[] = {"dgemm_", "cblas_dgemm", "dgetrf_"};
    for (size_t i = 0; i < GSH_COUNT(probes) * GSH_COUNT(schemes); i++) {
        uintptr_t function =
            (uintptr_t)find_mangled(i % GSH_COUNT(schemes), probes[i / GSH_COUNT(schemes)], handle);
        if (function >= object->low && function < object->high)
            return true;
    }
    return false;
}

static struct gsh_mangling_caller examine(const void *address)
{
    struct object object = {.address = (uintptr_t)address};
    if (dl_iterate_phdr(visit_object, &object) == 0)
        return (struct gsh_mangling_caller){.low = (uintptr_t)address & ~(uintptr_t)(PAGE - 1),
                                            .size = PAGE};
    struct gsh_mangling_caller caller = {
        .low = object.low, .size = object.high - object.low, .handle = open_object(&object)};
    caller.is_linear_algebra = caller.handle != NULL && has_routine(&object, caller.handle);
    dlerror();
    return caller;
}

const struct gsh_mangling_caller *gsh_mangling_find_caller(const void *address,
                                                           struct gsh_mangling_caller *spare)
{
    static struct gsh_mangling_caller known[KNOWN_CALLERS];
    static unsigned claimed; /* atomic */
    for (unsigned i = 0; i < KNOWN_CALLERS; i++) {
        uintptr_t size = __atomic_load_n(&known[i].size, __ATOMIC_ACQUIRE);
        if ((uintptr_t)address - known[i].low < size)
            return &known[i];
    }
    *spare = examine(address);
    unsigned place = __atomic_load_n(&claimed, __ATOMIC_RELAXED);
    if (place < KNOWN_CALLERS)
        place = __atomic_fetch_add(&claimed, 1, __ATOMIC_RELAXED);
    if (place >= KNOWN_CALLERS)
        return spare;
    struct gsh_mangling_caller *own = &known[place];
    own->low = spare->low;
    own->handle = spare->handle;
    own->is_linear_algebra = spare->is_linear_algebra;
    __atomic_store_n(&own->size, spare->size, __ATOMIC_RELEASE);
    return own;
}

static void *find_anywhere(const char *name)
{
    struct object object;
    for (size_t place = 0;; place++) {
        object.address = 0;
        object.place = place;
        if (dl_iterate_phdr(visit_object, &object) == 0)
            return NULL;
        void *handle = open_object(&object);
        void *function = handle == NULL ? NULL : find_others(handle, name);
        if (function != NULL)
            return function;
        if (handle != NULL)
            dlclose(handle);
    }
}

void *gsh_mangling_find_original(const char *name, const struct gsh_mangling_caller *caller)
{
    void *function = caller->handle == NULL ? NULL : find_others(caller->handle, name);
    if (function == NULL)
        function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        function = find_anywhere(name);
    dlerror();
    return function;
}
