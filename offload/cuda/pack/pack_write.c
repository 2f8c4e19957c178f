/* SPDX-License-Identifier: Apache-2.0
 *
 * Header and index are written last, because only then the offsets are known. The images of a target follow each other in the order
 * of the set, in which neighbours are alike: an archive that deflates the file, as a wheel does, becomes a fifth smaller.
 */
#include "pack_write.h"

#include "cuda_pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gsh_cuda_pack_entry make_entry(const struct gsh_pack_kernel *kernel,
                                             const struct gsh_cuda_target *target,
                                             const struct gsh_pack_image *image)
{
    return (struct gsh_cuda_pack_entry){
        .key = {(uint64_t)(kernel->key.hash >> 64), (uint64_t)kernel->key.hash},
        .arch = (uint32_t)target->arch,
        .form = target->is_ptx ? GSH_CUDA_PACK_PTX : GSH_CUDA_PACK_CODE,
        .encoding = GSH_CUDA_PACK_PLAIN,
        .bytes = image->size,
        .check = gsh_cuda_pack_check(image->bytes, image->size)};
}

/* Appends the image at the next aligned place. */
static bool put_image(FILE *file, const struct gsh_pack_image *image,
                      struct gsh_cuda_pack_entry *entry)
{
    long end = ftell(file);
    if (end < 0)
        return false;
    entry->offset =
        ((uint64_t)end + GSH_CUDA_PACK_ALIGNMENT - 1) & ~(uint64_t)(GSH_CUDA_PACK_ALIGNMENT - 1);
    return fseek(file, (long)entry->offset, SEEK_SET) == 0 &&
           fwrite(image->bytes, 1, image->size, file) == image->size;
}

static int compare(const void *a, const void *b)
{
    return gsh_cuda_pack_compare(a, b);
}

static bool put_index(FILE *file, struct gsh_cuda_pack_entry *entries, size_t count)
{
    struct gsh_cuda_pack_header header = {.version = GSH_CUDA_PACK_VERSION, .count = count};
    long end = ftell(file);
    memcpy(header.magic, GSH_CUDA_PACK_MAGIC, sizeof header.magic);
    header.file_bytes = (uint64_t)end;
    qsort(entries, count, sizeof *entries, compare);
    header.check = gsh_cuda_pack_check(entries, count * sizeof *entries);
    return end >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
           fwrite(&header, sizeof header, 1, file) == 1 &&
           fwrite(entries, sizeof *entries, count, file) == count;
}

static bool put_all(FILE *file, const struct gsh_pack_set *set,
                    const struct gsh_cuda_target *targets, size_t target_count,
                    const struct gsh_pack_image *images, struct gsh_cuda_pack_entry *entries)
{
    size_t jobs = set->count * target_count, count = 0;
    for (size_t job = 0; job < jobs; job++)
        count += images[job].bytes != NULL;
    size_t index_end = sizeof(struct gsh_cuda_pack_header) + count * sizeof *entries, used = 0;
    if (fseek(file, (long)index_end, SEEK_SET) != 0)
        return false;
    for (size_t i = 0; i < jobs; i++) {
        size_t job = i % set->count * target_count + i / set->count; /* target by target */
        if (images[job].bytes == NULL)
            continue;
        entries[used] = make_entry(&set->kernels[job / target_count], &targets[job % target_count],
                                   &images[job]);
        if (!put_image(file, &images[job], &entries[used++]))
            return false;
    }
    return put_index(file, entries, count);
}

enum gsh_status gsh_pack_write_file(const char *path, const struct gsh_pack_set *set,
                                    const struct gsh_cuda_target *targets, size_t target_count,
                                    const struct gsh_pack_image *images)
{
    char temporary[PATH_MAX];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, temporary, sizeof temporary);
    gsh_fmt_printf(&fmt, "%s.tmp", path);
    struct gsh_cuda_pack_entry *entries = calloc(set->count * target_count + 1, sizeof *entries);
    FILE *file = entries != NULL ? fopen(temporary, "wbe") : NULL;
    bool is_good = file != NULL && put_all(file, set, targets, target_count, images, entries);
    if (file != NULL)
        is_good = fclose(file) == 0 && is_good;
    free(entries);
    return is_good && rename(temporary, path) == 0 ? GSH_OK : GSH_FAILED;
}
