/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies one call (GPUSHIM_VERIFY): what the device computed for it is compared with what the original computes on the CPU, on copies
 * of what the call writes. The program keeps the device's results. A hook that has no device's call between begin and end loses a
 * few loads where verification is off. GIL; leaves no Python error, and one that is set stays.
 */
#pragma once

#include "numpy_abi.h"
#include "verify_share.h"
#include "witness.h"

enum { GSH_NUMPY_VERIFY_VALUES = 16 };

/* The call as the hook has it; all references are borrowed, and live until end. */
struct gsh_numpy_verify_call {
    const char *name;
    PyObject *self;
    PyObject *const *values; /* positional, then those of kwnames */
    size_t positional;
    PyObject *kwnames; /* a tuple, or NULL */
    PyObject *kwdict;  /* a dict, or NULL; then there is no kwnames */
    bool writes_self;
    unsigned writes; /* 1 << index: a positional value that the call writes; keywords: out */
    /* Calls the original with other objects in these places; returns a new reference, or NULL with an exception. */
    PyObject *(*again)(const void *hook, PyObject *self, PyObject *const *values, size_t positional,
                       PyObject *kwnames, PyObject *kwdict);
    const void *hook;
};

struct gsh_numpy_verify {
    struct gsh_numpy_verify_call call;
    struct gsh_witness witness;
    bool is_attended, is_chosen, is_refused;
    int gap;        /* enum gsh_verify_gap, where is_refused */
    unsigned count; /* of values */
    PyObject *self,
        *values[GSH_NUMPY_VERIFY_VALUES]; /* copies of what is written, or NULL; owned */
    PyObject *kwdict;                     /* with copies; owned */
};

/* Before the call. */
void gsh_numpy_verify_begin(struct gsh_numpy_verify *verify,
                            const struct gsh_numpy_verify_call *call);
/* After it, with its result or NULL, which is returned. */
PyObject *gsh_numpy_verify_end(struct gsh_numpy_verify *verify, PyObject *result);
/* Reads the option and adds the report's section. Once, at attach. */
void gsh_numpy_verify_init(void);
