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

/* Finds the offsets. Called at attach, more than once, in a thread that runs Python code. */
void gsh_python_place_init(void);
/* Notes the current place of this thread. */
struct gsh_python_place gsh_python_place_note(void);
/* A frame that runs; borrowed. */
struct gsh_python_place_frame {
    PyObject *code;
    int instruction;
};

/* The calling thread's handle for the walk; NULL: the stack cannot be walked. */
const void *gsh_python_place_thread(void);
/* The same in a signal handler, and in a thread without the GIL. */
const void *gsh_python_place_own_thread_sigsafe(void);
/* The innermost frames of the calling thread, or of one that waits meanwhile; their number. Needs no GIL. */
unsigned gsh_python_place_walk_sigsafe(const void *thread, struct gsh_python_place_frame *frames,
                                       unsigned most);
/* The line that a frame runs, 0: none. Its code must be alive; a thread that has the GIL may wait for this one. */
int gsh_python_place_line_sigsafe(struct gsh_python_place_frame frame);

/* Looks up a noted place. False: it was forgotten. */
bool gsh_python_place_find(struct gsh_python_place place, struct gsh_python_place_info *info);
