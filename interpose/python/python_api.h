/* SPDX-License-Identifier: Apache-2.0
 *
 * CPython without its headers: the functions of python_api.def, resolved with dlsym when NumPy
 * loads, and the few struct offsets that are the same in 3.9-3.14 (builds with a GIL). Reference
 * counts are never changed directly, since their layout differs between versions.
 */
#pragma once

#include "base.h"
#include "status.h"

typedef struct _object PyObject;
typedef ptrdiff_t Py_ssize_t;
struct gsh_pymethoddef;

/* gsh_py.<name>: the function, or for data the object's address. All are NULL until
 * gsh_python_api_init succeeds. */
struct gsh_python_api {
#define F(type, name, parameters) type(*name) parameters;
#define D(name) PyObject *name;
#include "python_api.def"
#undef F
#undef D
};
extern struct gsh_python_api gsh_py;

/* Releases the reference to each object that is not NULL. */
static inline void gsh_py_drop(PyObject *const *objects, unsigned count)
{
    for (unsigned j = 0; j < count; j++)
        if (objects[j] != NULL)
            gsh_py.Py_DecRef(objects[j]);
}

/* A tuple of the objects, which takes over their references; NULL leaves an item empty. NULL with a
 * Python error: the references are the caller's still. */
static inline PyObject *gsh_py_tuple(PyObject *const *objects, unsigned count)
{
    PyObject *tuple = gsh_py.PyTuple_New((Py_ssize_t)count);
    for (unsigned j = 0; tuple && j < count; j++)
        if (objects[j])
            gsh_py.PyTuple_SetItem(tuple, (Py_ssize_t)j, objects[j]);
    return tuple;
}

/* A dict of names for code to run, with the builtins. NULL with a Python error. */
static inline PyObject *gsh_py_names(void)
{
    PyObject *names = gsh_py.PyDict_New();
    if (names)
        gsh_py.PyDict_SetItemString(names, "__builtins__", gsh_py.PyEval_GetBuiltins());
    return names;
}

/* Whether Python is loaded in this process. Leaves no dlerror. Any thread. */
bool gsh_python_api_is_loaded(void);
/* Resolves the table and checks the version. DECLINED: Python is not loaded, has no GIL, or is
 * outside 3.9-3.14; *why names the cause (static text). */
enum gsh_status gsh_python_api_init(const char **why);

/* PyTypeObject up to the last field used */
struct gsh_pytype {
    char head[24];
    const char *tp_name;
    Py_ssize_t tp_basicsize;
    Py_ssize_t tp_itemsize;
    void *tp_dealloc;
    Py_ssize_t tp_vectorcall_offset;
    void *tp_getattr, *tp_setattr, *tp_as_async, *tp_repr;
    struct gsh_pynumber *tp_as_number;
    void *tp_as_sequence;
    struct gsh_pymapping *tp_as_mapping;
    void *tp_hash, *tp_call, *tp_str, *tp_getattro, *tp_setattro, *tp_as_buffer;
    unsigned long tp_flags;
    const char *tp_doc;
    void *tp_traverse, *tp_clear, *tp_richcompare;
    Py_ssize_t tp_weaklistoffset;
    void *tp_iter, *tp_iternext;
    struct gsh_pymethoddef *tp_methods;
    void *tp_members;
    struct gsh_pygetsetdef *tp_getset;
    void *tp_base, *tp_dict, *tp_descr_get, *tp_descr_set;
    Py_ssize_t tp_dictoffset;
    void *tp_init, *tp_alloc, *tp_new;
};
_Static_assert(offsetof(struct gsh_pytype, tp_as_mapping) == 112, "PyTypeObject");
_Static_assert(offsetof(struct gsh_pytype, tp_flags) == 168, "PyTypeObject");
_Static_assert(offsetof(struct gsh_pytype, tp_methods) == 232, "PyTypeObject");
_Static_assert(offsetof(struct gsh_pytype, tp_new) == 312, "PyTypeObject");

/* PyNumberMethods */
struct gsh_pynumber {
    void *nb_arithmetic[9]; /* nb_add to nb_absolute */
    int (*nb_bool)(PyObject *);
    void *nb_bitwise[6]; /* nb_invert to nb_or */
    PyObject *(*nb_int)(PyObject *);
    void *nb_reserved;
    PyObject *(*nb_float)(PyObject *);
    void *nb_in_place[10];
    void *nb_division[4];
    PyObject *(*nb_index)(PyObject *);
};
_Static_assert(offsetof(struct gsh_pynumber, nb_bool) == 72, "PyNumberMethods");
_Static_assert(offsetof(struct gsh_pynumber, nb_float) == 144, "PyNumberMethods");
_Static_assert(offsetof(struct gsh_pynumber, nb_index) == 264, "PyNumberMethods");

/* PyMappingMethods */
struct gsh_pymapping {
    Py_ssize_t (*mp_length)(PyObject *);
    PyObject *(*mp_subscript)(PyObject *, PyObject *);
    int (*mp_ass_subscript)(PyObject *, PyObject *, PyObject *);
};

/* PyMethodDef and its ml_flags */
struct gsh_pymethoddef {
    const char *ml_name;
    void *ml_meth;
    int ml_flags;
    const char *ml_doc;
};
#define GSH_METH_VARARGS 0x0001
#define GSH_METH_KEYWORDS 0x0002
#define GSH_METH_NOARGS 0x0004
#define GSH_METH_O 0x0008
#define GSH_METH_FASTCALL 0x0080

/* PyGetSetDef */
struct gsh_pygetsetdef {
    const char *name;
    void *get, *set;
    const char *doc;
    void *closure;
};

/* PyCFunctionObject (and CyFunction, which extends it) */
struct gsh_pycfunction {
    char head[16];
    struct gsh_pymethoddef *m_ml;
};

#define GSH_PYCFUNCTION_VECTORCALL 48 /* offset of its vectorcall, which fixes those before it */

/* PyMethodDescrObject */
struct gsh_pymethoddescr {
    char head[40]; /* PyDescr_COMMON */
    struct gsh_pymethoddef *d_method;
};

/* The number of positional arguments in a vectorcall's nargsf. */
static inline size_t gsh_py_nargs(size_t nargsf)
{
    return nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1));
}

/* Py_TYPE, borrowed. */
static inline PyObject *gsh_py_type(PyObject *object)
{
    return *(PyObject **)((char *)object + 8);
}

/* Py_SIZE of a tuple or list. */
static inline Py_ssize_t gsh_py_size(PyObject *object)
{
    return *(const Py_ssize_t *)((const char *)object + 16);
}

/* The items of a list, borrowed: PyListObject.ob_item. */
static inline PyObject *const *gsh_py_list_items(PyObject *list)
{
    return *(PyObject *const *const *)((const char *)list + 24);
}

/* Value of an exact float. */
static inline double gsh_py_float_value(PyObject *exact_float)
{
    return *(const double *)((const char *)exact_float + 16);
}

static inline bool gsh_py_is_none(PyObject *object)
{
    return object == gsh_py._Py_NoneStruct;
}

/* A new reference. */
static inline PyObject *gsh_py_none(void)
{
    gsh_py.Py_IncRef(gsh_py._Py_NoneStruct);
    return gsh_py._Py_NoneStruct;
}
