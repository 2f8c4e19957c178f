/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_bit_generator.h"

#include "python_error.h"

#include <stdint.h>
#include <string.h>

enum { SEED = 20 };

PyObject *gsh_numpy_bit_generator_class(const char *module_name, const char *name)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module = modules ? gsh_py.PyDict_GetItemString(modules, module_name) : NULL;
    PyObject *names = module ? gsh_py.PyModule_GetDict(module) : NULL;
    PyObject *found = names ? gsh_py.PyDict_GetItemString(names, name) : NULL;
    if (!found)
        gsh_python_error_clear();
    return found;
}

bool gsh_numpy_bit_generator_is_owned(PyObject *owner, const char *attribute, PyObject *bits,
                                      const struct gsh_numpy_bitgen *copy)
{
    PyObject *found = gsh_py.PyObject_GetAttrString(owner, attribute);
    PyObject *capsule =
        found && found == bits ? gsh_py.PyObject_GetAttrString(found, "capsule") : NULL;
    const struct gsh_numpy_bitgen *bitgen =
        capsule ? gsh_py.PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    bool is_owned = bitgen && memcmp(bitgen, copy, sizeof(*bitgen)) == 0;
    gsh_py_drop((PyObject *[]){capsule, found}, 2);
    gsh_python_error_clear();
    return is_owned;
}

static bool call_lock(PyObject *bits, const char *method, const char *format, PyObject *argument)
{
    PyObject *lock = gsh_py.PyObject_GetAttrString(bits, "lock");
    PyObject *result =
        lock ? gsh_py.PyObject_CallMethod(lock, method, format, argument, argument, argument)
             : NULL;
    gsh_py_drop((PyObject *[]){lock, result}, 2);
    return result != NULL;
}

bool gsh_numpy_bit_generator_lock(PyObject *bits)
{
    return call_lock(bits, "__enter__", NULL, NULL);
}

void gsh_numpy_bit_generator_unlock(PyObject *bits)
{
    if (!call_lock(bits, "__exit__", "OOO", gsh_py._Py_NoneStruct))
        gsh_python_error_clear();
}

bool gsh_numpy_bit_generator_holds(PyObject *bits, const void *address, size_t size,
                                   size_t alignment)
{
    uintptr_t begin = (uintptr_t)bits, at = (uintptr_t)address;
    size_t all = (size_t)((const struct gsh_pytype *)gsh_py_type(bits))->tp_basicsize;
    return at >= begin && at - begin <= all && all - (at - begin) >= size && at % alignment == 0;
}

PyObject *gsh_numpy_bit_generator_make_owner(PyObject *like, PyObject *bits)
{
    PyObject *fresh_bits = gsh_py.PyObject_CallFunction(gsh_py_type(bits), "i", SEED);
    PyObject *fresh =
        fresh_bits ? gsh_py.PyObject_CallFunction(gsh_py_type(like), "O", fresh_bits) : NULL;
    gsh_py_drop(&fresh_bits, 1);
    if (!fresh)
        gsh_python_error_clear();
    return fresh;
}
