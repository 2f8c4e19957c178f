/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk cache of kernels. A file is a header (magic, key, size, checksum) and the image. It is
 * believed only if it belongs to this user or root, and header, length and checksum agree. Takes no
 * lock. Checked by tests/unit/test_cuda_cache.c.
 */
#include "cuda_cache.h"

#include "cuda_cache_trim.h"
#include "fmt.h"
#include "hash.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_FOLDER 3000
#define MAX_IMAGE ((uint64_t)256 << 20)
#define TRIM_STORES                                                                                \
    16U /* a process's first store and each so many later look at the folder's size */
#define FRESH_SECONDS 3600 /* a find marks a file that was not used so long */

struct header {
    char magic[8];
    uint64_t key[2];
    uint64_t size, checksum;
};

static char cache_folder[MAX_FOLDER + 1];
static uint64_t cache_limit; /* 0: none */

/* FNV-1a of 128 bits (its published offset basis and prime). */
static const unsigned __int128 fnv_basis =
    (unsigned __int128)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d);
static const unsigned __int128 fnv_prime = (unsigned __int128)1 << 88 | 0x13b;

void gsh_cuda_cache_key_init(struct gsh_cuda_cache_key *key)
{
    key->hash = fnv_basis;
}

void gsh_cuda_cache_key_add(struct gsh_cuda_cache_key *key, const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    do /* the NUL too: it separates the texts */
        key->hash = (key->hash ^ *byte) * fnv_prime;
    while (*byte++);
}

static uint64_t checksum(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = GSH_HASH_BEGIN;
    for (size_t i = 0; i < size; i++)
        hash = gsh_hash_add(hash, byte[i]);
    return hash;
}

static struct header make_header(const struct gsh_cuda_cache_key *key, const void *image,
                                 size_t size)
{
    struct header header = {.key = {(uint64_t)(key->hash >> 64), (uint64_t)key->hash},
                            .size = size,
                            .checksum = checksum(image, size)};
    memcpy(header.magic, GSH_CUDA_CACHE_MAGIC, sizeof header.magic);
    return header;
}

static void entry_path(const struct gsh_cuda_cache_key *key, const char *suffix, char *path)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, path, PATH_MAX);
    gsh_fmt_printf(&fmt, "%s/%016llx%016llx%s", cache_folder, (unsigned long long)(key->hash >> 64),
                   (unsigned long long)key->hash, suffix);
}

void gsh_cuda_cache_open(const char *folder, uint64_t limit)
{
    size_t length = strlen(folder);
    if (length > MAX_FOLDER)
        length = 0;
    memcpy(cache_folder, folder, length);
    cache_folder[length] = '\0';
    cache_limit = limit;
}

const char *gsh_cuda_cache_folder(void)
{
    return cache_folder;
}

static bool read_all(int fd, void *buffer, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = read(fd, (char *)buffer + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *buffer, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)buffer + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

static bool is_trusted(int fd, uint64_t image_size)
{
    struct stat stat;
    return fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
           (stat.st_uid == geteuid() || stat.st_uid == 0) &&
           (uint64_t)stat.st_size == sizeof(struct header) + image_size;
}

static char *read_entry(int fd, const struct gsh_cuda_cache_key *key, size_t *size)
{
    struct header header;
    if (!read_all(fd, &header, sizeof header) || header.size > MAX_IMAGE ||
        !is_trusted(fd, header.size))
        return NULL;
    char *image = malloc(header.size + 1);
    if (!image)
        return NULL;
    image[header.size] = '\0';
    if (read_all(fd, image, header.size)) {
        struct header expected = make_header(key, image, header.size);
        if (memcmp(&header, &expected, sizeof header) == 0) {
            *size = header.size;
            return image;
        }
    }
    free(image);
    return NULL;
}

/* The time of modification says when a kernel was used, for the order in which they are removed. */
static void mark_used(int fd)
{
    struct stat stat;
    if (fstat(fd, &stat) == 0 && time(NULL) - stat.st_mtim.tv_sec > FRESH_SECONDS)
        (void)futimens(fd, NULL); /* not allowed on another user's file: it just ages */
}

bool gsh_cuda_cache_find(const struct gsh_cuda_cache_key *key, void **image, size_t *size)
{
    char path[PATH_MAX];
    if (!cache_folder[0])
        return false;
    entry_path(key, "", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    char *found = read_entry(fd, key, size);
    if (found)
        mark_used(fd);
    close(fd);
    if (!found) {
        gsh_log(GSH_LOG_DEBUG, "kernel cache: %s is damaged or not ours", path);
        return false;
    }
    *image = found;
    return true;
}

static void make_folders(void)
{
    char path[MAX_FOLDER + 1];
    memcpy(path, cache_folder, sizeof path);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static int create(const char *path)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == ENOENT) {
        make_folders();
        fd = open(path, flags, 0600);
    }
    return fd;
}

void gsh_cuda_cache_store(const struct gsh_cuda_cache_key *key, const void *image, size_t size)
{
    static unsigned stores; /* atomic, relaxed: distinct temporary names within the process */
    char temporary[PATH_MAX], path[PATH_MAX], suffix[48];
    struct gsh_fmt fmt;
    if (!cache_folder[0])
        return;
    unsigned serial = __atomic_fetch_add(&stores, 1, __ATOMIC_RELAXED);
    gsh_fmt_init(&fmt, suffix, sizeof suffix);
    gsh_fmt_printf(&fmt, ".%ld.%u.tmp", (long)getpid(), serial);
    entry_path(key, suffix, temporary);
    entry_path(key, "", path);
    int fd = create(temporary);
    if (fd < 0) {
        gsh_log(GSH_LOG_DEBUG, "kernel cache: cannot create %s: %s", temporary, strerror(errno));
        return;
    }
    struct header header = make_header(key, image, size);
    bool good = write_all(fd, &header, sizeof header) && write_all(fd, image, size);
    good = close(fd) == 0 && good;
    if (good && rename(temporary, path) == 0) {
        if (cache_limit > 0 && serial % TRIM_STORES == 0)
            gsh_cuda_cache_trim(cache_folder, cache_limit);
        return;
    }
    gsh_log(GSH_LOG_DEBUG, "kernel cache: cannot write %s: %s", path, strerror(errno));
    unlink(temporary);
}
