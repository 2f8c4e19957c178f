/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is classified by its descriptor, because paths may be relative or links. Checked by
 * tests/preload/test_unseen_access.py.
 */
#include "unseen.h"

#include "base.h"
#include "libc_signal.h"
#include "retire.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char io_uring[] = "io_uring", linux_aio[] = "Linux's asynchronous I/O";

static void retire(const char *why)
{
    if (gsh_libc_signal_is_owner())
        gsh_retire(why);
}

void gsh_unseen_note_syscall(long number)
{
    if (number == SYS_io_uring_setup)
        retire(io_uring);
    else if (number == SYS_io_setup)
        retire(linux_aio);
}

bool gsh_unseen_opens_file(long number)
{
    return number == SYS_open || number == SYS_openat || number == SYS_openat2;
}

/* ---- files ---- */

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Whether the last component of the path may name such a file. The descriptor decides. */
static bool is_suspect(const char *path)
{
    const char *name = name_of(path);
    return strcmp(name, "mem") == 0 || strcmp(name, "iommu") == 0 || strcmp(name, "rdma_cm") == 0 ||
           begins_with(name, "uverbs") || begins_with(name, "vfio");
}

static bool is_own_memory(const char *target)
{
    int process = 0, end = 0;
    if (sscanf(target, "/proc/%d/%n", &process, &end) < 1 || end == 0 || process != getpid())
        return false;
    return strcmp(name_of(target), "mem") == 0;
}

static const char *what_writes(const char *target)
{
    if (is_own_memory(target))
        return "/proc/self/mem";
    if (begins_with(target, "/dev/infiniband/"))
        return "RDMA";
    if (begins_with(target, "/dev/vfio/") || strcmp(target, "/dev/iommu") == 0)
        return "vfio";
    return NULL;
}

static void look_at(int file)
{
    char link[40], target[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    const char *why = what_writes(target);
    if (why != NULL)
        retire(why);
}

void gsh_unseen_note_file(int file, const char *path)
{
    if (GSH_LIKELY(file < 0 || (path != NULL && !is_suspect(path))))
        return;
    int keep = errno;
    look_at(file);
    errno = keep;
}

/* ---- libraries ---- */

static _Atomic bool is_shared;

bool gsh_unseen_is_shared(void)
{
    return atomic_load_explicit(&is_shared, memory_order_relaxed);
}

/* An MPI library, or the extension module of mpi4py, which depends on one. */
static bool is_mpi(const char *path)
{
    const char *name = name_of(path);
    return begins_with(name, "libmpi") ||
           (begins_with(name, "MPI.") && strstr(path, "mpi4py/") != NULL);
}

void gsh_unseen_note_library(const char *path)
{
    if (begins_with(name_of(path), "liburing") || strstr(path, "-packages/liburing/") != NULL)
        retire(io_uring);
    else if (begins_with(name_of(path), "libaio"))
        retire(linux_aio);
    else if (is_mpi(path))
        atomic_store_explicit(&is_shared, true, memory_order_relaxed);
}

static int look_at_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    gsh_unseen_note_library(info->dlpi_name);
    return 0;
}

void gsh_unseen_note_loaded(void)
{
    dl_iterate_phdr(look_at_library, NULL);
}
