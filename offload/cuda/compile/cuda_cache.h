/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled kernels on disk: one file per key, written beside and renamed into place, so that
 * processes may share the folder. Whatever is wrong with a file or the folder, the answer is "not
 * there". Knows no device and no CUDA. open once, then any thread.
 */
#pragma once

#include "base.h"

/* What decides the bytes of a compiled kernel, as 128 bits. */
struct gsh_cuda_cache_key {
    unsigned __int128 hash;
};

/* An empty key; add every text that matters, in a fixed order. */
void gsh_cuda_cache_key_init(struct gsh_cuda_cache_key *key);
void gsh_cuda_cache_key_add(struct gsh_cuda_cache_key *key, const char *text);

/* Uses `folder`, made with its parents at the first store; "" or longer than 3000 bytes: no cache.
 * Copied. Some stores remove what the folder holds beyond `limit` bytes, least recently used first; 0: none do. */
void gsh_cuda_cache_open(const char *folder, uint64_t limit);
/* "" where there is no cache. */
const char *gsh_cuda_cache_folder(void);

/* The kernel stored under the key, in memory that the caller frees and that ends in a NUL beyond
 * `size`. False: not there, damaged or unreadable; nothing is set. */
bool gsh_cuda_cache_find(const struct gsh_cuda_cache_key *key, void **image, size_t *size);
/* Keeps the kernel, replacing what is there. Failure leaves no file behind and is only a debug
 * message. */
void gsh_cuda_cache_store(const struct gsh_cuda_cache_key *key, const void *image, size_t size);
