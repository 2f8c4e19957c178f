/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_scalar.h"

#include "coherence.h"
#include "numpy_abi.h"
#include "python_error.h"
#include "readers.h"

PyObject *gsh_numpy_scalar_from_array(PyObject *array)
{
    GSH_READER("result as a number");
    const struct gsh_ndarray *fields = gsh_numpy_array(array);
    size_t size = (size_t)gsh_numpy_abi_elsize(fields->descr);
    union gsh_scalar element;
    PyObject *scalar = NULL;
    if (size <= sizeof(element) && gsh_coherence_peek(&element, fields->data, size)) {
        scalar = gsh_np.Scalar(&element, fields->descr, array);
        gsh_py.Py_DecRef(array);
    } else {
        gsh_coherence_fetch(fields->data, size, false);
        scalar = gsh_np.Return(array);
    }
    if (!scalar)
        gsh_python_error_clear();
    return scalar;
}
