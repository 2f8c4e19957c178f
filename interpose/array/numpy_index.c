/* SPDX-License-Identifier: Apache-2.0
 *
 * a[key] and a[key] = x: the mapping slots of ndarray. NumPy handles basic keys, which make views;
 * a store through one is one COPY. Keys that consist of a mask, or of arrays and lists of integers
 * surrounded by slices, are computed on the device, and single elements are read and stored there
 * (numpy_element.h). Calls that cannot benefit (the key is a slice, the array is not in the arena) are
 * passed to NumPy after a few comparisons.
 */
#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_assign.h"
#include "numpy_choice.h"
#include "numpy_element.h"
#include "numpy_fallback.h"
#include "numpy_hooks.h"
#include "numpy_mask.h"
#include "numpy_mask_key.h"
#include "numpy_output.h"
#include "numpy_parallel_copy.h"
#include "numpy_take.h"
#include "python_error.h"
#include "readers.h"
#include "stats.h"

static int (*original_assign)(PyObject *, PyObject *, PyObject *);
static PyObject *(*original_subscript)(PyObject *, PyObject *);
static struct gsh_hook *assign_row, *subscript_row;

static bool is_resident_array(PyObject *object)
{
    return gsh_numpy_is_array(object) && gsh_coherence_is_resident(gsh_numpy_array(object)->data);
}

/* Whether a key is an array on the device, or has one among its items. */
static bool has_resident_array(PyObject *key)
{
    if (gsh_py_type(key) != gsh_py.PyTuple_Type)
        return is_resident_array(key);
    bool has = false;
    Py_ssize_t count = gsh_coherence_is_in_use() ? gsh_py_size(key) : 0;
    for (Py_ssize_t i = 0; i < count && !has; i++)
        has = is_resident_array(gsh_py.PyTuple_GetItem(key, i));
    return has;
}

/* Addresses of arrays that were open to the host when gsh_arena_departures was so large. A loop over elements
 * needs no look-up of the block. GIL. */
static struct open_address {
    const void *address;
    uint64_t departures;
} open_addresses[16];

static inline struct open_address *open_address(const void *address)
{
    return &open_addresses[(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 60];
}

/* False: unknown. */
static inline bool is_known_open(const void *address)
{
    uint64_t departures = atomic_load_explicit(&gsh_arena_departures, memory_order_relaxed);
    if (departures == 0)
        return true;
    const struct open_address *known = open_address(address);
    return known->address == address && known->departures == departures;
}

/* Looks, and remembers. */
static bool is_open(const void *address)
{
    uint64_t departures = atomic_load_explicit(&gsh_arena_departures, memory_order_relaxed);
    if (gsh_coherence_block_is_closed(address))
        return false;
    *open_address(address) = (struct open_address){address, departures};
    return true;
}

/* Whether the element that the int names is open to the host, while other chunks of the array are not. */
static bool is_element_open(const struct gsh_ndarray *array, PyObject *key)
{
    int64_t index;
    if (array->nd != 1 || !gsh_numpy_arguments_int(key, &index))
        return false;
    index += index < 0 ? array->dimensions[0] : 0;
    return index >= 0 && index < array->dimensions[0] &&
           gsh_coherence_residency(array->data + index * array->strides[0]) != GSH_RESIDENT_DEVICE;
}

/* a[key] */

static PyObject *try_gather(PyObject *self, PyObject *object, const struct gsh_key *key,
                            enum gsh_reason *why, unsigned *row)
{
    struct gsh_choice choice;
    if (!gsh_numpy_choice_make(&choice, self, object, key, original_subscript, why))
        return choice.selects_nothing ? original_subscript(self, object) : NULL;
    PyObject *result = gsh_numpy_take_gather(&choice.view, choice.axis, choice.index,
                                             choice.is_safe, GSH_TAKE_INDEX_ORDER, why, row);
    gsh_numpy_choice_drop(&choice);
    return result;
}

/* The key is one integer, as an array without dimensions. */
static PyObject *try_place(PyObject *self, PyObject *object, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    int64_t at;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_is_array(object) || !gsh_numpy_take_is_place(object, &at))
        return NULL;
    *why = gsh_numpy_describe_array(self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_SHAPE;
    return view.ndim > 0 ? gsh_numpy_take_one(&view, 0, at, GSH_ORDER_KEEP, why, row) : NULL;
}

static void fetch_operands(PyObject *self, const struct gsh_key *key, bool write)
{
    GSH_READER(write ? "assignment" : "index");
    gsh_numpy_describe_fetch(self, write);
    for (int i = 0; i < key->count; i++)
        gsh_numpy_describe_fetch(key->items[i], false);
}

/* Whether the key selects nothing, so that NumPy reads and writes no element. */
static bool selects_nothing(PyObject *self, const struct gsh_key *key)
{
    bool is_nothing = gsh_numpy_take_is_empty(self);
    for (int i = 0; i < key->count; i++)
        is_nothing |= gsh_numpy_take_is_empty(key->items[i]);
    return is_nothing;
}

static __attribute__((noinline)) PyObject *read_element(PyObject *self, PyObject *key)
{
    PyObject *scalar = gsh_numpy_element_read(self, key);
    return scalar || gsh_py.PyErr_Occurred() ? scalar : original_subscript(self, key);
}

/* A key that means the same and has no mask of several dimensions beside other items. A new reference; NULL: there is none, or
 * it would gain nothing. */
static PyObject *without_masks(PyObject *self, PyObject *object, const struct gsh_key *key)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    bool may = key->kind == GSH_KEY_OTHER && gsh_dispatch_is_live() &&
               gsh_coherence_is_resident(array->data);
    return may ? gsh_numpy_mask_key_expand(array, object) : NULL;
}

/* The part of the hook for arrays that may be on the device. Not inlined, to keep the path for all
 * other arrays short. */
static __attribute__((noinline)) PyObject *subscript_on_device(PyObject *self, PyObject *object)
{
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    struct gsh_key key = gsh_numpy_key_classify(gsh_numpy_array(self), object);
    PyObject *expanded = without_masks(self, object, &key);
    if (expanded) {
        PyObject *found = subscript_on_device(self, expanded);
        gsh_py.Py_DecRef(expanded);
        return found;
    }
    if (key.kind == GSH_KEY_ELEMENT)
        return read_element(self, object);
    if (key.kind == GSH_KEY_VIEW || !gsh_dispatch_is_live() || selects_nothing(self, &key))
        return original_subscript(self, object);
    PyObject *result = NULL;
    if (key.kind == GSH_KEY_MASK)
        result = gsh_numpy_mask_extract(self, key.items[0], &why, &row);
    else if (key.kind == GSH_KEY_INDEX)
        result = try_gather(self, object, &key, &why, &row);
    else
        result = try_place(self, object, &why, &row);
    if (result)
        return result;
    fetch_operands(self, &key, false);
    if (row == 0)
        row = gsh_stats_row("index", "");
    uint64_t begin = gsh_numpy_output_host_begin();
    result = original_subscript(self, object);
    gsh_numpy_output_host_end(begin, row, why);
    return gsh_numpy_fallback_pass(result, row, why, &self, 1);
}

/* A new reference: for an instance of a subclass with elements in dimensions, of which NumPy takes the plain data, a view of these,
 * else the object. */
static PyObject *plain_view(PyObject *object)
{
    PyObject *plain = NULL;
    if (!gsh_numpy_is_array(object) && gsh_numpy_describe_is_array_like(object) &&
        gsh_numpy_array(object)->nd > 0 && gsh_numpy_describe_size(gsh_numpy_array(object)) > 0)
        plain = gsh_py.PyObject_CallMethod(gsh_np.ndarray_type, "view", "OO", object,
                                           gsh_np.ndarray_type);
    if (plain)
        return plain;
    gsh_python_error_clear();
    gsh_py.Py_IncRef(object);
    return object;
}

static __attribute__((noinline)) PyObject *subscript_by_int(PyObject *self, PyObject *key)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    return is_open(array->data) || is_element_open(array, key) ? original_subscript(self, key)
                                                               : read_element(self, key);
}

static __attribute__((noinline)) PyObject *subscript_by_object(PyObject *self, PyObject *key)
{
    if (!gsh_numpy_is_array(self) ||
        (GSH_LIKELY(gsh_dispatch_min_elements != 0) &&
         !gsh_coherence_is_resident(gsh_numpy_array(self)->data) && !has_resident_array(key)))
        return original_subscript(self, key);
    PyObject *plain = plain_view(key), *result = subscript_on_device(self, plain);
    gsh_py.Py_DecRef(plain);
    return result;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    gsh_numpy_hooks_hit(subscript_row);
    PyObject *type = gsh_py_type(key);
    if (type == gsh_py.PyLong_Type)
        return GSH_LIKELY(is_known_open(gsh_numpy_array(self)->data))
                   ? original_subscript(self, key)
                   : subscript_by_int(self, key);
    if (type == gsh_py.PySlice_Type)
        return original_subscript(self, key);
    return subscript_by_object(self, key);
}

/* a[key] = x */

/* Whether a store into an array on the host may be faster on the device: the whole array is
 * overwritten, or a source is on the device. A partial store with everything on the host is never
 * faster, since the rest of the array would have to be uploaded first. */
static bool may_pay_from_host(PyObject *self, PyObject *key, PyObject *value)
{
    if (gsh_dispatch_min_elements == 0) /* force mode, or a limit set by the user */
        return true;
    if (gsh_numpy_key_is_whole(key))
        return gsh_numpy_describe_size(gsh_numpy_array(self)) >= gsh_dispatch_min_elements;
    if (has_resident_array(key))
        return true;
    return is_resident_array(value) &&
           gsh_numpy_describe_size(gsh_numpy_array(value)) >= gsh_dispatch_min_elements;
}

static bool try_assign_view(PyObject *self, PyObject *object, PyObject *value, enum gsh_reason *why,
                            unsigned *row)
{
    PyObject *view = original_subscript(self, object);
    if (!view)
        gsh_python_error_clear();
    *why = GSH_REASON_OPERAND;
    const struct gsh_assignment request = {
        .dst = view, .source = value, .casting = GSH_CASTING_UNSAFE};
    bool done = view && gsh_numpy_is_array(view) && gsh_numpy_assign_run(&request, why, row);
    if (view && !done && *why != GSH_REASON_NONE) {
        gsh_numpy_describe_fetch(view, true);
        gsh_numpy_describe_fetch(value, false);
    }
    if (view)
        gsh_py.Py_DecRef(view);
    return done;
}

static bool try_scatter(PyObject *self, PyObject *object, const struct gsh_key *key,
                        PyObject *value, enum gsh_reason *why, unsigned *row)
{
    struct gsh_choice choice;
    if (!gsh_numpy_choice_make(&choice, self, object, key, original_subscript, why)) {
        if (!choice.selects_nothing)
            return false;
        *why = GSH_REASON_NONE;
        return original_assign(self, object, value) == 0;
    }
    bool done = gsh_numpy_take_scatter(choice.array, &choice.view, choice.axis, choice.index,
                                       choice.is_safe, value, why, row);
    gsh_numpy_choice_drop(&choice);
    return done;
}

static bool try_assign(PyObject *self, PyObject *object, const struct gsh_key *key, PyObject *value,
                       enum gsh_reason *why, unsigned *row)
{
    if (key->kind == GSH_KEY_VIEW)
        return try_assign_view(self, object, value, why, row);
    bool done = key->kind == GSH_KEY_MASK
                    ? gsh_numpy_mask_assign(self, key->items[0], value, why, row)
                    : try_scatter(self, object, key, value, why, row);
    if (!done && *why != GSH_REASON_NONE) {
        fetch_operands(self, key, true);
        gsh_numpy_describe_fetch(value, false);
    }
    return done;
}

/* Calls the original after fetching the value to the host. */
static int assign_on_host(PyObject *self, PyObject *key, PyObject *value)
{
    if (value && gsh_py_type(value) != gsh_py.PyFloat_Type &&
        gsh_py_type(value) != gsh_py.PyLong_Type)
        gsh_numpy_describe_fetch(value, false);
    return original_assign(self, key, value);
}

/* An assignment of an array to a view that no device could do sooner, on several cores. False: nothing was changed. */
static __attribute__((noinline)) bool assign_on_cores(PyObject *self, PyObject *key,
                                                      PyObject *value)
{
    struct gsh_key classified = gsh_numpy_key_classify(gsh_numpy_array(self), key);
    PyObject *view = classified.kind == GSH_KEY_VIEW && !gsh_dispatch_is_inside()
                         ? original_subscript(self, key)
                         : NULL;
    enum gsh_reason why =
        gsh_dispatch_is_live() ? GSH_REASON_DATA_ON_HOST : gsh_dispatch_why_dead();
    bool done = view && gsh_numpy_is_array(view) && gsh_numpy_assign_on_cores(view, value, why);
    if (view)
        gsh_py.Py_DecRef(view);
    else
        gsh_python_error_clear();
    return done;
}

/* The part of the hook for arrays in the arena. */
static int assign_plain_in_arena(PyObject *self, PyObject *object, PyObject *value)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    bool is_resident = gsh_coherence_is_resident(array->data);
    if (!is_resident && !may_pay_from_host(self, object, value)) {
        bool may = gsh_numpy_parallel_copy_may_assign(self, object, value);
        return may && assign_on_cores(self, object, value) ? 0
                                                           : assign_on_host(self, object, value);
    }
    struct gsh_key key = gsh_numpy_key_classify(array, object);
    PyObject *expanded = without_masks(self, object, &key);
    if (expanded) {
        int outcome = assign_plain_in_arena(self, expanded, value);
        gsh_py.Py_DecRef(expanded);
        return outcome;
    }
    if (key.kind != GSH_KEY_ELEMENT && selects_nothing(self, &key))
        return original_assign(self, object, value);
    if (key.kind == GSH_KEY_OTHER && is_resident)
        fetch_operands(self, &key, true);
    if (key.kind == GSH_KEY_ELEMENT && is_resident) {
        if (gsh_numpy_element_store(self, object, value))
            return 0;
        if (gsh_py.PyErr_Occurred())
            return -1;
    }
    if (key.kind == GSH_KEY_ELEMENT || key.kind == GSH_KEY_OTHER || array->nd == 0 ||
        value == self || !(array->flags & GSH_NPY_WRITEABLE) || !gsh_dispatch_is_live())
        return assign_on_host(self, object, value);
    PyObject *items = gsh_numpy_assign_list(value, array->descr);
    bool done = try_assign(self, object, &key, items ? items : value, &why, &row);
    if (items)
        gsh_py.Py_DecRef(items);
    if (done)
        return 0;
    if (gsh_py.PyErr_Occurred())
        return -1;
    return gsh_numpy_assign_original(original_assign, self, object, value, row, why);
}

static __attribute__((noinline)) int assign_in_arena(PyObject *self, PyObject *object,
                                                     PyObject *value)
{
    PyObject *plain[] = {plain_view(object), plain_view(value)};
    int outcome = assign_plain_in_arena(self, plain[0], plain[1]);
    gsh_py_drop(plain, GSH_COUNT(plain));
    return outcome;
}

static int assign_by_object(PyObject *self, PyObject *key, PyObject *value)
{
    if (GSH_LIKELY(!gsh_numpy_is_array(self) || !value ||
                   !gsh_arena_contains(gsh_numpy_array(self)->data)))
        return assign_on_host(self, key, value);
    return assign_in_arena(self, key, value);
}

/* One element of an array that is open to the host is stored there. */
static __attribute__((noinline)) int assign_by_int(PyObject *self, PyObject *key, PyObject *value)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    if (array->nd == 1 && (GSH_LIKELY(is_known_open(array->data)) || is_open(array->data) ||
                           is_element_open(array, key)))
        return assign_on_host(self, key, value);
    return assign_by_object(self, key, value);
}

/* Without a look at where the arrays are. */
static int assign_on_open_arrays(PyObject *self, PyObject *key, PyObject *value)
{
    bool may = value && gsh_numpy_parallel_copy_may_assign(self, key, value);
    return may && assign_on_cores(self, key, value) ? 0 : original_assign(self, key, value);
}

static int assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    gsh_numpy_hooks_hit(assign_row);
    PyObject *type = gsh_py_type(key);
    if (type == gsh_py.PyTuple_Type && GSH_LIKELY(!gsh_coherence_is_in_use()) &&
        gsh_dispatch_min_elements != 0)
        return assign_on_open_arrays(self, key, value); /* a partial store, as below */
    if (type != gsh_py.PyLong_Type)
        return assign_by_object(self, key, value);
    if (GSH_UNLIKELY(gsh_coherence_is_in_use()))
        return assign_by_int(self, key, value);
    if (gsh_dispatch_min_elements != 0)
        return original_assign(self, key, value); /* a partial store with everything on the host */
    return assign_by_object(self, key, value);
}

static int assign_without_device(PyObject *self, PyObject *key, PyObject *value)
{
    gsh_numpy_hooks_hit(assign_row);
    return assign_on_open_arrays(self, key, value);
}

/* Keeps the originals. NULL: the slots are not as expected. */
static struct gsh_pymapping *adopt_slots(void)
{
    struct gsh_pymapping *mapping = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_as_mapping;
    if (!mapping || !mapping->mp_subscript || !mapping->mp_ass_subscript)
        return NULL;
    original_subscript = mapping->mp_subscript;
    original_assign = mapping->mp_ass_subscript;
    assign_row = gsh_numpy_hooks_add("mapping", "ndarray.__setitem__", "a[0:1] = 0.0");
    return mapping;
}

void gsh_numpy_index_install_without_device(void)
{
    struct gsh_pymapping *mapping = adopt_slots();
    if (mapping)
        __atomic_store_n(&mapping->mp_ass_subscript, assign_without_device, __ATOMIC_RELEASE);
}

void gsh_numpy_index_install(void)
{
    struct gsh_pymapping *mapping = adopt_slots();
    if (!mapping)
        return;
    subscript_row = gsh_numpy_hooks_add("mapping", "ndarray.__getitem__", "a[0:1]");
    __atomic_store_n(&mapping->mp_ass_subscript, assign_subscript, __ATOMIC_RELEASE);
    __atomic_store_n(&mapping->mp_subscript, subscript, __ATOMIC_RELEASE);
}
