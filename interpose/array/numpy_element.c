/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Also the conversions of an array of one element to a Python number: item, bool,
 * int, float, complex and operator.index. NumPy itself converts, on a host copy of the element, so
 * that results, errors and warnings are its own.
 */
#include "numpy_element.h"

#include "coherence.h"
#include "dispatch.h"
#include "element.h"
#include "numpy_describe.h"
#include "numpy_method_patch.h"
#include "numpy_output.h"
#include "readers.h"
#include "stats.h"

#include <string.h>

static PyObject *try_item(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_complex(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);

GSH_METHOD_HOOK(item_hook, .table = GSH_METHOD_NDARRAY, .name = "item", .handler = try_item,
                .subject = GSH_METHOD_ASK_IF_RESIDENT, .self_test = "a.item(0)");
GSH_METHOD_HOOK(complex_hook, .table = GSH_METHOD_NDARRAY, .name = "__complex__",
                .handler = try_complex, .subject = GSH_METHOD_ASK_IF_RESIDENT,
                .self_test = "m.array(1.0).__complex__()");

/* which element */

/* An int or a NumPy integer. */
static bool find_index(PyObject *object, int64_t *index)
{
    struct gsh_numpy_value value;
    union gsh_scalar integer;
    if (gsh_numpy_describe_scalar(object, &value) != GSH_REASON_NONE ||
        strchr("iu", gsh_dtype_kind(value.dtype)) == NULL ||
        !gsh_numpy_describe_cast(&value, GSH_INT64, &integer))
        return false;
    memcpy(index, &integer, sizeof(*index));
    return true;
}

static bool step(const struct gsh_ndarray *array, int axis, PyObject *object, char **address)
{
    int64_t index, length = array->dimensions[axis];
    if (!find_index(object, &index) || index < -length || index >= length)
        return false;
    *address += (index < 0 ? index + length : index) * array->strides[axis];
    return true;
}

static char *find_by_items(PyObject *self, PyObject *const *items, Py_ssize_t count)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    char *address = array->data;
    if (!gsh_numpy_is_array(self) || count != array->nd)
        return NULL;
    for (int axis = 0; axis < array->nd; axis++)
        if (!step(array, axis, items[axis], &address))
            return NULL;
    return address;
}

/* The address of the element that the key names; NULL: the key names none. */
static char *find_element(PyObject *self, PyObject *key)
{
    PyObject *items[GSH_MAX_DIMS];
    if (gsh_py_type(key) != gsh_py.PyTuple_Type)
        return find_by_items(self, &key, 1);
    Py_ssize_t count = gsh_py.PyTuple_Size(key);
    if (count > GSH_MAX_DIMS)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        items[i] = gsh_py.PyTuple_GetItem(key, i);
    return find_by_items(self, items, count);
}

/* The element of an array of any shape by its number in C order. */
static char *find_flat(PyObject *self, PyObject *object)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    int64_t index, size = gsh_numpy_describe_size(array);
    if (!find_index(object, &index) || index < -size || index >= size)
        return NULL;
    char *address = array->data;
    index += index < 0 ? size : 0;
    for (int axis = array->nd - 1; axis >= 0; axis--) {
        address += index % array->dimensions[axis] * array->strides[axis];
        index /= array->dimensions[axis];
    }
    return address;
}

/* its value */

static bool read_element(PyObject *self, const char *address, union gsh_scalar *element)
{
    int dtype = gsh_numpy_dtype(gsh_numpy_array(self)->descr);
    if (!address || dtype < 0 || !gsh_dispatch_is_live())
        return false;
    GSH_READER("element");
    enum gsh_dtype known = (enum gsh_dtype)dtype;
    if (!gsh_element_read(element, address, gsh_dtype_size(known)))
        return false;
    gsh_stats_device_call(gsh_numpy_output_row("element", &known, 1, known), 0);
    return true;
}

PyObject *gsh_numpy_element_read(PyObject *self, PyObject *key)
{
    union gsh_scalar element;
    if (!read_element(self, find_element(self, key), &element))
        return NULL;
    return gsh_np.Scalar(&element, gsh_numpy_array(self)->descr, self);
}

/* An array of `ndim` axes of length 1 over the element, which must outlive it. */
static PyObject *wrap(PyObject *self, int ndim, union gsh_scalar *element)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    gsh_py.Py_IncRef(array->descr); /* NewFromDescr steals one */
    return gsh_np.NewFromDescr(gsh_np.ndarray_type, array->descr, ndim, array->dimensions, NULL,
                               element, GSH_NPY_WRITEABLE, NULL);
}

/* The same for the only element of an array that the device holds. NULL without a Python error:
 * left to NumPy. */
static PyObject *wrap_single(PyObject *self, union gsh_scalar *element)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    if (!gsh_numpy_is_array(self) || gsh_numpy_describe_size(array) != 1 ||
        !read_element(self, array->data, element))
        return NULL;
    return wrap(self, array->nd, element);
}

/* stores */

static bool run_store(PyObject *self, const struct gsh_view *view, union gsh_scalar element)
{
    enum gsh_dtype dtype = view->dtype;
    enum gsh_reason why;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_COPY,
                                       .loop = dtype,
                                       .nin = 1,
                                       .nout = 1},
                            .row = gsh_numpy_output_row("fill", &dtype, 0, dtype)};
    gsh_numpy_describe_place_constant(&call.launch, 0, dtype, element);
    gsh_numpy_describe_place_view(&call.launch, 1, view);
    PyObject *result = gsh_numpy_output_run(&call, self, NULL, &why);
    if (!result)
        return false;
    gsh_py.Py_DecRef(result);
    gsh_element_note_stored(view->data);
    return true;
}

/* The value as an element of that dtype: of a scalar, or of a 0-d array of the dtype. */
static bool as_element(PyObject *value, enum gsh_dtype dtype, union gsh_scalar *element)
{
    struct gsh_numpy_value scalar;
    if (!gsh_numpy_is_array(value))
        return gsh_numpy_describe_scalar(value, &scalar) == GSH_REASON_NONE &&
               gsh_numpy_describe_cast(&scalar, dtype, element);
    const struct gsh_ndarray *array = gsh_numpy_array(value);
    if (array->nd != 0 || gsh_numpy_dtype(array->descr) != (int)dtype)
        return false;
    if (gsh_coherence_is_resident(array->data) && read_element(value, array->data, element))
        return true;
    gsh_numpy_describe_fetch(value, false);
    memcpy(element, array->data, gsh_dtype_size(dtype));
    return true;
}

bool gsh_numpy_element_store(PyObject *self, PyObject *key, PyObject *value)
{
    struct gsh_view view;
    union gsh_scalar element;
    if (gsh_numpy_describe_output(self, &view) != GSH_REASON_NONE ||
        !as_element(value, view.dtype, &element) || !gsh_dispatch_is_live())
        return false;
    view.data = find_element(self, key);
    view.ndim = 0;
    return view.data && gsh_element_is_stored_there(view.data) && run_store(self, &view, element);
}

/* Python numbers */

static PyObject *item_of(PyObject *self, const char *address)
{
    union gsh_scalar element;
    if (!read_element(self, address, &element))
        return NULL;
    PyObject *copy = wrap(self, 0, &element);
    PyObject *item = copy ? gsh_py.PyObject_CallMethod(copy, "item", NULL) : NULL;
    if (copy)
        gsh_py.Py_DecRef(copy);
    return item;
}

static PyObject *try_item(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    (void)why;
    (void)row;
    PyObject *self = call->self;
    if (call->nargs > 1)
        return item_of(self, find_by_items(self, call->args, (Py_ssize_t)call->nargs));
    if (call->nargs == 1 && gsh_py_type(call->args[0]) == gsh_py.PyTuple_Type)
        return item_of(self, find_element(self, call->args[0]));
    if (call->nargs == 1)
        return item_of(self, find_flat(self, call->args[0]));
    bool is_single = gsh_numpy_describe_size(gsh_numpy_array(self)) == 1;
    return item_of(self, is_single ? gsh_numpy_array(self)->data : NULL);
}

static PyObject *try_complex(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    (void)why;
    (void)row;
    union gsh_scalar element;
    PyObject *copy = wrap_single(call->self, &element);
    PyObject *number = copy ? gsh_py.PyObject_CallMethod(copy, "__complex__", NULL) : NULL;
    if (copy)
        gsh_py.Py_DecRef(copy);
    return number;
}

/* number slots */

static struct gsh_pynumber original;
static struct gsh_hook *number_row;

static __attribute__((noinline)) PyObject *convert_on_device(PyObject *self,
                                                             PyObject *(*slot)(PyObject *))
{
    union gsh_scalar element;
    PyObject *copy = wrap_single(self, &element);
    if (!copy)
        return gsh_py.PyErr_Occurred() ? NULL : slot(self);
    PyObject *number = slot(copy);
    gsh_py.Py_DecRef(copy);
    return number;
}

static inline PyObject *convert_by(PyObject *self, PyObject *(*slot)(PyObject *))
{
    gsh_numpy_hooks_hit(number_row);
    if (GSH_LIKELY(!gsh_coherence_is_resident(gsh_numpy_array(self)->data)))
        return slot(self);
    return convert_on_device(self, slot);
}

static PyObject *to_int(PyObject *self)
{
    return convert_by(self, original.nb_int);
}

static PyObject *to_float(PyObject *self)
{
    return convert_by(self, original.nb_float);
}

static PyObject *to_index(PyObject *self)
{
    return convert_by(self, original.nb_index);
}

static __attribute__((noinline)) int test_on_device(PyObject *self)
{
    union gsh_scalar element;
    PyObject *copy = wrap_single(self, &element);
    if (!copy)
        return gsh_py.PyErr_Occurred() ? -1 : original.nb_bool(self);
    int truth = original.nb_bool(copy);
    gsh_py.Py_DecRef(copy);
    return truth;
}

static int to_bool(PyObject *self)
{
    gsh_numpy_hooks_hit(number_row);
    if (GSH_LIKELY(!gsh_coherence_is_resident(gsh_numpy_array(self)->data)))
        return original.nb_bool(self);
    return test_on_device(self);
}

static void install_number_slots(void)
{
    struct gsh_pynumber *number = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_as_number;
    if (!number || !number->nb_bool || !number->nb_int || !number->nb_float || !number->nb_index)
        return;
    original = *number;
    number_row = gsh_numpy_hooks_add("number", "ndarray.__bool__", "1 if m.array(1.0) else 0");
    __atomic_store_n(&number->nb_bool, to_bool, __ATOMIC_RELEASE);
    __atomic_store_n(&number->nb_int, to_int, __ATOMIC_RELEASE);
    __atomic_store_n(&number->nb_float, to_float, __ATOMIC_RELEASE);
    __atomic_store_n(&number->nb_index, to_index, __ATOMIC_RELEASE);
}

void gsh_numpy_element_install(void)
{
    gsh_numpy_method_patch_install(&item_hook);
    gsh_numpy_method_patch_install(&complex_hook);
    install_number_slots();
}
