/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the program stands: the innermost Python frame's code, its instruction and its globals, noted with a few loads,
 * so that a warning can name its line later. The offsets that this needs in CPython's thread state and frames are found
 * at attach by comparing with what its functions tell; where that does not come out, no place is ever known. Code
 * objects that were noted lately are kept alive, globals are not. GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* A noted place; {0} is none. It is forgotten once enough others were noted. */
struct gsh_python_place {
    uint32_t note;
    int32_t instruction; /* offset in the code, bytes */
};

/* What is known of a place; all borrowed. */
struct gsh_python_place_info {
    PyObject *code;
    PyObject *module;    /* globals["__name__"], or NULL: no str */
    const void *globals; /* an address to compare with; the dict itself may be gone */
    PyObject **
        kept; /* for a reference of the caller's choice, which is given up with the code's note; NULL at first */
    int line;
};

/* Finds the offsets. Once, at attach, in a thread that runs Python code. */
void gsh_python_place_init(void);
/* The place of this thread. */
struct gsh_python_place gsh_python_place_note(void);
/* False: not known any more. */
bool gsh_python_place_find(struct gsh_python_place place, struct gsh_python_place_info *info);
