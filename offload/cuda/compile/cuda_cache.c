/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk cache of kernels. A file is a header (magic, key, size, code) and the image. It is used only if folder and
 * file belong to this user alone (cache_folder.h), and header, length and the code of both are valid. Takes no
 * lock. Checked by tests/unit/offload/cuda/compile/test_cuda_cache.c.
 */
#include "cuda_cache.h"

#include "cache_folder.h"
#include "cuda_cache_trim.h"
#include "cuda_cache_trust.h"
#include "fmt.h"
#include "hash.h"
#include "hmac.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_NAME 96
#define MAX_IMAGE ((uint64_t)256 << 20)
#define TRIM_STORES                                                                                \
    16U /* a process's first store, and every so many later ones, check the folder's size */
#define FRESH_SECONDS 3600 /* a hit marks a file that was not used for so long */

struct header {
    char magic[8];
    uint64_t key[2];
    uint64_t size;
    unsigned char code[GSH_HMAC_BYTES]; /* of everything before it, and the image */
};

static char cache_folder[GSH_CACHE_FOLDER_MAX + 1];
static bool is_made;         /* the folder is not made anew */
static uint64_t cache_limit; /* 0: none */

void gsh_cuda_cache_key_init(struct gsh_cuda_cache_key *key)
{
    struct gsh_hash_pair begin = GSH_HASH_PAIR_BEGIN;
    key->hash = (unsigned __int128)begin.first << 64 | begin.second;
}

/* The length, which is added too, separates the texts. */
void gsh_cuda_cache_key_add(struct gsh_cuda_cache_key *key, const char *text)
{
    struct gsh_hash_pair pair = {(uint64_t)(key->hash >> 64), (uint64_t)key->hash};
    gsh_hash_pair_add_bytes(&pair, text, strlen(text));
    key->hash = (unsigned __int128)pair.first << 64 | pair.second;
}

static struct header make_header(const struct gsh_cuda_cache_key *key, const unsigned char *secret,
                                 const void *image, size_t size)
{
    struct gsh_hmac hmac;
    struct header header = {.key = {(uint64_t)(key->hash >> 64), (uint64_t)key->hash},
                            .size = size};
    memcpy(header.magic, GSH_CUDA_CACHE_MAGIC, sizeof header.magic);
    gsh_hmac_begin(&hmac, secret, GSH_CUDA_CACHE_SECRET_BYTES);
    gsh_hmac_add(&hmac, &header, offsetof(struct header, code));
    gsh_hmac_add(&hmac, image, size);
    gsh_hmac_end(&hmac, header.code);
    return header;
}

static void entry_name(const struct gsh_cuda_cache_key *key, const char *suffix,
                       char name[MAX_NAME])
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, name, MAX_NAME);
    gsh_fmt_printf(&fmt, "%016llx%016llx%s", (unsigned long long)(key->hash >> 64),
                   (unsigned long long)key->hash, suffix);
}

void gsh_cuda_cache_open(const char *folder, uint64_t limit)
{
    size_t length = strlen(folder);
    if (length > GSH_CACHE_FOLDER_MAX)
        length = 0;
    memcpy(cache_folder, folder, length);
    cache_folder[length] = '\0';
    cache_limit = limit;
    bool is_refused = false;
    int fd = length > 0 ? gsh_cache_folder_open(cache_folder, &is_refused) : -1;
    if (fd >= 0)
        close(fd);
    if (!is_refused)
        return;
    gsh_log(GSH_LOG_INFO, "kernel cache: %s is not used: others may write it", cache_folder);
    cache_folder[0] = '\0';
}

void gsh_cuda_cache_make_folder(void)
{
    bool is_refused;
    int fd = cache_folder[0] ? gsh_cache_folder_open_or_make(cache_folder, &is_refused) : -1;
    if (fd >= 0)
        close(fd);
    is_made = true;
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

static bool has_size(int fd, uint64_t image_size)
{
    struct stat stat;
    return fstat(fd, &stat) == 0 && (uint64_t)stat.st_size == sizeof(struct header) + image_size;
}

static char *read_entry(int fd, const struct gsh_cuda_cache_key *key, const unsigned char *secret,
                        size_t *size)
{
    struct header header;
    if (!gsh_cache_folder_trusts(fd) || !read_all(fd, &header, sizeof header) ||
        header.size > MAX_IMAGE || !has_size(fd, header.size))
        return NULL;
    char *image = malloc(header.size + 1);
    if (!image)
        return NULL;
    image[header.size] = '\0';
    if (read_all(fd, image, header.size)) {
        struct header expected = make_header(key, secret, image, header.size);
        if (memcmp(&header, &expected, sizeof header) == 0) {
            *size = header.size;
            return image;
        }
    }
    free(image);
    return NULL;
}

/* The modification time records when a kernel was last used, for the order of removal. */
static void mark_used(int fd)
{
    struct stat stat;
    if (fstat(fd, &stat) == 0 && time(NULL) - stat.st_mtim.tv_sec > FRESH_SECONDS)
        (void)futimens(fd, NULL); /* not allowed on another user's file: it ages then */
}

static bool find_in(int folder, const struct gsh_cuda_cache_key *key, void **image, size_t *size)
{
    char name[MAX_NAME];
    unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES];
    if (!gsh_cuda_cache_trust_read(folder, false, secret))
        return false;
    entry_name(key, "", name);
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    char *found = read_entry(fd, key, secret, size);
    if (found)
        mark_used(fd);
    else
        gsh_log(GSH_LOG_DEBUG, "kernel cache: %s/%s is damaged or not ours", cache_folder, name);
    close(fd);
    if (found)
        *image = found;
    return found != NULL;
}

bool gsh_cuda_cache_find(const struct gsh_cuda_cache_key *key, void **image, size_t *size)
{
    bool is_refused;
    int folder = cache_folder[0] ? gsh_cache_folder_open(cache_folder, &is_refused) : -1;
    if (folder < 0)
        return false;
    bool is_found = find_in(folder, key, image, size);
    close(folder);
    return is_found;
}

/* The temporary file's name, unique for each store. */
static void temporary_name(const struct gsh_cuda_cache_key *key, unsigned serial,
                           char name[MAX_NAME])
{
    char suffix[48];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, suffix, sizeof suffix);
    gsh_fmt_printf(&fmt, ".%ld.%u.tmp", (long)getpid(), serial);
    entry_name(key, suffix, name);
}

static bool write_entry(int folder, const char *name, const struct header *header,
                        const void *image)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool good = write_all(fd, header, sizeof *header) && write_all(fd, image, header->size);
    return close(fd) == 0 && good;
}

static bool store_in(int folder, const struct gsh_cuda_cache_key *key, unsigned serial,
                     const void *image, size_t size)
{
    char temporary[MAX_NAME], name[MAX_NAME];
    unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES];
    if (!gsh_cuda_cache_trust_read(folder, true, secret))
        return false;
    temporary_name(key, serial, temporary);
    entry_name(key, "", name);
    struct header header = make_header(key, secret, image, size);
    if (write_entry(folder, temporary, &header, image) &&
        renameat(folder, temporary, folder, name) == 0)
        return true;
    int error = errno;
    (void)unlinkat(folder, temporary, 0);
    errno = error;
    return false;
}

void gsh_cuda_cache_store(const struct gsh_cuda_cache_key *key, const void *image, size_t size)
{
    static unsigned stores; /* atomic, relaxed: distinct temporary names within the process */
    if (!cache_folder[0])
        return;
    unsigned serial = __atomic_fetch_add(&stores, 1, __ATOMIC_RELAXED);
    bool is_refused;
    int folder = is_made ? gsh_cache_folder_open(cache_folder, &is_refused)
                         : gsh_cache_folder_open_or_make(cache_folder, &is_refused);
    bool is_stored = folder >= 0 && store_in(folder, key, serial, image, size);
    if (!is_stored)
        gsh_log(GSH_LOG_DEBUG, "kernel cache: cannot write to %s: %s", cache_folder,
                strerror(errno));
    if (folder >= 0)
        close(folder);
    if (is_stored && cache_limit > 0 && serial % TRIM_STORES == 0)
        gsh_cuda_cache_trim(cache_folder, cache_limit);
}
