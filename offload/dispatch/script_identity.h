/* SPDX-License-Identifier: Apache-2.0
 *
 * Which script this process runs, as its command line says: `python [options] script.py`, `python -m module ...`,
 * `python -c text ...`. No script: an interactive process, a script on standard input, a worker that multiprocessing has
 * spawned, a command line over 16 KiB. Reads /proc; takes no lock, allocates nothing.
 */
#pragma once

#include "base.h"

struct gsh_script_identity {
    unsigned __int128
        name; /* hash of what stays when the script is edited: its path and its arguments, or the arguments from -m or -c on;
                               the interpreter, the backend, this library's version */
    int64_t size; /* of the script's file, in bytes; 0 for -m and -c, as the times */
    int64_t seconds, nanoseconds; /* when the file was changed */
};

/* False: no script; *identity is not set. */
bool gsh_script_identity_get(struct gsh_script_identity *identity);

enum gsh_script_form {
    GSH_SCRIPT_NONE,
    GSH_SCRIPT_FILE, /* a path */
    GSH_SCRIPT_TEXT  /* arguments of Python */
};
/* Finds the script in a command line: `size` bytes, each argument ended by a NUL. *text is the path, or the argument with -m or
 * -c in it, which those behind it follow. Pure. */
enum gsh_script_form gsh_script_identity_find(const char *command, size_t size, const char **text);
