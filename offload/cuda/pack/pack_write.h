/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the file of cuda_pack.h.
 */
#pragma once

#include "pack_compile.h"

/* Writes the images that are there, as gsh_pack_compile_run left them, under a temporary name, and renames it to `path`.
 * FAILED: no file was written, or an existing one replaced. */
enum gsh_status gsh_pack_write_file(const char *path, const struct gsh_pack_set *set,
                                    const struct gsh_cuda_target *targets, size_t target_count,
                                    const struct gsh_pack_image *images);
