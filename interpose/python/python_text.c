/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "python_text.h"

#include "python_error.h"

const char *gsh_python_text_utf8(PyObject *object)
{
    const char *text = gsh_py.PyUnicode_AsUTF8(object);
    if (text == NULL)
        gsh_python_error_clear();
    return text;
}
