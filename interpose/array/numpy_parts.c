/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of ndarray that read or write whole arrays: a.imag of a real array (zeros), and assignments to a.real, a.imag and
 * a.flat. All are composed (numpy_composed_*.py). Attributes are entries of NumPy's static table of getters and setters, which
 * descriptors point to: an entry is replaced in place.
 */
#include "coherence.h"
#include "dispatch.h"
#include "numpy_composed.h"
#include "numpy_describe.h"

#include <string.h>

typedef PyObject *getter(PyObject *self, void *closure);
typedef int setter(PyObject *self, PyObject *value, void *closure);

enum { REAL, IMAG, FLAT, PARTS };
static const char *const part_names[] = {[REAL] = "real", [IMAG] = "imag", [FLAT] = "flat"};
static getter *original_get; /* of imag */
static setter *original_set[PARTS];
static struct gsh_hook *get_row, *set_rows[PARTS];

static inline bool is_worth(PyObject *array)
{
    return gsh_coherence_is_in_use() && gsh_numpy_is_array(array) &&
           (gsh_dispatch_min_elements == 0 ||
            gsh_coherence_is_resident(gsh_numpy_array(array)->data)) &&
           gsh_dispatch_is_live();
}

/* ---- a.imag ---- */

static __attribute__((noinline)) PyObject *make_zeros(PyObject *self, void *closure)
{
    enum gsh_reason why;
    const struct gsh_method_call call = {self, NULL, 0, NULL, NULL};
    PyObject *zeros = gsh_numpy_composed_call("imag_get", &call, true, &why);
    return zeros ? zeros : original_get(self, closure);
}

static PyObject *get_imag(PyObject *self, void *closure)
{
    gsh_numpy_hooks_hit(get_row);
    const struct gsh_descr *descr = (const struct gsh_descr *)gsh_numpy_array(self)->descr;
    if (!is_worth(self) || descr->kind == 'c')
        return original_get(self, closure);
    return make_zeros(self, closure);
}

/* ---- a.part = value ---- */

static __attribute__((noinline)) int set_somewhere(int part, PyObject *self, PyObject *value,
                                                   void *closure)
{
    enum gsh_reason why;
    const struct gsh_method_call call = {self, &value, 1, NULL, NULL};
    PyObject *done = gsh_numpy_composed_call(part_names[part], &call, true, &why);
    if (!done) {
        gsh_numpy_describe_fetch(self, true);
        gsh_numpy_describe_fetch(value, false);
        return original_set[part](self, value, closure);
    }
    gsh_py.Py_DecRef(done);
    return 0;
}

static inline int set_part(int part, PyObject *self, PyObject *value, void *closure)
{
    gsh_numpy_hooks_hit(set_rows[part]);
    if (!value || !is_worth(self))
        return original_set[part](self, value, closure);
    return set_somewhere(part, self, value, closure);
}

static int set_real(PyObject *self, PyObject *value, void *closure)
{
    return set_part(REAL, self, value, closure);
}

static int set_imag(PyObject *self, PyObject *value, void *closure)
{
    return set_part(IMAG, self, value, closure);
}

static int set_flat(PyObject *self, PyObject *value, void *closure)
{
    return set_part(FLAT, self, value, closure);
}

/* ---- installation ---- */

/* NULL: the type has no such attribute. */
static struct gsh_pygetsetdef *find_attribute(const char *name)
{
    struct gsh_pygetsetdef *entry = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_getset;
    while (entry && entry->name && strcmp(entry->name, name) != 0)
        entry++;
    return entry && entry->name ? entry : NULL;
}

static void install_setter(int part, setter *replacement, const char *name, const char *test)
{
    struct gsh_pygetsetdef *entry = find_attribute(part_names[part]);
    if (!entry || !entry->set)
        return;
    original_set[part] = (setter *)entry->set;
    set_rows[part] = gsh_numpy_hooks_add("attribute", name, test);
    __atomic_store_n(&entry->set, (void *)replacement, __ATOMIC_RELEASE);
}

void gsh_numpy_parts_install(void)
{
    struct gsh_pygetsetdef *entry = find_attribute(part_names[IMAG]);
    if (entry && entry->get) {
        original_get = (getter *)entry->get;
        get_row = gsh_numpy_hooks_add("attribute", "ndarray.imag", "a.imag");
        __atomic_store_n(&entry->get, (void *)get_imag, __ATOMIC_RELEASE);
    }
    install_setter(REAL, set_real, "ndarray.real =", "a.real = 0.0");
    install_setter(IMAG, set_imag, "ndarray.imag =", NULL);
    install_setter(FLAT, set_flat, "ndarray.flat =", "a.flat = 0.0");
}
