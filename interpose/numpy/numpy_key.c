/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. If the device declines, the key of a view is evaluated twice, so that evaluation
 * must not run code: slice bounds must be exact ints or None.
 */
#include "numpy_key.h"

#include "launch.h"

/* PySliceObject, the same in CPython 3.9-3.14. */
struct slice_object {
    char head[16];
    PyObject *start, *stop, *step;
};

static bool is_plain_bound(PyObject *bound)
{
    PyObject *type = gsh_py_type(bound);
    return gsh_py_is_none(bound) || type == gsh_py.PyLong_Type ||
           type == gsh_np.scalar_types[GSH_INT64];
}

bool gsh_numpy_key_is_plain_slice(PyObject *key)
{
    const struct slice_object *slice = (const struct slice_object *)key;
    return is_plain_bound(slice->start) && is_plain_bound(slice->stop) &&
           is_plain_bound(slice->step);
}

bool gsh_numpy_key_is_whole(PyObject *object)
{
    const struct slice_object *slice = (const struct slice_object *)object;
    return object == gsh_py._Py_EllipsisObject ||
           (gsh_py_type(object) == gsh_py.PySlice_Type && gsh_py_is_none(slice->start) &&
            gsh_py_is_none(slice->stop) && gsh_py_is_none(slice->step));
}

/* Counts the items of a key by type. */
struct census {
    int integers, ellipses, nones, others, fancies;
    int scalars; /* of the others: NumPy integers */
    int fancy_at[GSH_KEY_INDEXES];
    int first, last; /* index, int or NumPy integer */
    bool runs_code;
};

static struct census count_items(PyObject *const *items, int count)
{
    struct census census = {.first = -1};
    for (int i = 0; i < count; i++) {
        int advanced = census.fancies + census.integers + census.scalars;
        PyObject *type = gsh_py_type(items[i]);
        if (gsh_numpy_is_array(items[i]) || type == gsh_py.PyList_Type) {
            if (census.fancies < GSH_KEY_INDEXES)
                census.fancy_at[census.fancies] = i;
            census.fancies++;
        } else if (type == gsh_py.PySlice_Type) {
            census.runs_code |= !gsh_numpy_key_is_plain_slice(items[i]);
        } else if (type == gsh_py.PyLong_Type) {
            census.integers++;
        } else if (items[i] == gsh_py._Py_EllipsisObject) {
            census.ellipses++;
        } else if (gsh_py_is_none(items[i])) {
            census.nones++;
        } else {
            census.others++; /* a NumPy integer, or an object that must be converted to one */
            census.scalars += type == gsh_np.scalar_types[GSH_INT64];
        }
        if (census.fancies + census.integers + census.scalars == advanced)
            continue;
        census.first = census.first < 0 ? i : census.first;
        census.last = i;
    }
    return census;
}

/* Whether the item may index one axis: a list, an integer array, or a one-dimensional bool array.
 */
static bool may_index(PyObject *item)
{
    if (!gsh_numpy_is_array(item))
        return true;
    const struct gsh_ndarray *index = gsh_numpy_array(item);
    int dtype = gsh_numpy_dtype(index->descr);
    if (index->nd == 0 || dtype < 0)
        return false;
    char kind = gsh_dtype_kind((enum gsh_dtype)dtype);
    return kind == 'i' || kind == 'u' || (kind == 'b' && index->nd == 1);
}

static bool is_mask(PyObject *item)
{
    return gsh_numpy_is_array(item) && gsh_numpy_array(item)->nd > 0 &&
           gsh_numpy_dtype(gsh_numpy_array(item)->descr) == GSH_BOOL;
}

/* Dimensions of the view that the first `count` items make, of which an ellipsis makes `expanded`, and an index one. */
static int view_dims(PyObject *const *items, int count, int expanded)
{
    int dims = 0;
    for (int i = 0; i < count; i++) {
        PyObject *type = gsh_py_type(items[i]);
        if (items[i] == gsh_py._Py_EllipsisObject)
            dims += expanded;
        else
            dims += type != gsh_py.PyLong_Type && type != gsh_np.scalar_types[GSH_INT64];
    }
    return dims;
}

/* Classifies a key that contains masks, arrays or lists. */
static struct gsh_key classify_fancy(const struct gsh_ndarray *array, PyObject *const *items,
                                     int count, const struct census *census)
{
    struct gsh_key key = {.kind = GSH_KEY_OTHER, .count = census->fancies};
    int expanded = array->nd - (count - census->ellipses - census->nones);
    if (key.count > GSH_KEY_INDEXES)
        key.count = 0;
    bool are_indexes = key.count > 0 && census->others == census->scalars && !census->runs_code &&
                       census->ellipses <= 1 && expanded >= 0;
    for (int i = 0; i < key.count; i++) {
        key.items[i] = items[census->fancy_at[i]];
        key.axes[i] = view_dims(items, census->fancy_at[i], expanded);
        are_indexes &= may_index(key.items[i]);
    }
    if (count == 1 && is_mask(items[0]))
        key.kind = GSH_KEY_MASK;
    else if (are_indexes)
        key.kind = GSH_KEY_INDEX;
    /* NumPy moves the dimensions of indexes that are not adjacent to the front; an int counts as an index. */
    int advanced = census->fancies + census->integers + census->scalars;
    if (census->last - census->first == advanced - 1)
        key.result_axis = view_dims(items, census->first, expanded);
    return key;
}

static struct gsh_key classify_items(const struct gsh_ndarray *array, PyObject *const *items,
                                     int count)
{
    struct census census = count_items(items, count);
    if (census.fancies)
        return classify_fancy(array, items, count, &census);
    struct gsh_key key = {.kind = GSH_KEY_VIEW};
    if (census.runs_code)
        key.kind = GSH_KEY_OTHER;
    else if (census.others || (census.integers == array->nd && census.ellipses == 0))
        key.kind = GSH_KEY_ELEMENT; /* page faults serve any other key */
    return key;
}

struct gsh_key gsh_numpy_key_classify(const struct gsh_ndarray *array, PyObject *object)
{
    PyObject *items[GSH_MAX_DIMS + 2];
    if (gsh_py_type(object) != gsh_py.PyTuple_Type)
        return classify_items(array, &object, 1);
    Py_ssize_t count = gsh_py.PyTuple_Size(object);
    if (count > (Py_ssize_t)GSH_COUNT(items))
        return (struct gsh_key){.kind = GSH_KEY_ELEMENT};
    for (Py_ssize_t i = 0; i < count; i++)
        items[i] = gsh_py.PyTuple_GetItem(object, i);
    return classify_items(array, items, (int)count);
}
