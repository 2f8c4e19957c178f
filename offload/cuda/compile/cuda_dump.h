/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_DUMP: the text of every kernel that this process uses, for whoever wants to read it.
 */
#pragma once

/* Writes the text to <folder>/<hash of the key>.cu, its key in the first line; an existing file is
 * overwritten. Nothing without the option; a folder that cannot be written is told once. */
void gsh_cuda_dump(const char *key, unsigned long long hash, const char *text);
