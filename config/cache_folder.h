/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder in which the library keeps what the next process can use: compiled kernels, profiles of scripts. Trusted are
 * folders and files of this user that nobody else may write. Takes no lock, allocates nothing.
 */
#pragma once

#include "base.h"

/* Longest path of the folder, in bytes. */
enum { GSH_CACHE_FOLDER_MAX = 3000 };

/* $GPUSHIM_CACHE_DIR, else $XDG_CACHE_HOME/gpushim, else ~/.cache/gpushim, whether it exists or not. "": none of them is set, or
 * the path is too long. */
void gsh_cache_folder_find(char path[GSH_CACHE_FOLDER_MAX + 1]);
/* A descriptor of the folder, which the caller closes; -1: it does not exist, or (*is_refused) others may write it. */
int gsh_cache_folder_open(const char *path, bool *is_refused);
/* The same; creates the folder, with its parents, where it does not exist. */
int gsh_cache_folder_open_or_make(const char *path, bool *is_refused);
/* Whether the descriptor is a regular file of this user that nobody else may write. */
bool gsh_cache_folder_trusts(int fd);
