/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the file of kernels compiled ahead. Sizes, bounds and the checksum of the index are checked when it is opened,
 * the checksum of an image when it is used.
 */
#include "cuda_pack.h"

#include "beside.h"
#include "cuda_libs.h"
#include "fmt.h"
#include "hash.h"
#include "log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char pack_path[PATH_MAX];
static const struct gsh_cuda_pack_header *mapped; /* NULL: there is no usable file */
static const struct gsh_cuda_pack_entry *entries;
static const uint32_t *extents;
static const unsigned char *chunks;
static size_t entry_count;
static int gpu_arch;

uint64_t gsh_cuda_pack_check(const void *bytes, size_t size)
{
    struct gsh_hash_pair hash = GSH_HASH_PAIR_BEGIN;
    gsh_hash_pair_add_bytes(&hash, bytes, size);
    return hash.second;
}

static int compare_keys(const struct gsh_cuda_pack_entry *entry, const uint64_t key[2])
{
    for (int i = 0; i < 2; i++)
        if (entry->key[i] != key[i])
            return entry->key[i] < key[i] ? -1 : 1;
    return 0;
}

int gsh_cuda_pack_compare(const struct gsh_cuda_pack_entry *a, const struct gsh_cuda_pack_entry *b)
{
    int by_key = compare_keys(a, b->key);
    if (by_key != 0)
        return by_key;
    if (a->arch != b->arch)
        return a->arch < b->arch ? -1 : 1;
    return (int)a->form - (int)b->form;
}

/* ---- opening ---- */

/* The open file, whose path is in pack_path; -1: there is none. */
static int open_file(const char *path)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, pack_path, sizeof pack_path);
    gsh_fmt_text(&fmt, path);
    bool is_found = path[0] != '\0'
                        ? fmt.required == fmt.length
                        : gsh_beside_find(GSH_CUDA_PACK_FILE, R_OK, pack_path, sizeof pack_path);
    return is_found ? open(pack_path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Whether the parts that the header tells of are as large as the file together. */
static bool is_whole(const struct gsh_cuda_pack_header *header, uint64_t file_bytes)
{
    uint64_t bytes = sizeof *header, entry_bytes = 0, extent_bytes = 0, chunk_bytes = 0;
    return !__builtin_mul_overflow(header->count, sizeof *entries, &entry_bytes) &&
           !__builtin_mul_overflow(header->extents, sizeof *extents, &extent_bytes) &&
           !__builtin_mul_overflow(header->chunks, (uint64_t)GSH_CUDA_PACK_CHUNK, &chunk_bytes) &&
           !__builtin_add_overflow(bytes, entry_bytes, &bytes) &&
           !__builtin_add_overflow(bytes, extent_bytes, &bytes) &&
           !__builtin_add_overflow(bytes, chunk_bytes, &bytes) && bytes == file_bytes;
}

static bool is_header_valid(const struct gsh_cuda_pack_header *header, uint64_t file_bytes)
{
    return memcmp(header->magic, GSH_CUDA_PACK_MAGIC, sizeof header->magic) == 0 &&
           header->version == GSH_CUDA_PACK_VERSION && header->file_bytes == file_bytes &&
           is_whole(header, file_bytes);
}

static bool is_valid(const struct gsh_cuda_pack_header *header, uint64_t file_bytes)
{
    if (!is_header_valid(header, file_bytes))
        return false;
    const struct gsh_cuda_pack_entry *index = (const struct gsh_cuda_pack_entry *)(header + 1);
    bool is_good = gsh_cuda_pack_check(index, header->count * sizeof *index) == header->check;
    for (size_t i = 1; is_good && i < header->count; i++)
        is_good = gsh_cuda_pack_compare(&index[i - 1], &index[i]) < 0;
    return is_good;
}

static void use(const void *file, size_t file_bytes)
{
    const struct gsh_cuda_pack_header *header = file;
    if (!is_valid(header, file_bytes))
        return;
    mapped = file;
    entries = (const struct gsh_cuda_pack_entry *)(header + 1);
    extents = (const uint32_t *)(entries + header->count);
    chunks = (const unsigned char *)(extents + header->extents);
    entry_count = header->count;
}

static void map_file(int fd)
{
    struct stat stat;
    bool is_large =
        fstat(fd, &stat) == 0 && stat.st_size >= (off_t)sizeof(struct gsh_cuda_pack_header);
    void *file = MAP_FAILED;
    if (is_large)
        file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file != MAP_FAILED)
        use(file, (size_t)stat.st_size);
    if (file != MAP_FAILED && mapped == NULL)
        munmap(file, (size_t)stat.st_size);
    if (mapped == NULL)
        gsh_log(GSH_LOG_WARN, "%s is damaged, or of another version: it is not used", pack_path);
}

void gsh_cuda_pack_open(const char *path, int arch)
{
    gpu_arch = arch;
    int fd = open_file(path);
    if (fd >= 0) {
        map_file(fd);
        close(fd);
    }
    if (mapped == NULL)
        pack_path[0] = '\0';
}

size_t gsh_cuda_pack_count(void)
{
    return entry_count;
}

const char *gsh_cuda_pack_path(void)
{
    return pack_path;
}

/* ---- finding ---- */

/* The first entry that does not come before the key; entry_count: there is none. */
static size_t find_first(const uint64_t key[2])
{
    size_t low = 0, high = entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&entries[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool suits(const struct gsh_cuda_pack_entry *entry, int ptx_arch)
{
    if (entry->form == GSH_CUDA_PACK_CODE)
        return gsh_cuda_libs_runs_on((int)entry->arch, gpu_arch);
    return entry->form == GSH_CUDA_PACK_PTX && (int)entry->arch == ptx_arch;
}

/* Machine code before PTX, then the newest. */
static const struct gsh_cuda_pack_entry *find_best(const uint64_t key[2], int ptx_arch)
{
    const struct gsh_cuda_pack_entry *best = NULL;
    for (size_t i = find_first(key); i < entry_count && compare_keys(&entries[i], key) == 0; i++)
        if (suits(&entries[i], ptx_arch) && (best == NULL || entries[i].form <= best->form))
            best = &entries[i];
    return best;
}

/* Puts the image together. False: its extents lead out of the file, or a byte is damaged. */
static bool read_image(const struct gsh_cuda_pack_entry *entry, char *image)
{
    uint64_t done = 0;
    for (uint64_t i = entry->extent; done < entry->bytes && i < mapped->extents; i++) {
        uint64_t first = extents[i] % GSH_CUDA_PACK_MAX_CHUNKS, count = extents[i] >> 24;
        if (count == 0 || first + count > mapped->chunks)
            return false;
        uint64_t bytes = GSH_MIN(count * GSH_CUDA_PACK_CHUNK, entry->bytes - done);
        memcpy(image + done, chunks + first * GSH_CUDA_PACK_CHUNK, bytes);
        done += bytes;
    }
    return done == entry->bytes && gsh_cuda_pack_check(image, entry->bytes) == entry->check;
}

bool gsh_cuda_pack_find(const struct gsh_cuda_cache_key *key, int ptx_arch, void **image,
                        size_t *size)
{
    const uint64_t halves[2] = {(uint64_t)(key->hash >> 64), (uint64_t)key->hash};
    const struct gsh_cuda_pack_entry *entry = find_best(halves, ptx_arch);
    if (entry == NULL)
        return false;
    char *copy = malloc(entry->bytes + 1);
    if (copy == NULL || !read_image(entry, copy)) {
        free(copy);
        return false;
    }
    copy[entry->bytes] = '\0';
    *image = copy;
    *size = entry->bytes;
    return true;
}
