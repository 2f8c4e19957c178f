/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder in which the library keeps what the next process can use: compiled kernels, profiles of scripts. Trusted are
 * folders and files of this user that nobody else may write. Takes no lock, allocates nothing; async-signal-safe but for
 * gsh_cache_folder_find and gsh_cache_folder_enter, which read the environment. Checked by tests/unit/config/test_cache_folder.c.
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
/* A descriptor of gsh_cache_folder_find's folder, or of its `subfolder` ("/name"; "": none); `makes`: created where it does not
 * exist. -1: there is none, or others may write one of the two. */
int gsh_cache_folder_enter(const char *subfolder, bool makes);
/* Whether the descriptor is a regular file of this user that nobody else may write. */
bool gsh_cache_folder_trusts(int fd);

/* A file's longest name, in bytes. */
enum { GSH_CACHE_FOLDER_NAME_MAX = 63 };

/* The text of a file; false: there is none, or it is a link. A file that is not trusted, or has `size` bytes or more, is an empty
 * text. */
bool gsh_cache_folder_read_text(int folder, const char *name, char *text, size_t size);
/* Replaces the file as a whole: written under a temporary name, and renamed. False: it cannot be written, and is as it was. Of two
 * threads that write the same file, one or both may fail. */
bool gsh_cache_folder_write_text(int folder, const char *name, const char *text, size_t length);
