/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks a.ctypes and a.__array_interface__, which give programs the address of an array's data as a
 * number. Many programs pass the address to a function after the array was freed: function((a +
 * b).ctypes.data). Without gpushim this works because nothing has reused the memory yet. Therefore
 * an array whose address was taken writes its contents back to its host pages when it is freed.
 * Checked by tests/preload/test_others_code.py.
 */
#include "coherence.h"
#include "numpy_abi.h"
#include "numpy_hooks.h"
#include "python_place.h"
#include "python_text.h"

#include <string.h>

typedef PyObject *get_function(PyObject *self, void *closure);

static get_function *original_ctypes, *original_interface;
static struct gsh_hook *hook;

/* Whether NumPy's own code asks, such as as_strided: it takes the address for an array that holds a
 * reference to the first. */
static bool is_asked_by_numpy(void)
{
    struct gsh_python_place_info info;
    if (!gsh_python_place_find(gsh_python_place_note(), &info) || info.module == NULL)
        return false;
    const char *name = gsh_python_text_utf8(info.module);
    return name != NULL && strncmp(name, "numpy.", strlen("numpy.")) == 0;
}

static void note(PyObject *array)
{
    gsh_numpy_hooks_hit(hook);
    if (is_asked_by_numpy())
        return;
    gsh_coherence_note_address(((struct gsh_ndarray *)array)->data, true);
}

static PyObject *get_ctypes(PyObject *self, void *closure)
{
    note(self);
    return original_ctypes(self, closure);
}

static PyObject *get_interface(PyObject *self, void *closure)
{
    note(self);
    return original_interface(self, closure);
}

static void patch(struct gsh_pygetsetdef *entry, get_function **original, get_function *ours)
{
    *original = (get_function *)entry->get;
    __atomic_store_n(&entry->get, (void *)ours, __ATOMIC_RELEASE);
}

void gsh_numpy_address_install(void)
{
    struct gsh_pygetsetdef *entry = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_getset;
    hook = gsh_numpy_hooks_add("address", "ndarray.ctypes, .__array_interface__",
                               "a.__array_interface__");
    for (; entry != NULL && entry->name != NULL; entry++) {
        if (strcmp(entry->name, "ctypes") == 0)
            patch(entry, &original_ctypes, get_ctypes);
        else if (strcmp(entry->name, "__array_interface__") == 0)
            patch(entry, &original_interface, get_interface);
    }
}
