/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds this process's NumPy: version gate, C-API table, type objects, and a check of the assumed
 * struct layouts against live objects. Called once, with the GIL; leaves no Python error.
 */
#include "numpy_abi.h"

#include "python_error.h"
#include "python_text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct gsh_numpy_abi gsh_np;

enum { SLOT_ARRAY_TYPE = 2, SLOT_DESCR_TYPE = 3, SLOT_DEFAULT_HANDLER = 306 };

/* numpy.__version__ from numpy.version, which the package imports before its C modules. Empty if
 * unknown. */
static void find_version(char *text, size_t size)
{
    text[0] = 0;
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module = modules ? gsh_py.PyDict_GetItemString(modules, "numpy.version") : NULL;
    PyObject *version = module ? gsh_py.PyObject_GetAttrString(module, "version") : NULL;
    const char *utf8 = version ? gsh_python_text_utf8(version) : NULL;
    if (utf8) {
        strncpy(text, utf8, size - 1);
        text[size - 1] = 0;
    }
    if (version)
        gsh_py.Py_DecRef(version);
    gsh_python_error_clear();
}

/* A handle of the shared object that contains `address`. */
static void *open_library_of(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        return NULL;
    return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

static bool version_is_known(const struct gsh_numpy_abi *abi)
{
    int minor = 0;
    if (abi->version[0]) {
        const char *dot = strchr(abi->version, '.');
        minor = dot ? atoi(dot + 1) : 0;
        if (atoi(abi->version) != abi->major)
            return false;
    }
    /* 0x0f is the C-API's feature version in 1.22. No 1.x goes beyond 1.26; 2.x beyond 2.5 is not
     * supported. */
    if (abi->feature < 0x0f)
        return false;
    return abi->major == 1 || (abi->major == 2 && minor <= 5);
}

static void *capsule(PyObject *dict, const char *name, const char *capsule_name)
{
    PyObject *object = gsh_py.PyDict_GetItemString(dict, name);
    void *pointer = object ? gsh_py.PyCapsule_GetPointer(object, capsule_name) : NULL;
    gsh_python_error_clear();
    return pointer;
}

static bool fill_types(struct gsh_numpy_abi *abi, void **table)
{
    abi->ndarray_type = table[SLOT_ARRAY_TYPE];
    abi->descr_type = table[SLOT_DESCR_TYPE];
    for (int i = 0; i < GSH_DTYPE_COUNT; i++) {
        abi->descrs[i] = abi->DescrFromType(gsh_dtype_numpy_type((enum gsh_dtype)i));
        if (!abi->descrs[i])
            return false;
        abi->scalar_types[i] = ((const struct gsh_descr *)abi->descrs[i])->typeobj;
    }
    PyObject *add = gsh_py.PyDict_GetItemString(abi->dict, "add");
    abi->ufunc_type = add ? gsh_py_type(add) : NULL;
    return add && strcmp(((struct gsh_ufunc *)add)->name, "add") == 0;
}

static bool find_handler(struct gsh_numpy_abi *abi, void **table)
{
    PyObject **slot = table[SLOT_DEFAULT_HANDLER];
    PyObject *object = slot ? *slot : NULL;
    abi->default_handler = object ? gsh_py.PyCapsule_GetPointer(object, "mem_handler") : NULL;
    gsh_python_error_clear();
    return abi->default_handler && abi->default_handler->version == 1 &&
           strcmp(abi->default_handler->name, "default_allocator") == 0;
}

/* Whether a live array has the assumed layout. */
static bool check_layout(void)
{
    const int64_t dims[2] = {3, 5};
    PyObject *descr = gsh_np.descrs[GSH_FLOAT32];
    gsh_py.Py_IncRef(descr);
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, descr, 2, dims, NULL, NULL, 0, NULL);
    if (!array) {
        gsh_python_error_clear();
        return false;
    }
    const struct gsh_ndarray *fields = gsh_numpy_array(array);
    bool good =
        gsh_numpy_is_array(array) && fields->nd == 2 && fields->dimensions[1] == 5 &&
        fields->strides[0] == 20 && fields->descr == descr && fields->data && !fields->base &&
        (fields->flags & 0xffff) ==
            (GSH_NPY_C_CONTIGUOUS | GSH_NPY_OWNDATA | GSH_NPY_ALIGNED | GSH_NPY_WRITEABLE) &&
        gsh_numpy_dtype(descr) == GSH_FLOAT32 && gsh_numpy_abi_elsize(descr) == 4;
    gsh_py.Py_DecRef(array);
    return good;
}

enum gsh_status gsh_numpy_abi_init(PyObject *module, const char **why)
{
    struct gsh_numpy_abi abi = {.module = module, .dict = gsh_py.PyModule_GetDict(module)};
    void **table = abi.dict ? capsule(abi.dict, "_ARRAY_API", NULL) : NULL;
    if (!table) {
        *why = "NumPy's C-API table was not found";
        return GSH_DECLINED;
    }
    abi.table = table;
#define X(slot, type, name, parameters) abi.name = (type(*) parameters)table[slot];
    GSH_NUMPY_API(X)
#undef X
    abi.major = (int)(abi.GetNDArrayCVersion() >> 24);
    abi.feature = abi.GetNDArrayCFeatureVersion();
    find_version(abi.version, sizeof(abi.version));
    if (!version_is_known(&abi)) {
        *why = "the NumPy version is not 1.22-2.5";
        return GSH_DECLINED;
    }
    abi.library = open_library_of((const void *)abi.GetNDArrayCVersion);
    bool good = abi.library && fill_types(&abi, table) && find_handler(&abi, table);
    gsh_np = abi;
    if (!good || !check_layout()) {
        gsh_python_error_clear();
        *why = "NumPy's structures are not laid out as expected";
        return GSH_DECLINED;
    }
    gsh_py.Py_IncRef(module);
    return GSH_OK;
}
