/* SPDX-License-Identifier: Apache-2.0
 *
 * The images of a target follow each other in the order of the set, in which neighbours are alike: an archive that deflates the
 * file, as a wheel does, becomes smaller.
 */
#include "pack_write.h"

#include "cuda_pack.h"
#include "pack_chunks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the file will hold. */
struct content {
    struct gsh_cuda_pack_entry *entries;
    size_t entry_count;
    struct gsh_pack_chunks store;
};

static enum gsh_status add_image(struct content *content, const struct gsh_pack_kernel *kernel,
                                 const struct gsh_cuda_target *target,
                                 const struct gsh_pack_image *image)
{
    struct gsh_cuda_pack_entry *entry = &content->entries[content->entry_count++];
    *entry = (struct gsh_cuda_pack_entry){
        .key = {(uint64_t)(kernel->key.hash >> 64), (uint64_t)kernel->key.hash},
        .arch = (uint32_t)target->arch,
        .form = target->is_ptx ? GSH_CUDA_PACK_PTX : GSH_CUDA_PACK_CODE,
        .bytes = image->size,
        .check = gsh_cuda_pack_check(image->bytes, image->size)};
    return gsh_pack_chunks_add(&content->store, image->bytes, image->size, &entry->extent);
}

static int compare(const void *a, const void *b)
{
    return gsh_cuda_pack_compare(a, b);
}

/* Target by target. */
static enum gsh_status add_images(struct content *content, const struct gsh_pack_set *set,
                                  const struct gsh_cuda_target *targets, size_t target_count,
                                  const struct gsh_pack_image *images)
{
    for (size_t t = 0; t < target_count; t++)
        for (size_t k = 0; k < set->count; k++) {
            const struct gsh_pack_image *image = &images[k * target_count + t];
            if (image->bytes != NULL)
                GSH_TRY(add_image(content, &set->kernels[k], &targets[t], image));
        }
    qsort(content->entries, content->entry_count, sizeof *content->entries, compare);
    return GSH_OK;
}

static bool put(FILE *file, const void *elements, size_t element_bytes, size_t count)
{
    return count == 0 || fwrite(elements, element_bytes, count, file) == count;
}

static bool put_all(FILE *file, const struct content *content)
{
    const struct gsh_pack_chunks *store = &content->store;
    size_t entry_bytes = content->entry_count * sizeof *content->entries;
    struct gsh_cuda_pack_header header = {.version = GSH_CUDA_PACK_VERSION,
                                          .count = content->entry_count,
                                          .extents = store->extent_count,
                                          .chunks = store->chunk_count,
                                          .check =
                                              gsh_cuda_pack_check(content->entries, entry_bytes)};
    memcpy(header.magic, GSH_CUDA_PACK_MAGIC, sizeof header.magic);
    header.file_bytes = sizeof header + entry_bytes + store->extent_count * sizeof *store->extents +
                        store->chunk_count * sizeof *store->chunks;
    return put(file, &header, sizeof header, 1) &&
           put(file, content->entries, sizeof *content->entries, content->entry_count) &&
           put(file, store->extents, sizeof *store->extents, store->extent_count) &&
           put(file, store->chunks, sizeof *store->chunks, store->chunk_count);
}

static enum gsh_status write_content(const char *path, const struct content *content)
{
    char temporary[PATH_MAX];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, temporary, sizeof temporary);
    gsh_fmt_printf(&fmt, "%s.tmp", path);
    FILE *file = fopen(temporary, "wbe");
    bool is_good = file != NULL && put_all(file, content);
    if (file != NULL)
        is_good = fclose(file) == 0 && is_good;
    return is_good && rename(temporary, path) == 0 ? GSH_OK : GSH_FAILED;
}

enum gsh_status gsh_pack_write_file(const char *path, const struct gsh_pack_set *set,
                                    const struct gsh_cuda_target *targets, size_t target_count,
                                    const struct gsh_pack_image *images)
{
    struct content content = {.entries =
                                  calloc(set->count * target_count + 1, sizeof *content.entries)};
    bool is_good = content.entries != NULL &&
                   add_images(&content, set, targets, target_count, images) == GSH_OK &&
                   write_content(path, &content) == GSH_OK;
    free(content.entries);
    gsh_pack_chunks_free(&content.store);
    return is_good ? GSH_OK : GSH_FAILED;
}
