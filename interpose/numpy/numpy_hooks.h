/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of all patches, which the doctor prints. One row per patch; rows are never removed.
 */
#pragma once

#include "fmt.h"
#include "python_api.h"

struct gsh_hook {
    /* "ufunc", "gufunc", "reduce", "method", "module", "C API", "mapping", "attribute", "number", "allocator", "buffer", "address", "loop", "type" */
    const char *family;
    const char *name; /* what was patched: "add", "ndarray.copy", "arange" */
    const char
        *self_test; /* Python statements that must reach the hook, or NULL: not testable. Names: m,
                       the module _multiarray_umath; a, a float64 array of two elements; b, another;
                       s, one of a subclass, large enough to be described; f, the subject */
    PyObject *subject;    /* borrowed, or NULL */
    const uint64_t *hits; /* the counter of its calls */
    uint64_t own_hits;    /* the counter of hooks that have no other */
    bool installed;
    bool live; /* the self-test moved the counter */
};

/* Adds a row with `installed` true and `hits` pointing to own_hits. The texts must stay valid.
 * Never NULL: if the table is full, returns a spare row. GIL. */
struct gsh_hook *gsh_numpy_hooks_add(const char *family, const char *name, const char *self_test);
/* Counts one call. */
static inline void gsh_numpy_hooks_hit(struct gsh_hook *hook)
{
    hook->own_hits++;
}
/* Called after the last patch: rebuilds NumPy's set of its own functions. CPython hashes a builtin
 * by its C function, which a patch replaces, and the set was filled before. GIL. */
void gsh_numpy_hooks_rehash(void);
/* Runs every self-test and sets `live`. GIL; leaves no Python error. */
void gsh_numpy_hooks_self_test(void);
/* Prints one line per row, or one line per family if all its rows are live. */
void gsh_numpy_hooks_describe(struct gsh_fmt *fmt);

/* The families. Each installs its patches once; a patch that cannot be installed is skipped. Attach
 * calls them in this order. GIL; no Python error is left. */
#define GSH_NUMPY_FAMILIES(X)                                                                      \
    X(alloc)                                                                                       \
    X(buffer)                                                                                      \
    X(address)                                                                                     \
    X(errors)                                                                                      \
    X(ufunc)                                                                                       \
    X(gufunc)                                                                                      \
    X(parallel)                                                                                    \
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
    X(index)                                                                                       \
    X(element)                                                                                     \
    X(flat)                                                                                        \
    X(parts)                                                                                       \
    X(converter)                                                                                   \
    X(dispatcher)                                                                                  \
    X(take)                                                                                        \
    X(sort)                                                                                        \
    X(order)                                                                                       \
    X(search)                                                                                      \
    X(bincount)                                                                                    \
    X(nonzero) X(where) X(join) X(methods) X(compositions) X(reshape) X(round) X(matmul) X(einsum)
#define X(family) void gsh_numpy_##family##_install(void);
GSH_NUMPY_FAMILIES(X)
#undef X

/* Families whose work several cores share: copies, reductions, choices. These install that part where there is no device. As above. */
#define GSH_NUMPY_CORES_FAMILIES(X) X(assign) X(index) X(methods) X(reduce) X(reshape) X(where)
#define X(family) void gsh_numpy_##family##_install_without_device(void);
GSH_NUMPY_CORES_FAMILIES(X)
#undef X

/* Called after all families: learns at which call sites a reduction's array is an expiring value
 * (numpy_expiring.h). GIL; leaves no Python error. */
void gsh_numpy_reduce_learn(void);
