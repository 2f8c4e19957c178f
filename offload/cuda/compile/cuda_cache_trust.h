/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the cache's folder is believed: folders and files of this user that nobody else may write. Files carry a code
 * (base/hmac.h) under a secret of 32 random bytes, which lies in the folder's file ".key", made with the first kernel that is
 * stored and readable by this user alone: a file that was altered or put there while others could write has a wrong one.
 */
#pragma once

#include "base.h"

#define GSH_CUDA_CACHE_SECRET_BYTES 32

/* A descriptor of the folder; -1: it is not there, or (*is_refused) others may write it. */
int gsh_cuda_cache_trust_open(const char *folder, bool *is_refused);
/* Whether the file is a regular one of this user that nobody else may write. */
bool gsh_cuda_cache_trust_has(int fd);
/* The folder's secret; `makes`: one is made where there is none. False: there is none to be had. */
bool gsh_cuda_cache_trust_read(int folder, bool makes,
                               unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES]);
