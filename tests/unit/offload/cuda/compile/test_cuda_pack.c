/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/compile/cuda_pack.c, which needs no GPU: what is in the file is found, for the GPUs that can run it, and a
 * file with any damaged byte gives no wrong kernel.
 */
#include "check.h"
#include "cuda_pack.h"
#include "options.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK GSH_CUDA_PACK_CHUNK
#define IMAGE_BYTES 200 /* two chunks of its own, and one of zeros that all images share */
#define OWN_CHUNKS 2
#define IMAGE_EXTENTS 3
#define MAX_BYTES 4096

struct item {
    unsigned key;
    uint32_t arch;
    enum gsh_cuda_pack_form form;
};

/* In the order of the index. */
static const struct item items[] = {
    {1, 80, GSH_CUDA_PACK_CODE}, {1, 86, GSH_CUDA_PACK_CODE}, {1, 87, GSH_CUDA_PACK_CODE},
    {2, 80, GSH_CUDA_PACK_CODE}, {2, 80, GSH_CUDA_PACK_PTX},  {7, 90, GSH_CUDA_PACK_CODE},
};

static char path[] = "/tmp/gsh_pack_XXXXXX";
static unsigned char file[MAX_BYTES];
static size_t file_bytes;

static void fill_image(const struct item *item, char image[IMAGE_BYTES])
{
    memset(image, 0, IMAGE_BYTES);
    for (size_t i = 0; i < OWN_CHUNKS; i++)
        snprintf(image + i * CHUNK, CHUNK, "part %zu of kernel %u for %u, form %u", i, item->key,
                 (unsigned)item->arch, (unsigned)item->form);
}

struct contents {
    struct gsh_cuda_pack_header header;
    struct gsh_cuda_pack_entry entries[GSH_COUNT(items)];
    uint32_t extents[GSH_COUNT(items)][IMAGE_EXTENTS];
    unsigned char chunks[GSH_COUNT(items)][OWN_CHUNKS * CHUNK], zeros[CHUNK];
};
_Static_assert(sizeof(struct contents) == 56 + GSH_COUNT(items) * (48 + 12 + 128) + 64, "no gaps");

static void make_file(void)
{
    struct contents contents = {.header = {.version = GSH_CUDA_PACK_VERSION,
                                           .file_bytes = sizeof contents,
                                           .count = GSH_COUNT(items),
                                           .extents = GSH_COUNT(items) * IMAGE_EXTENTS,
                                           .chunks = GSH_COUNT(items) * OWN_CHUNKS + 1}};
    for (uint32_t i = 0; i < GSH_COUNT(items); i++) {
        char image[IMAGE_BYTES];
        fill_image(&items[i], image);
        memcpy(contents.chunks[i], image, sizeof contents.chunks[i]);
        contents.extents[i][0] = gsh_cuda_pack_extent(i * OWN_CHUNKS, OWN_CHUNKS);
        for (size_t k = 1; k < IMAGE_EXTENTS; k++)
            contents.extents[i][k] = gsh_cuda_pack_extent(GSH_COUNT(items) * OWN_CHUNKS, 1);
        contents.entries[i] =
            (struct gsh_cuda_pack_entry){.key = {0, items[i].key},
                                         .arch = items[i].arch,
                                         .form = items[i].form,
                                         .extent = (uint64_t)i * IMAGE_EXTENTS,
                                         .bytes = IMAGE_BYTES,
                                         .check = gsh_cuda_pack_check(image, IMAGE_BYTES)};
    }
    memcpy(contents.header.magic, GSH_CUDA_PACK_MAGIC, sizeof contents.header.magic);
    contents.header.check = gsh_cuda_pack_check(contents.entries, sizeof contents.entries);
    file_bytes = sizeof contents;
    memcpy(file, &contents, sizeof contents);
}

static void store_file(size_t bytes)
{
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(file, 1, bytes, out) == bytes && fclose(out) == 0);
}

/* What is found for the key: an item's number; -1: nothing; -2: something else. */
static int find(unsigned number, int ptx_arch)
{
    struct gsh_cuda_cache_key key = {number};
    void *image;
    size_t size;
    int found = -2;
    if (!gsh_cuda_pack_find(&key, ptx_arch, &image, &size))
        return -1;
    for (size_t i = 0; i < GSH_COUNT(items); i++) {
        char expected[IMAGE_BYTES];
        fill_image(&items[i], expected);
        if (items[i].key == number && size == IMAGE_BYTES && memcmp(image, expected, size) == 0 &&
            ((char *)image)[size] == '\0')
            found = (int)i;
    }
    free(image);
    return found;
}

/* Calls body in a process of its own, which has opened the file. */
static void in_process(int arch, void (*body)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        gsh_cuda_pack_open(path, arch);
        body();
        _exit(check_result());
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void find_on_90(void)
{
    CHECK_INT(gsh_cuda_pack_count(), GSH_COUNT(items));
    CHECK_STR(gsh_cuda_pack_path(), path);
    CHECK_INT(find(7, 0), 5);
    CHECK_INT(find(0, 0), -1);
    CHECK_INT(find(8, 0), -1);
    CHECK_INT(find(1, 0), -1); /* of another major revision */
    CHECK_INT(find(2, 0), -1);
    CHECK_INT(find(2, 80), 4);
    CHECK_INT(find(2, 90), -1);
}

static void find_on_89(void)
{
    CHECK_INT(find(1, 0), 1); /* not that of 8.7, a system on a chip */
    CHECK_INT(find(2, 80), 3);
    CHECK_INT(find(7, 0), -1);
}

static void find_none(void)
{
    CHECK_INT(gsh_cuda_pack_count(), 0);
    CHECK_STR(gsh_cuda_pack_path(), "");
    CHECK_INT(find(7, 0), -1);
}

static void find_no_other(void)
{
    for (unsigned key = 0; key < 10; key++)
        CHECK(find(key, 80) != -2);
}

/* One process: opening again replaces what was there only if the file is good, so each damage has its own. */
static void test_damage(void)
{
    for (size_t at = 0; at < file_bytes; at += at < sizeof(struct gsh_cuda_pack_header) ? 1 : 5) {
        file[at] ^= 0x10;
        store_file(file_bytes);
        bool is_image = at >= offsetof(struct contents, extents);
        in_process(90, is_image ? find_no_other : find_none);
        file[at] ^= 0x10;
    }
    static const size_t cuts[] = {0, 1, 55, 56, 57, 200, sizeof(struct contents) - 1};
    for (size_t i = 0; i < GSH_COUNT(cuts); i++) {
        store_file(cuts[i]);
        in_process(90, find_none);
    }
}

int main(void)
{
    gsh_options_init();
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    make_file();
    store_file(file_bytes);
    in_process(90, find_on_90);
    in_process(89, find_on_89);
    test_damage();
    CHECK_INT(unlink(path), 0);
    in_process(90, find_none);
    return check_result();
}
