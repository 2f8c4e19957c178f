/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of the cache's folder are trusted: folders and files of this user that nobody else may write. Files
 * carry a code (base/hmac.h) made with a secret of 32 random bytes. The secret is in the folder's file ".key",
 * created with the first kernel that is stored and readable by this user only. A file that was altered, or put there
 * while others could write, has a wrong code.
 */
#pragma once

#include "base.h"

#define GSH_CUDA_CACHE_SECRET_BYTES 32

/* A descriptor of the folder; -1: it does not exist, or (*is_refused) others may write it. */
int gsh_cuda_cache_trust_open(const char *folder, bool *is_refused);
/* Whether the file is a regular file of this user that nobody else may write. */
bool gsh_cuda_cache_trust_has(int fd);
/* Reads the folder's secret; `makes`: creates it where there is none. False: there is none. */
bool gsh_cuda_cache_trust_read(int folder, bool makes,
                               unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES]);
