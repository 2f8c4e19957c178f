/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes the current place in the program with a few loads: the innermost Python frame's code,
 * instruction and globals. A warning can then name its line later. The offsets in CPython's thread
 * state and frames are found at attach by comparison with the results of CPython's functions; if
 * that fails, places are unavailable. Recently noted code objects are kept alive, globals are not.
 * GIL; sets no Python error.
 */
#pragma once

#include "python_api.h"

/* A noted place; {0} is none. It is forgotten after enough other places were noted. */
struct gsh_python_place {
    uint32_t note;
    int32_t instruction; /* offset in the code object, bytes */
};

/* The data of a place; all references are borrowed. */
struct gsh_python_place_info {
    PyObject *code;
    PyObject *module;    /* globals["__name__"], or NULL if it is not a str */
    const void *globals; /* an address for comparison only; the dict may be freed */
    PyObject **kept;     /* NULL, or a reference that the caller sets; released with the note */
    int line;
};

/* Finds the offsets. Called once, at attach, in a thread that runs Python code. */
void gsh_python_place_init(void);
/* Notes the current place of this thread. */
struct gsh_python_place gsh_python_place_note(void);
/* Looks up a noted place. False: it was forgotten. */
bool gsh_python_place_find(struct gsh_python_place place, struct gsh_python_place_info *info);
