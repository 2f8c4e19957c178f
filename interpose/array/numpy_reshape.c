/* SPDX-License-Identifier: Apache-2.0
 *
 * ndarray.reshape where no view has the new shape: one COPY in the wanted order, of which NumPy's own
 * reshape makes a view. Where a view does, and for any other call that this file does not understand,
 * NumPy's reshape is called at once, and nothing is fetched: a view reads no elements.
 */
#include "numpy_copy.h"
#include "numpy_method_patch.h"

static PyObject *try_reshape(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);

GSH_METHOD_HOOK(reshape_hook, .table = GSH_METHOD_NDARRAY, .name = "reshape",
                .handler = try_reshape, .subject = GSH_METHOD_ASK_BY_SELF, .uses_cores = true,
                .self_test = "a.reshape(2, 1)");

/* Dimensions in the order from the slowest to the fastest of the walk. */
struct walk {
    int ndim;
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
};

/* ---- the new shape ---- */

static bool read_extents(PyObject *const *items, Py_ssize_t count, struct walk *wanted)
{
    bool is_read = count >= 0 && count <= GSH_MAX_DIMS;
    for (Py_ssize_t i = 0; i < count && is_read; i++)
        is_read = gsh_numpy_arguments_int(items[i], &wanted->shape[i]);
    wanted->ndim = (int)count;
    return is_read;
}

static bool read_tuple(PyObject *tuple, struct walk *wanted)
{
    PyObject *items[GSH_MAX_DIMS];
    Py_ssize_t count = gsh_py_size(tuple);
    if (count > GSH_MAX_DIMS)
        return false;
    for (Py_ssize_t i = 0; i < count; i++)
        items[i] = gsh_py.PyTuple_GetItem(tuple, i);
    return read_extents(items, count, wanted);
}

/* Replaces an extent of -1. False: the new shape has not `size` elements, or none. */
static bool fit(struct walk *wanted, int64_t size)
{
    int64_t known = 1, *unknown = NULL;
    for (int i = 0; i < wanted->ndim; i++) {
        if (wanted->shape[i] == -1 && !unknown)
            unknown = &wanted->shape[i];
        else if (wanted->shape[i] <= 0 || __builtin_mul_overflow(known, wanted->shape[i], &known))
            return false;
    }
    if (unknown)
        *unknown = size / known;
    return size > 0 && known * (unknown ? *unknown : 1) == size;
}

/* False: not an int, ints, or a tuple of ints that have the array's number of elements. */
static bool read_shape(const struct gsh_method_call *call, struct walk *wanted)
{
    bool is_tuple = call->nargs == 1 && gsh_py_type(call->args[0]) == gsh_py.PyTuple_Type;
    return call->nargs > 0 &&
           (is_tuple ? read_tuple(call->args[0], wanted)
                     : read_extents(call->args, (Py_ssize_t)call->nargs, wanted)) &&
           fit(wanted, gsh_numpy_describe_size(gsh_numpy_array(call->self)));
}

/* ---- view or copy ---- */

static void reverse(struct walk *walk)
{
    for (int i = 0, j = walk->ndim - 1; i < j; i++, j--) {
        int64_t extent = walk->shape[i], stride = walk->strides[i];
        walk->shape[i] = walk->shape[j];
        walk->strides[i] = walk->strides[j];
        walk->shape[j] = extent;
        walk->strides[j] = stride;
    }
}

/* The view's dimensions without those of one element. */
static struct walk walk_of(const struct gsh_view *view)
{
    struct walk walk = {.ndim = 0};
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] != 1) {
            walk.shape[walk.ndim] = view->shape[i];
            walk.strides[walk.ndim++] = view->strides[i];
        }
    return walk;
}

/* Whether dimensions first..last step as one. */
static bool steps_as_one(const struct walk *walk, int first, int last)
{
    bool is_one = true;
    for (int i = first; i < last && is_one; i++)
        is_one = walk->strides[i] == walk->shape[i + 1] * walk->strides[i + 1];
    return is_one;
}

/* Whether a view of `old` has the shape `wanted`, which has as many elements: NumPy's rule. The smallest groups of old and new
 * dimensions with as many elements are matched, and those of an old group must step as one. */
static bool has_view(const struct walk *old, const struct walk *wanted)
{
    for (int i = 0, j = 0; i < old->ndim && j < wanted->ndim;) {
        int first = i;
        int64_t elements = old->shape[i++], needed = wanted->shape[j++];
        while (elements != needed) {
            if (needed < elements)
                needed *= wanted->shape[j++];
            else
                elements *= old->shape[i++];
        }
        if (!steps_as_one(old, first, i - 1))
            return false;
    }
    return true;
}

static bool is_copied(const struct gsh_view *view, const struct walk *wanted, enum gsh_order order)
{
    struct walk old = walk_of(view), walked = *wanted;
    if (order == GSH_ORDER_F) {
        reverse(&old);
        reverse(&walked);
    }
    return !has_view(&old, &walked);
}

/* ---- the call ---- */

/* order=; no other keyword. *order becomes C or F. */
static bool read_order(const struct gsh_method_call *call, const struct gsh_view *view,
                       enum gsh_order *order)
{
    static const char *const names[] = {"order", "copy"};
    struct gsh_method_call keywords = *call;
    PyObject *slots[2];
    keywords.args += call->nargs;
    keywords.nargs = 0;
    if (!gsh_numpy_method_patch_bind(&keywords, names, 2, 0, slots) ||
        !gsh_numpy_arguments_is_absent(slots[1]) ||
        !gsh_numpy_arguments_order(slots[0], GSH_ORDER_C, order) || *order == GSH_ORDER_KEEP)
        return false;
    int contiguous = view->flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS);
    if (*order == GSH_ORDER_ANY)
        *order = contiguous == GSH_NPY_F_CONTIGUOUS ? GSH_ORDER_F : GSH_ORDER_C;
    return true;
}

static PyObject *try_reshape(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    struct gsh_view view;
    struct walk wanted;
    enum gsh_order order;
    if ((gsh_numpy_array(call->self)->flags & GSH_NPY_C_CONTIGUOUS && !call->kwdict &&
         !call->kwnames) ||
        gsh_numpy_describe_array(call->self, &view) != GSH_REASON_NONE ||
        !read_order(call, &view, &order) || !read_shape(call, &wanted) ||
        !is_copied(&view, &wanted, order))
        return NULL;
    PyObject *copy = gsh_numpy_copy_in_order("reshape", &view, view.dtype, order, why, row);
    if (!copy)
        return NULL;
    PyObject *result = gsh_numpy_method_patch_call_original(&reshape_hook, call, copy);
    gsh_py.Py_DecRef(copy);
    return result;
}

void gsh_numpy_reshape_install_without_device(void)
{
    gsh_numpy_reshape_install();
}

void gsh_numpy_reshape_install(void)
{
    gsh_numpy_method_patch_install(&reshape_hook);
}
