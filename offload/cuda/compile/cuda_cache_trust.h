/* SPDX-License-Identifier: Apache-2.0
 *
 * The secret of the cache's folder. Beyond what cache_folder.h asks of folders and files, the files of kernels
 * carry a code (base/hmac.h) made with a secret of 32 random bytes. The secret is in the folder's file ".key",
 * created with the first kernel that is stored and readable by this user only. A file that was altered, or put there
 * while others could write, has a wrong code.
 */
#pragma once

#include "base.h"

#define GSH_CUDA_CACHE_SECRET_BYTES 32

/* Reads the folder's secret; `makes`: creates it where there is none. False: there is none. */
bool gsh_cuda_cache_trust_read(int folder, bool makes,
                               unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES]);
