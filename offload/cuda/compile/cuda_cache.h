/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled kernels on disk: one file per key, written under a temporary name and renamed, so that processes may share
 * the folder. Any fault of a file or the folder counts as "not found". Independent of device and CUDA.
 * gsh_cuda_cache_open once, then any thread.
 */
#pragma once

#include "base.h"

/* All inputs that determine a compiled kernel's bytes, as 128 bits. */
struct gsh_cuda_cache_key {
    unsigned __int128 hash;
};

/* An empty key; add every text that matters, in a fixed order. */
void gsh_cuda_cache_key_init(struct gsh_cuda_cache_key *key);
void gsh_cuda_cache_key_add(struct gsh_cuda_cache_key *key, const char *text);

/* Uses `folder`, created with its parents at the first store; "" or longer than 3000 bytes: no cache. Copied. Some
 * stores remove the least recently used kernels beyond `limit` bytes; 0: no limit. */
void gsh_cuda_cache_open(const char *folder, uint64_t limit);
/* Makes the folder now, and not again where it is removed: for a process that outlives the program, which may have removed it. Once,
 * behind gsh_cuda_cache_open. */
void gsh_cuda_cache_make_folder(void);
/* The folder; "" where there is no cache. */
const char *gsh_cuda_cache_folder(void);

/* The kernel stored under the key, in memory that the caller frees; a NUL follows its `size` bytes. False: not found,
 * damaged or unreadable; nothing is set. */
bool gsh_cuda_cache_find(const struct gsh_cuda_cache_key *key, void **image, size_t *size);
/* Stores the kernel, replacing an existing one. Failure leaves no file behind and is only a debug message. */
void gsh_cuda_cache_store(const struct gsh_cuda_cache_key *key, const void *image, size_t size);
