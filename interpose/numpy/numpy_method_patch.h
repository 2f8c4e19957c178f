/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks builtin functions and methods of NumPy by replacing ml_meth in NumPy's static method
 * tables. ml_flags stay, because CPython chose the calling convention from them when it read the
 * table. CPython hashes a builtin by its ml_meth: see gsh_numpy_hooks_rehash. Four calling
 * conventions are converted to one view of the arguments, without copies on the fast path. Every
 * call ends with a handler's result or in the original; before the original runs, the operands that
 * it may read are fetched to the host in bulk.
 */
#pragma once

#include "numpy_abi.h"
#include "numpy_hooks.h"
#include "reasons.h"

enum gsh_method_table {
    GSH_METHOD_UFUNC,        /* methods of numpy.ufunc */
    GSH_METHOD_NDARRAY,      /* methods of numpy.ndarray */
    GSH_METHOD_MODULE,       /* functions of _multiarray_umath */
    GSH_METHOD_FFT_MODULE,   /* functions of numpy.fft._pocketfft_internal (NumPy 1) */
    GSH_METHOD_SCIPY_FFT,    /* functions of the module that scipy.fft computes with */
    GSH_METHOD_SCIPY_LINALG, /* and of scipy.linalg's */
    GSH_METHOD_SCIPY_NDIMAGE,
    GSH_METHOD_SCIPY_RANK,  /* of scipy.ndimage's module for lines */
    GSH_METHOD_SCIPY_LABEL, /* and for labels */
    GSH_METHOD_SCIPY_SIGNAL,
    GSH_METHOD_SCIPY_SOSFILT, /* a function for several types of Cython's; hooks are named by the type */
    GSH_METHOD_SCIPY_UPFIRDN, /* the same */
    GSH_METHOD_SCIPY_SPARSE,
    GSH_METHOD_SCIPY_DISTANCE,
    GSH_METHOD_SCIPY_COSINE,      /* of scipy.spatial.distance's older module */
    GSH_METHOD_SCIPY_SPLINE,      /* of scipy.interpolate: of B-splines */
    GSH_METHOD_SCIPY_GRID,        /* of regular grids */
    GSH_METHOD_SCIPY_GRID_LINEAR, /* and the linear function there, by its types */
    GSH_METHOD_SCIPY_PIECEWISE,   /* the value of piecewise polynomials, by its types */
    GSH_METHOD_GENERATOR, /* methods of numpy.random.Generator; no verification calls them again */
    GSH_METHOD_RANDOM_STATE /* and of numpy.random.RandomState */
};

/* One call as the caller made it. All references are borrowed. */
struct gsh_method_call {
    PyObject *self; /* for module functions, the module */
    PyObject *const *args;
    size_t nargs;
    PyObject *kwnames; /* FASTCALL: tuple of names whose values follow the positional arguments, or
                          NULL */
    PyObject *kwdict;  /* VARARGS: dict, or NULL */
};

/* Tries to compute the call on the device. Returns a new reference, or NULL and *why: declined,
 * nothing was changed, no Python error. *why stays NONE if the decline need not be counted (a small
 * call, nothing resident). *row: see gsh_numpy_output_row. */
typedef PyObject *(*gsh_method_handler)(const struct gsh_method_call *call, enum gsh_reason *why,
                                        unsigned *row);

/* What a verification compares the device's result with, where NumPy leaves open what the original gives: as the original, a new
 * reference, or NULL with a Python exception. */
typedef PyObject *(*gsh_method_reference)(const struct gsh_method_call *call);

/* What decides whether the handler is asked. If it is small and not on the device, the call goes
 * straight to the original (see gsh_numpy_method_patch_is_worth and _is_small_product). */
enum gsh_method_subject {
    GSH_METHOD_ASK_ALWAYS,
    GSH_METHOD_ASK_BY_SELF,
    GSH_METHOD_ASK_BY_KIN,    /* self; of an instance of a subclass, whether it is on the device */
    GSH_METHOD_ASK_BY_FIRST,  /* the first argument */
    GSH_METHOD_ASK_BY_EITHER, /* self or the first argument */
    GSH_METHOD_ASK_BY_ITEMS, /* the same; a list or tuple that begins with an array is asked about where one of its arrays is on the
                                device, an instance of a subclass where it is itself */
    GSH_METHOD_ASK_BY_PRODUCT,  /* self and the first argument of a method of arrays, else the first
                                  two arguments */
    GSH_METHOD_ASK_IF_RESIDENT, /* only where self is an exact ndarray on the device */
    GSH_METHOD_ASK_BY_ANY,      /* one of the first arguments, where a device is live */
    GSH_METHOD_ASK_BY_LENGTH /* the argument at `length_at`: no int below `least`; where it is absent, keywords or an array on the device */
};

#define GSH_METHOD_FIRST_ARGS 8 /* those that an ASK_ looks at, at most */
#define GSH_METHOD_MAX_ARGS 12  /* positional; calls with more go straight to the original */
#define GSH_METHOD_WRITES_SELF 1u
#define GSH_METHOD_WRITES_ARG(index) (2u << (index))

struct gsh_method_hook {
    enum gsh_method_table table;
    const char *name;
    gsh_method_handler handler;     /* NULL: the hook only fetches operands to the host */
    gsh_method_reference reference; /* NULL: the original */
    enum gsh_method_subject subject;
    unsigned writes; /* GSH_METHOD_WRITES_*: arrays that the original writes in place */
    bool
        uses_cores; /* the handler is asked where no device is live, too: it copies on several cores */
    signed char length_at; /* of ASK_BY_LENGTH, below GSH_METHOD_FIRST_ARGS */
    int64_t least;
    const char *self_test; /* see struct gsh_hook */
    void *fastcall_keywords, *fastcall, *varargs_keywords,
        *varargs; /* the entry point for each convention */
    void *original;
    int flags; /* ml_flags */
    struct gsh_hook *row;
};

/* Whether the method exists in this process. GIL. */
bool gsh_numpy_method_patch_finds(const struct gsh_method_hook *hook);

/* Patches the table. False: the method does not exist, or its convention is unknown. GIL. */
bool gsh_numpy_method_patch_install(struct gsh_method_hook *hook);

/* slots[i] = the argument of names[i], or NULL: not given. The first max_positional may be given by
 * position. False: leave the call to NumPy (unknown, duplicate or too many arguments). */
bool gsh_numpy_method_patch_bind(const struct gsh_method_call *call, const char *const *names,
                                 unsigned count, unsigned max_positional, PyObject **slots);

/* Whether the object is an exact ndarray that has at least gsh_dispatch_min_elements elements or is
 * resident. */
bool gsh_numpy_method_patch_is_worth(PyObject *object);

/* Whether both objects are exact ndarrays, their product has fewer multiplications than
 * gsh_dispatch_min_elements, and neither is resident. */
bool gsh_numpy_method_patch_is_small_product(PyObject *a, PyObject *b);

/* Calls the original with the arguments of `call` on another array. Returns a new reference, or NULL
 * with a Python exception. */
PyObject *gsh_numpy_method_patch_call_original(const struct gsh_method_hook *hook,
                                               const struct gsh_method_call *call, PyObject *self);

/* The entry points behind GSH_METHOD_HOOK. */
PyObject *gsh_numpy_method_patch_fastcall(struct gsh_method_hook *hook, PyObject *self,
                                          PyObject *const *args, Py_ssize_t nargs,
                                          PyObject *kwnames);
PyObject *gsh_numpy_method_patch_varargs(struct gsh_method_hook *hook, PyObject *self,
                                         PyObject *args, PyObject *kwargs);

/* Defines `static struct gsh_method_hook id`. The remaining arguments are its designated
 * initialisers; a semicolon ends it. A C function has no closure, so each hook has its own set of
 * entry points. */
#define GSH_METHOD_HOOK(id, ...)                                                                   \
    static struct gsh_method_hook id;                                                              \
    static PyObject *id##_fastcall_keywords(PyObject *self, PyObject *const *args,                 \
                                            Py_ssize_t nargs, PyObject *kwnames)                   \
    {                                                                                              \
        return gsh_numpy_method_patch_fastcall(&id, self, args, nargs, kwnames);                   \
    }                                                                                              \
    static PyObject *id##_fastcall(PyObject * self, PyObject *const *args, Py_ssize_t nargs)       \
    {                                                                                              \
        return gsh_numpy_method_patch_fastcall(&id, self, args, nargs, NULL);                      \
    }                                                                                              \
    static PyObject *id##_varargs_keywords(PyObject *self, PyObject *args, PyObject *kwargs)       \
    {                                                                                              \
        return gsh_numpy_method_patch_varargs(&id, self, args, kwargs);                            \
    }                                                                                              \
    static PyObject *id##_varargs(PyObject *self, PyObject *args)                                  \
    {                                                                                              \
        return gsh_numpy_method_patch_varargs(&id, self, args, NULL);                              \
    }                                                                                              \
    static struct gsh_method_hook id = {.fastcall_keywords = (void *)id##_fastcall_keywords,       \
                                        .fastcall = (void *)id##_fastcall,                         \
                                        .varargs_keywords = (void *)id##_varargs_keywords,         \
                                        .varargs = (void *)id##_varargs,                           \
                                        __VA_ARGS__}
