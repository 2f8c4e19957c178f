/* SPDX-License-Identifier: Apache-2.0
 *
 * The NumPy struct layouts that gpushim relies on, and the slots of the C-API table that it calls.
 * Apart from PyArray_Descr.elsize the layouts are the same in 1.22-2.5 (GIL builds). gpushim is not
 * compiled against NumPy: offsets are asserted here, versions are checked at attach.
 */
#pragma once

#include "dtypes.h"
#include "python_api.h"

/* PyArrayObject_fields */
struct gsh_ndarray {
    char head[16];
    char *data;
    int nd;
    int64_t *dimensions;
    int64_t *strides;
    PyObject *base;
    PyObject *descr;
    int flags;
    PyObject *weakreflist;
    void *buffer_info;
    PyObject *mem_handler;
};
_Static_assert(offsetof(struct gsh_ndarray, data) == 16, "PyArrayObject");
_Static_assert(offsetof(struct gsh_ndarray, dimensions) == 32, "PyArrayObject");
_Static_assert(offsetof(struct gsh_ndarray, descr) == 56, "PyArrayObject");
_Static_assert(offsetof(struct gsh_ndarray, flags) == 64, "PyArrayObject");
_Static_assert(offsetof(struct gsh_ndarray, mem_handler) == 88, "PyArrayObject");

#define GSH_NPY_C_CONTIGUOUS 0x0001
#define GSH_NPY_F_CONTIGUOUS 0x0002
#define GSH_NPY_OWNDATA 0x0004
#define GSH_NPY_ALIGNED 0x0100
#define GSH_NPY_WRITEABLE 0x0400
#define GSH_NPY_WRITEBACKIFCOPY 0x2000

/* PyArray_Descr up to the fields that all versions share */
struct gsh_descr {
    char head[16];
    PyObject *typeobj;
    char kind, type, byteorder, flags_1x;
    int type_num;
};
_Static_assert(offsetof(struct gsh_descr, byteorder) == 26, "PyArray_Descr");
_Static_assert(offsetof(struct gsh_descr, type_num) == 28, "PyArray_Descr");

typedef PyObject *(*gsh_vectorcall)(PyObject *callable, PyObject *const *args, size_t nargsf,
                                    PyObject *kwnames);
typedef void (*gsh_ufunc_loop)(char **args, const int64_t *dimensions, const int64_t *steps,
                               void *data);

/* PyUFuncObject up to the last field used */
struct gsh_ufunc {
    char head[16];
    int nin, nout, nargs, identity;
    gsh_ufunc_loop *functions;
    void **data;
    int ntypes, reserved1;
    const char *name;
    const char *types; /* nargs type numbers per loop */
    const char *doc;
    void *ptr;
    PyObject *obj, *userloops;
    int core_enabled, core_num_dim_ix;
    void *core_num_dims, *core_dim_ixs, *core_offsets, *core_signature;
    void *type_resolver, *inner_loop_selector;
    gsh_vectorcall vectorcall;
};
_Static_assert(offsetof(struct gsh_ufunc, functions) == 32, "PyUFuncObject");
_Static_assert(offsetof(struct gsh_ufunc, name) == 56, "PyUFuncObject");
_Static_assert(offsetof(struct gsh_ufunc, core_enabled) == 104, "PyUFuncObject");
_Static_assert(offsetof(struct gsh_ufunc, vectorcall) == 160, "PyUFuncObject");

/* PyDataMem_Handler */
struct gsh_numpy_handler {
    char name[127];
    uint8_t version;
    void *ctx;
    void *(*malloc)(void *ctx, size_t size);
    void *(*calloc)(void *ctx, size_t count, size_t size);
    void *(*realloc)(void *ctx, void *address, size_t size);
    void (*free)(void *ctx, void *address, size_t size);
};
_Static_assert(offsetof(struct gsh_numpy_handler, version) == 127, "PyDataMem_Handler");
_Static_assert(offsetof(struct gsh_numpy_handler, ctx) == 128, "PyDataMem_Handler");

struct gsh_numpy_dims { /* PyArray_Dims */
    int64_t *values;
    int count;
};

/* X(slot, type, name, (parameters)): functions of the table behind _ARRAY_API. The slots are the
 * same in 1.22-2.5. */
#define GSH_NUMPY_API(X)                                                                           \
    X(0, unsigned, GetNDArrayCVersion, (void))                                                     \
    X(45, PyObject *, DescrFromType, (int type_num)) /* new reference */                           \
    X(69, PyObject *, FromAny,                       /* steals descr, which may be NULL */         \
      (PyObject * object, PyObject * descr, int min_ndim, int max_ndim, int flags,                 \
       PyObject *context))                                                                         \
    X(60, PyObject *, Scalar, (void *data, PyObject *descr, PyObject *base)) /* copies */          \
    X(76, PyObject *, Return, (PyObject * array)) /* steals; 0-d array -> scalar */                \
    X(92, void, UpdateFlags, (PyObject * array, int flags))                                        \
    X(94, PyObject *, NewFromDescr, /* steals descr */                                             \
      (PyObject * type, PyObject * descr, int nd, const int64_t *dims, const int64_t *strides,     \
       void *data, int flags, PyObject *base))                                                     \
    X(123, PyObject *, Transpose, (PyObject * array, struct gsh_numpy_dims * axes)) /* a view */   \
    X(174, int, DescrConverter,                                                                    \
      (PyObject * object, PyObject * *descr)) /* 1: ok, new reference; 0: error set */             \
    X(211, unsigned, GetNDArrayCFeatureVersion, (void))                                            \
    X(269, int, CastingConverter, (PyObject * object, int *casting)) /* enum gsh_casting */        \
    X(270, int64_t, CountNonzero, (PyObject * array))                                              \
    X(273, PyObject *, ResultType, /* new reference, or NULL and an error */                       \
      (int64_t narrays, PyObject * *arrays, int64_t ndescrs, PyObject * *descrs))                  \
    X(275, unsigned char, CanCastTypeTo, (PyObject * from, PyObject * to, int casting))

enum gsh_casting {
    GSH_CASTING_NO,
    GSH_CASTING_EQUIV,
    GSH_CASTING_SAFE,
    GSH_CASTING_SAME_KIND,
    GSH_CASTING_UNSAFE
};

/* Facts about this process's NumPy, found at attach and constant afterwards. Object references are
 * never released. */
struct gsh_numpy_abi {
    int major;                                 /* 1 or 2 */
    unsigned feature;                          /* NPY_FEATURE_VERSION: 0x0f is 1.22, 0x12 is 2.0 */
    char version[32];                          /* numpy.__version__ */
    PyObject *module;                          /* _multiarray_umath */
    PyObject *dict;                            /* its dict */
    void **table;                              /* its C-API table, for other C modules; writable */
    void *library;                             /* dlopen handle of its shared object */
    PyObject *ndarray_type, *ufunc_type;       /* exact types */
    PyObject *descr_type;                      /* numpy.dtype */
    PyObject *descrs[GSH_DTYPE_COUNT];         /* native singletons */
    PyObject *scalar_types[GSH_DTYPE_COUNT];   /* numpy.bool_, int8, ... */
    struct gsh_numpy_handler *default_handler; /* the default allocator, writable */
    gsh_vectorcall
        call_ufunc; /* the original vectorcall of all ufuncs; NULL until ufuncs are hooked */
#define X(slot, type, name, parameters) type(*name) parameters;
    GSH_NUMPY_API(X)
#undef X
};
extern struct gsh_numpy_abi gsh_np;

/* Fills gsh_np from the initialised module. DECLINED: the version is outside 1.22-2.5 or a layout
 * check failed; *why names the cause (static text). Leaves no Python error. GIL. */
enum gsh_status gsh_numpy_abi_init(PyObject *module, const char **why);

/* Bytes per element of a dtype object. */
static inline int64_t gsh_numpy_abi_elsize(PyObject *descr)
{
    const char *bytes = (const char *)descr;
    return gsh_np.major >= 2 ? *(const int64_t *)(bytes + 40) : *(const int32_t *)(bytes + 32);
}

static inline bool gsh_numpy_is_array(PyObject *object)
{
    return gsh_py_type(object) == gsh_np.ndarray_type;
}

static inline struct gsh_ndarray *gsh_numpy_array(PyObject *array)
{
    return (struct gsh_ndarray *)array;
}

/* The enum gsh_dtype of NumPy's type number, or -1. */
static inline int gsh_numpy_dtype_of_type(int number)
{
    static const signed char by_number[] = {
#define X(name, c_type, c_stored, cuda_type, cuda_stored, kind, numpy_char, type_num, ...)         \
    [type_num] = 1 + GSH_##name,
#include "dtypes.def"
#undef X
    };
    return (size_t)number < GSH_COUNT(by_number) ? by_number[number] - 1 : -1;
}

/* The enum gsh_dtype of the dtype object. -1: not supported, or not in native byte order. */
static inline int gsh_numpy_dtype(PyObject *descr)
{
    const struct gsh_descr *fields = (const struct gsh_descr *)descr;
    return fields->byteorder == '>' ? -1 : gsh_numpy_dtype_of_type(fields->type_num);
}
