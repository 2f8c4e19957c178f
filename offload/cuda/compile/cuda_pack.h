/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels compiled ahead: one read-only file beside the library, made by the program pack_kernels (offload/cuda/pack)
 * and trusted as the library is. Numbers are those of x86-64:
 *
 *   struct gsh_cuda_pack_header
 *   struct gsh_cuda_pack_entry[count]         rising by key, then arch, then form; no two alike
 *   uint32_t[extents]                         gsh_cuda_pack_extent
 *   unsigned char[chunks][GSH_CUDA_PACK_CHUNK]
 *
 * The images are deduplicated: kernels share much of their machine code and of what surrounds it. An image is a sequence of extents,
 * and an extent is a sequence of chunks that follow each other in the file. Behind the last byte of an image its last chunk is zero.
 *
 * The file is mapped, so an image costs memory only once it is used. gsh_cuda_pack_open once, then any thread; takes no
 * lock. Checked by tests/unit/offload/cuda/compile/test_cuda_pack.c.
 */
#pragma once

#include "cuda_cache.h"

#define GSH_CUDA_PACK_FILE "gpushim_kernels.bin"
#define GSH_CUDA_PACK_MAGIC "gshpack"
#define GSH_CUDA_PACK_VERSION 3
#define GSH_CUDA_PACK_CHUNK 64 /* bytes */
#define GSH_CUDA_PACK_MAX_CHUNKS (1U << 24)
#define GSH_CUDA_PACK_MAX_EXTENT 255 /* chunks */

struct gsh_cuda_pack_header {
    char magic[8];
    uint64_t version;
    uint64_t file_bytes;
    uint64_t count; /* of entries */
    uint64_t extents;
    uint64_t chunks;
    uint64_t check; /* of the entries: gsh_cuda_pack_check */
};

/* Its first chunk in the lower 24 bits, and the number of chunks in the upper 8. */
static inline uint32_t gsh_cuda_pack_extent(uint32_t first, uint32_t chunks)
{
    return chunks << 24 | first;
}

enum gsh_cuda_pack_form {
    GSH_CUDA_PACK_CODE, /* machine code */
    GSH_CUDA_PACK_PTX   /* a text without its NUL */
};

struct gsh_cuda_pack_entry {
    uint64_t key[2]; /* gsh_cuda_compile_key: higher half, lower half */
    uint32_t arch;   /* 90: sm_90, or compute_90 */
    uint32_t form;   /* enum gsh_cuda_pack_form */
    uint64_t extent; /* number of the image's first extent */
    uint64_t bytes;  /* of the image */
    uint64_t check;  /* of the image: gsh_cuda_pack_check */
};

/* A checksum against damage, not against an enemy. */
uint64_t gsh_cuda_pack_check(const void *bytes, size_t size);
/* Negative, 0 or positive: the order of the entries. */
int gsh_cuda_pack_compare(const struct gsh_cuda_pack_entry *a, const struct gsh_cuda_pack_entry *b);

/* Uses the file, or for "" GSH_CUDA_PACK_FILE beside the library, else beside the symlink by which it was loaded, for a GPU of compute capability `arch`. A file that is
 * missing or damaged counts as empty; one line in the log names damage. */
void gsh_cuda_pack_open(const char *path, int arch);
/* How many kernels the file holds, for any GPU; 0: there is no file. */
size_t gsh_cuda_pack_count(void);
/* The file; "" where there is none. */
const char *gsh_cuda_pack_path(void);

/* The kernel as machine code for the GPU, else as PTX for `ptx_arch` (0: machine code only). The image is in memory that
 * the caller frees; a NUL follows its `size` bytes. False: not found; nothing is set. */
bool gsh_cuda_pack_find(const struct gsh_cuda_cache_key *key, int ptx_arch, void **image,
                        size_t *size);
