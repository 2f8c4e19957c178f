/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that lie beside the library: in the folder of its own file, or in that of the symlink by which it was loaded.
 */
#pragma once

#include "base.h"

/* Puts the path of the file `name` there into `path`. False: there is none that may be accessed as `mode` says (access(2)), or its path
 * does not fit; `path` is then "". Any thread. */
bool gsh_beside_find(const char *name, int mode, char *path, size_t size);
