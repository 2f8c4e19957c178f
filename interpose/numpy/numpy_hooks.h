/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of everything that was patched: the doctor prints it. One row per patch; rows are never
 * removed.
 */
#pragma once

#include "fmt.h"
#include "python_api.h"

struct gsh_hook {
    /* "ufunc", "gufunc", "reduce", "method", "module", "C API", "mapping", "allocator", "buffer", "address", "loop" */
    const char *family;
    const char *name; /* what was patched: "add", "ndarray.copy", "arange" */
    const char
        *self_test; /* Python statements that must reach the hook, or NULL: not testable. Names: m,
                       the module _multiarray_umath; a, a float64 array of two elements; b, another;
                       s, one of a subclass, large enough to be described; f, the subject */
    PyObject *subject;    /* borrowed, or NULL */
    const uint64_t *hits; /* where its calls are counted */
    uint64_t own_hits;    /* the counter of hooks that have none elsewhere */
    bool installed;
    bool live; /* the self-test moved the counter */
};

/* A new row, `installed` true, `hits` pointing to own_hits; texts are kept, not copied. Never NULL:
 * once the table is full a spare row is returned. GIL. */
struct gsh_hook *gsh_numpy_hooks_add(const char *family, const char *name, const char *self_test);
/* Counts one call. */
static inline void gsh_numpy_hooks_hit(struct gsh_hook *hook)
{
    hook->own_hits++;
}
/* After the last patch: rebuilds NumPy's set of its own functions. CPython hashes a builtin by the
 * function that a patch replaces, and the set was filled before. GIL. */
void gsh_numpy_hooks_rehash(void);
/* Runs every self-test and sets `live`. GIL; leaves no Python error behind. */
void gsh_numpy_hooks_self_test(void);
/* One line per row, or per family where nothing is amiss. */
void gsh_numpy_hooks_describe(struct gsh_fmt *fmt);

/* The families; each installs all its patches, or as many as it can, once. Attach calls them in
 * this order. GIL; no Python error is left behind. */
#define GSH_NUMPY_FAMILIES(X)                                                                      \
    X(alloc)                                                                                       \
    X(buffer)                                                                                      \
    X(address)                                                                                     \
    X(errors)                                                                                      \
    X(ufunc)                                                                                       \
    X(gufunc)                                                                                      \
    X(loops)                                                                                       \
    X(outer)                                                                                       \
    X(reduce)                                                                                      \
    X(accumulate)                                                                                  \
    X(reduceat)                                                                                    \
    X(argreduce)                                                                                   \
    X(at)                                                                                          \
    X(creation)                                                                                    \
    X(assign)                                                                                      \
    X(capi)                                                                                        \
    X(index) X(flat) X(take) X(nonzero) X(where) X(join) X(methods) X(round) X(matmul) X(einsum)
#define X(family) void gsh_numpy_##family##_install(void);
GSH_NUMPY_FAMILIES(X)
#undef X

/* After all families: learns from which calls a reduction's array dies with the call (numpy_expiring.h). GIL; leaves no Python
 * error behind. */
void gsh_numpy_reduce_learn(void);
