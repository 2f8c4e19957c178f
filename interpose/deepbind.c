/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader's list is in order of loading: the objects behind the old last one are the new ones. A
 * name is bound to ours only where the library resolves it to libc. A name that the library or one
 * of its own dependencies defines is left alone, since RTLD_DEEPBIND asks for that. Checked by
 * tests/preload/test_unseen_access.py.
 */
#include "deepbind.h"

#include "base.h"
#include "libc_dlopen.h"
#include "log.h"
#include "python_api.h"
#include "raw_syscall.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE_BYTES 4096UL

static struct link_map *object_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

static const ElfW(Dyn) * find_entry(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry;
    return NULL;
}

/* The value of an entry of the dynamic section. The loader has already relocated its pointers. */
static uintptr_t find_value(const struct link_map *map, ElfW(Sxword) tag)
{
    const ElfW(Dyn) *entry = find_entry(map, tag);
    return entry == NULL ? 0 : entry->d_un.d_val;
}

/* Whether the search for the file depends on the caller: dlopen searches a name without a folder in
 * the caller's RPATH or RUNPATH first, and $ORIGIN is the caller's folder. */
static bool depends_on_caller(const char *path, const void *caller)
{
    if (strchr(path, '$') == NULL && strchr(path, '/') != NULL)
        return false;
    const struct link_map *map = object_of(caller);
    return map == NULL || strchr(path, '$') != NULL || find_entry(map, DT_RUNPATH) != NULL ||
           find_entry(map, DT_RPATH) != NULL;
}

bool gsh_deepbind_is_wanted(const char *path, int flags, const void *caller)
{
    if (GSH_LIKELY((flags & RTLD_DEEPBIND) == 0 || path == NULL))
        return false;
    int keep = errno;
    bool is_wanted = gsh_python_api_is_loaded();
    if (is_wanted && depends_on_caller(path, caller)) {
        is_wanted = false;
        gsh_log(GSH_LOG_WARN,
                "%s is opened with RTLD_DEEPBIND: its system calls on arrays may fail with EFAULT",
                path);
    }
    errno = keep;
    return is_wanted;
}

/* ---- binding ---- */

/* One object whose names are bound again. */
struct binding {
    const struct link_map *map;
    void *object, *own, *libc;        /* handles: the object, this library, libc */
    uintptr_t relro_begin, relro_end; /* pages that the loader has made read-only */
    bool is_done;                     /* false: mprotect has failed */
};

static int note_relro(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct binding *binding = argument;
    (void)size;
    if (info->dlpi_addr != binding->map->l_addr)
        return 0;
    for (unsigned k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_GNU_RELRO) {
            binding->relro_begin = (info->dlpi_addr + info->dlpi_phdr[k].p_vaddr) & -PAGE_BYTES;
            binding->relro_end =
                (info->dlpi_addr + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz) &
                -PAGE_BYTES;
        }
    return 1;
}

static bool is_own(const void *address)
{
    return object_of(address) == object_of((const void *)(uintptr_t)is_own);
}

/* This library's function of that name if the object resolves the name to libc, else NULL. */
static void *find_ours(const struct binding *binding, const char *name)
{
    void *ours = dlsym(binding->own, name),
         *real = ours == NULL ? NULL : dlsym(binding->libc, name);
    if (ours == NULL || ours == real || !is_own(ours))
        return NULL;
    return dlsym(binding->object, name) == real ? ours : NULL;
}

static void put(struct binding *binding, void **slot, void *function)
{
    uintptr_t page = (uintptr_t)slot & -PAGE_BYTES;
    bool is_protected = page >= binding->relro_begin && page < binding->relro_end;
    if (is_protected &&
        gsh_raw_syscall3(SYS_mprotect, (long)page, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0) {
        binding->is_done = false;
        return;
    }
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    if (is_protected)
        gsh_raw_syscall3(SYS_mprotect, (long)page, PAGE_BYTES, PROT_READ);
}

static void bind_table(struct binding *binding, uintptr_t table, size_t bytes)
{
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)find_value(binding->map, DT_SYMTAB);
    const char *names = (const char *)find_value(binding->map, DT_STRTAB);
    const ElfW(Rela) *rows = (const ElfW(Rela) *)table;
    if (symbols == NULL || names == NULL || rows == NULL)
        return;
    for (size_t k = 0; k < bytes / sizeof *rows; k++) {
        const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(rows[k].r_info)];
        unsigned type = ELF64_R_TYPE(rows[k].r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
            symbol->st_name == 0 || symbol->st_shndx != SHN_UNDEF)
            continue;
        void *ours = find_ours(binding, names + symbol->st_name);
        if (ours != NULL)
            put(binding, (void **)(binding->map->l_addr + rows[k].r_offset), ours);
    }
}

/* A handle of a library that is already loaded, else NULL. */
static void *open_loaded(const char *name)
{
    return gsh_libc_dlopen_open(name, RTLD_LAZY | RTLD_NOLOAD);
}

static void bind_object(const struct link_map *map, void *own, void *libc)
{
    struct binding binding = {
        .map = map, .object = open_loaded(map->l_name), .own = own, .libc = libc, .is_done = true};
    if (binding.object == NULL)
        return;
    dl_iterate_phdr(note_relro, &binding);
    bind_table(&binding, find_value(map, DT_JMPREL), find_value(map, DT_PLTRELSZ));
    bind_table(&binding, find_value(map, DT_RELA), find_value(map, DT_RELASZ));
    if (!binding.is_done)
        gsh_log(GSH_LOG_WARN,
                "%s was opened with RTLD_DEEPBIND: its system calls on arrays may fail with EFAULT",
                map->l_name);
    dlclose(binding.object);
}

void *gsh_deepbind_open(const char *path, int flags)
{
    const struct link_map *self = object_of((const void *)(uintptr_t)is_own), *last = self;
    while (last != NULL && last->l_next != NULL)
        last = last->l_next;
    void *handle = gsh_libc_dlopen_open(path, flags);
    int keep = errno;
    void *libc = handle == NULL ? NULL : open_loaded("libc.so.6");
    void *own = libc == NULL || self == NULL ? NULL : open_loaded(self->l_name);
    if (own != NULL)
        for (const struct link_map *map = last->l_next; map != NULL; map = map->l_next)
            bind_object(map, own, libc);
    if (handle != NULL)
        dlerror(); /* failed lookups are not the caller's errors */
    errno = keep;
    return handle;
}
