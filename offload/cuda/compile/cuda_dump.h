/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUSHIM_DUMP: writes the text of every kernel that this process uses, for inspection.
 */
#pragma once

/* Writes the text to <folder>/<hash of the key>.cu, with its key in the first line; overwrites an existing file. Does
 * nothing without the option; a folder that cannot be written is reported once. */
void gsh_cuda_dump(const char *key, unsigned long long hash, const char *text);
