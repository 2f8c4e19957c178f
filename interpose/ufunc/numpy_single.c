/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A ufunc treats an array without dimensions as NumPy's scalar of its dtype (NumPy 1.22 to 2.5), and both give a
 * scalar as result.
 */
#include "numpy_single.h"

#include "coherence.h"
#include "element.h"
#include "numpy_describe.h"
#include "python_error.h"
#include "readers.h"

/* A new reference; NULL without a Python error: no such array. */
static PyObject *copy_element(PyObject *object)
{
    union gsh_scalar element;
    if (!gsh_numpy_is_array(object))
        return NULL;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    int dtype = gsh_numpy_dtype(array->descr);
    if (array->nd != 0 || dtype < 0 || !gsh_coherence_is_resident(array->data))
        return NULL;
    GSH_READER("element");
    if (!gsh_element_read(&element, array->data, gsh_dtype_size((enum gsh_dtype)dtype)))
        return NULL;
    PyObject *scalar = gsh_np.Scalar(&element, array->descr, object);
    if (!scalar)
        gsh_python_error_clear();
    return scalar;
}

bool gsh_numpy_single_copy(PyObject *const *args, size_t nargs, struct gsh_single *single)
{
    bool is_any = false;
    if (nargs > GSH_SINGLE_MOST)
        return false;
    single->count = nargs;
    for (size_t i = 0; i < nargs; i++) {
        single->kept[i] = copy_element(args[i]);
        single->values[i] = single->kept[i] ? single->kept[i] : args[i];
        is_any |= single->kept[i] != NULL;
    }
    return is_any;
}

void gsh_numpy_single_drop(struct gsh_single *single)
{
    for (size_t i = 0; i < single->count; i++)
        if (single->kept[i])
            gsh_py.Py_DecRef(single->kept[i]);
}
