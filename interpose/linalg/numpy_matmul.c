/* SPDX-License-Identifier: Apache-2.0
 *
 * Named products: the gufuncs matmul, vecdot, matvec and vecmat, the functions dot, inner and vdot,
 * and the method dot. Each has a row that says which dimensions of an operand form its matrix. The
 * dimensions before them are the batch.
 */
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "numpy_product.h"
#include "numpy_scalar.h"
#include "numpy_ufunc.h"
#include "python_error.h"

#include <string.h>

static PyObject *try_dot_function(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);
static PyObject *try_dot_method(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row);
static PyObject *try_inner(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_vdot(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(dot_function_hook, .table = GSH_METHOD_MODULE, .name = "dot",
                .handler = try_dot_function, .subject = GSH_METHOD_ASK_BY_PRODUCT,
                .self_test = "m.dot(a, b)");
GSH_METHOD_HOOK(dot_method_hook, .table = GSH_METHOD_NDARRAY, .name = "dot",
                .handler = try_dot_method, .subject = GSH_METHOD_ASK_BY_PRODUCT,
                .self_test = "a.dot(b)");
GSH_METHOD_HOOK(inner_hook, .table = GSH_METHOD_MODULE, .name = "inner", .handler = try_inner,
                .subject = GSH_METHOD_ASK_BY_PRODUCT, .self_test = "m.inner(a, b)");
GSH_METHOD_HOOK(vdot_hook, .table = GSH_METHOD_MODULE, .name = "vdot", .handler = try_vdot,
                .subject = GSH_METHOD_ASK_BY_PRODUCT, .self_test = "m.vdot(a, b)");

/* The form of a product. */
struct form {
    const char *name;
    const char *cores[2]; /* the last dimensions: m rows, k summed, n columns */
    bool takes_vectors;   /* an operand with one dimension is k only */
    bool is_outer;        /* no broadcast: the result has the leading dimensions of both */
    bool conjugates;      /* the first operand */
};

static const struct form gufuncs[] = {
    {"matmul", {"mk", "kn"}, .takes_vectors = true},
    {"vecdot", {"k", "k"}, .conjugates = true},
    {"matvec", {"mk", "k"}, .conjugates = false},
    {"vecmat", {"k", "kn"}, .conjugates = true},
};
static const struct form dot_form = {"dot", {"k", "kn"}, .takes_vectors = true, .is_outer = true};
static const struct form inner_form = {"inner", {"k", "k"}, .is_outer = true};

/* The matrix dimensions of operand k, or NULL: it has too few. */
static const char *core_of(const struct form *form, const struct gsh_view *view, int k)
{
    const char *core = form->takes_vectors && view->ndim == 1 ? "k" : form->cores[k];
    return view->ndim < (int)strlen(core) ? NULL : core;
}

/* The labels m, k and n. Their dimensions in the result are not set yet. */
struct cores {
    struct gsh_product_label m, k, n;
};

static bool read_core(const struct gsh_view *view, int operand, const char *core,
                      struct cores *cores)
{
    int first = view->ndim - (int)strlen(core);
    for (int d = 0; core[d] != '\0'; d++) {
        struct gsh_product_label *label = core[d] == 'm'   ? &cores->m
                                          : core[d] == 'k' ? &cores->k
                                                           : &cores->n;
        int64_t extent = view->shape[first + d];
        if (label->members != 0 && label->extent != extent)
            return false;
        label->members |= operand == 0 ? GSH_PRODUCT_A : GSH_PRODUCT_B;
        label->extent = extent;
        label->strides[operand] = view->strides[first + d];
    }
    return true;
}

/* Makes the label the next dimension of the result. */
static bool add_result(struct gsh_product *product, struct gsh_product_label label)
{
    struct gsh_layout *layout = &product->layout;
    if (layout->ndim == GSH_MAX_DIMS)
        return false;
    label.members |= GSH_PRODUCT_C;
    label.out_dim = layout->ndim;
    layout->shape[layout->ndim++] = label.extent;
    return gsh_numpy_product_add(product, &label);
}

/* Adds m or n if an operand has it. */
static bool add_core(struct gsh_product *product, const struct gsh_product_label *label)
{
    return label->members == 0 || add_result(product, *label);
}

/* Adds the leading dimensions of an operand of dot. */
static bool add_leading(struct gsh_product *product, int operand, int count)
{
    const struct gsh_view *view = &product->views[operand];
    for (int d = 0; d < count; d++) {
        struct gsh_product_label label = {.members = operand == 0 ? GSH_PRODUCT_A : GSH_PRODUCT_B,
                                          .extent = view->shape[d]};
        label.strides[operand] = view->strides[d];
        if (!add_result(product, label))
            return false;
    }
    return true;
}

static bool describe_outer(struct gsh_product *product, const int *leading,
                           const struct cores *cores)
{
    bool has_room = add_leading(product, 0, leading[0]) && add_core(product, &cores->m) &&
                    add_leading(product, 1, leading[1]) && add_core(product, &cores->n);
    gsh_numpy_output_c_order(&product->layout, gsh_dtype_size(product->loop));
    return has_room;
}

/* The batch has the layout that NumPy's iterator chooses, each matrix is in C order. */
static void lay_out(struct gsh_product *product, const struct gsh_launch *batch)
{
    struct gsh_layout *layout = &product->layout, core = {.ndim = layout->ndim - batch->ndim};
    struct gsh_layout outer;
    size_t size = gsh_dtype_size(product->loop), bytes = size;
    for (int d = 0; d < core.ndim; d++) {
        core.shape[d] = layout->shape[batch->ndim + d];
        bytes *= (size_t)core.shape[d];
    }
    gsh_numpy_output_c_order(&core, size);
    gsh_numpy_output_iterator_order(batch, 2, bytes, &outer);
    memcpy(layout->strides, outer.strides, (size_t)batch->ndim * sizeof(outer.strides[0]));
    memcpy(layout->strides + batch->ndim, core.strides,
           (size_t)core.ndim * sizeof(core.strides[0]));
}

static enum gsh_reason describe_batch(struct gsh_product *product, const int *leading,
                                      const struct cores *cores)
{
    struct gsh_launch batch = {.nin = 2};
    struct gsh_argument arguments[2];
    for (int k = 0; k < 2; k++) {
        arguments[k] = (struct gsh_argument){.is_array = true, .view = product->views[k]};
        arguments[k].view.ndim = leading[k];
    }
    enum gsh_reason reason = gsh_numpy_describe_broadcast(&batch, arguments, 2);
    if (reason != GSH_REASON_NONE)
        return reason;
    for (unsigned k = 0; k < 2; k++)
        gsh_numpy_describe_place_view(&batch, k, &arguments[k].view);
    for (int d = 0; d < batch.ndim; d++) {
        struct gsh_product_label label = {.members = GSH_PRODUCT_A | GSH_PRODUCT_B,
                                          .extent = batch.shape[d],
                                          .strides = {batch.strides[0][d], batch.strides[1][d]}};
        if (!add_result(product, label))
            return GSH_REASON_SHAPE;
    }
    if (!add_core(product, &cores->m) || !add_core(product, &cores->n))
        return GSH_REASON_SHAPE;
    lay_out(product, &batch);
    return GSH_REASON_NONE;
}

/* As gsh_product_describe. */
static enum gsh_reason describe_form(struct gsh_product *product, const void *what)
{
    const struct form *form = what;
    struct cores cores = {.m = {.members = 0}};
    int leading[2];
    for (int k = 0; k < 2; k++) {
        const struct gsh_view *view = &product->views[k];
        const char *core = core_of(form, view, k);
        if (!core || !read_core(view, k, core, &cores))
            return GSH_REASON_SHAPE;
        leading[k] = view->ndim - (int)strlen(core);
    }
    if (!gsh_numpy_product_add(product, &cores.k))
        return GSH_REASON_SHAPE;
    if (form->is_outer)
        return describe_outer(product, leading, &cores) ? GSH_REASON_NONE : GSH_REASON_SHAPE;
    return describe_batch(product, leading, &cores);
}

static PyObject *try_form(const struct form *form, PyObject *const *inputs, PyObject *out,
                          enum gsh_reason *why, unsigned *row)
{
    struct gsh_product product = {.inputs = {inputs[0], inputs[1]},
                                  .out = out,
                                  .conjugates = form->conjugates,
                                  .reports = true};
    return gsh_numpy_product_try(form->name, &product, describe_form, form, why, row);
}

/* As gsh_ufunc_handler. */
static PyObject *try_gufunc(const struct gsh_ufunc_call *call, enum gsh_reason *why, unsigned *row)
{
    const struct form *form = gufuncs;
    PyObject *const operands[] = {call->inputs[0], call->inputs[1], call->axis};
    const struct gsh_method_call with_axis = {NULL, operands, 3, NULL, NULL};
    bool is_fresh = !call->outs[0] && !call->dtype && !call->signature && !call->axes;
    if (call->axis && is_fresh && call->casting == GSH_CASTING_SAME_KIND) {
        PyObject *result = gsh_numpy_composed_call("vecdot", &with_axis, false, why);
        *why = !result && *why == GSH_REASON_NONE ? GSH_REASON_KEYWORDS : *why;
        return result;
    }
    *why = GSH_REASON_KEYWORDS;
    if (!call->is_plain || call->casting != GSH_CASTING_SAME_KIND)
        return NULL;
    while (strcmp(form->name, call->ufunc->name) != 0)
        form++;
    return try_form(form, call->inputs, call->outs[0], why, row);
}

static bool is_single(PyObject *object)
{
    return gsh_numpy_is_array(object) && gsh_numpy_describe_size(gsh_numpy_array(object)) == 1;
}

/* dot(a, b, out=None) after argument parsing. */
static PyObject *try_dot(PyObject *const *inputs, PyObject *out, enum gsh_reason *why,
                         unsigned *row)
{
    if (gsh_numpy_arguments_is_absent(out))
        out = NULL;
    *why = GSH_REASON_LAYOUT;
    if (out && (!gsh_numpy_is_array(out) || !(gsh_numpy_array(out)->flags & GSH_NPY_C_CONTIGUOUS)))
        return NULL; /* dot refuses other arrays */
    *why = GSH_REASON_SHAPE;
    if (is_single(inputs[0]) || is_single(inputs[1]))
        return NULL; /* dot multiplies in this case: a zero keeps its sign */
    PyObject *result = try_form(&dot_form, inputs, out, why, row);
    bool is_scalar = result && gsh_numpy_is_array(result) && gsh_numpy_array(result)->nd == 0;
    return is_scalar ? gsh_numpy_scalar_from_array(result) : result; /* also if `out` was given */
}

/* The product with arrays in place of lists, where an operand is worth it. NULL without a Python error: it is left to NumPy. */
static PyObject *dot_of_lists(PyObject *const *operands)
{
    PyObject *arrays[2], *result = NULL;
    bool is_worth = false;
    enum gsh_reason why;
    for (int k = 0; k < 2; k++) {
        arrays[k] = gsh_numpy_composed_array(operands[k], &why);
        is_worth |= arrays[k] || gsh_numpy_method_patch_is_worth(operands[k]);
    }
    for (int k = 0; is_worth && k < 2; k++)
        if (!arrays[k])
            arrays[k] = gsh_py.PyObject_CallMethod(gsh_np.module, "asarray", "O", operands[k]);
    if (arrays[0] && arrays[1])
        result = gsh_py.PyObject_CallMethod(gsh_np.module, "dot", "OO", arrays[0], arrays[1]);
    else
        gsh_python_error_clear();
    gsh_py_drop(arrays, GSH_COUNT(arrays));
    return result;
}

/* Whether one operand is a list or tuple, and the other one too or an array. */
static bool has_list(PyObject *const *operands)
{
    bool is_first = gsh_numpy_describe_is_sequence(operands[0]),
         is_second = gsh_numpy_describe_is_sequence(operands[1]);
    return (is_first && is_second) || (is_first && gsh_numpy_is_array(operands[1])) ||
           (is_second && gsh_numpy_is_array(operands[0]));
}

static PyObject *try_dot_function(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    static const char *const names[] = {"a", "b", "out"};
    PyObject *slots[3];
    if (call->nargs >= 2 && !has_list(call->args) &&
        !gsh_numpy_product_is_worth(call->args[0], call->args[1], why))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 3, 3, slots) || !slots[0] || !slots[1])
        return NULL;
    bool is_of_lists = gsh_numpy_arguments_is_absent(slots[2]) && has_list(slots);
    PyObject *product = is_of_lists ? dot_of_lists(slots) : NULL;
    if (product || gsh_py.PyErr_Occurred())
        return product;
    return try_dot(slots, slots[2], why, row);
}

static PyObject *try_dot_method(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row)
{
    static const char *const names[] = {"b", "out"};
    PyObject *slots[2];
    if (call->nargs >= 1 && !gsh_numpy_product_is_worth(call->self, call->args[0], why))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 2, 2, slots) || !slots[0])
        return NULL;
    PyObject *inputs[] = {call->self, slots[0]};
    return try_dot(inputs, slots[1], why, row);
}

static bool bind_two(const struct gsh_method_call *call, PyObject **slots, enum gsh_reason *why)
{
    static const char *const names[] = {"a", "b"};
    if (call->nargs >= 2 && !gsh_numpy_product_is_worth(call->args[0], call->args[1], why))
        return false;
    *why = GSH_REASON_KEYWORDS;
    return gsh_numpy_method_patch_bind(call, names, 2, 2, slots) && slots[0] && slots[1];
}

static PyObject *try_inner(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[2];
    if (!bind_two(call, slots, why))
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (is_single(slots[0]) || is_single(slots[1]))
        return NULL; /* as in dot */
    return try_form(&inner_form, slots, NULL, why, row);
}

/* The elements in C order as one dimension, if that is a view. */
static enum gsh_reason describe_flat(struct gsh_product *product, const void *what)
{
    struct gsh_product_label label = {.members = GSH_PRODUCT_A | GSH_PRODUCT_B};
    (void)what;
    for (int k = 0; k < 2; k++) {
        const struct gsh_view *view = &product->views[k];
        int64_t extent = 1;
        for (int d = 0; d < view->ndim; d++)
            extent *= view->shape[d];
        if (view->ndim != 1 && !(view->flags & GSH_NPY_C_CONTIGUOUS))
            return GSH_REASON_LAYOUT;
        if (k == 1 && extent != label.extent)
            return GSH_REASON_SHAPE;
        label.extent = extent;
        label.strides[k] =
            view->ndim == 1 ? view->strides[0] : (int64_t)gsh_dtype_size(product->loop);
    }
    return gsh_numpy_product_add(product, &label) ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

static PyObject *try_vdot(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_product product = {.conjugates = true};
    if (!bind_two(call, product.inputs, why))
        return NULL;
    return gsh_numpy_product_try("vdot", &product, describe_flat, NULL, why, row);
}

void gsh_numpy_matmul_install(void)
{
    gsh_numpy_product_init();
    for (size_t i = 0; i < GSH_COUNT(gufuncs); i++)
        gsh_numpy_ufunc_offer(gufuncs[i].name, try_gufunc);
    gsh_numpy_method_patch_install(&dot_function_hook);
    gsh_numpy_method_patch_install(&dot_method_hook);
    gsh_numpy_method_patch_install(&inner_hook);
    gsh_numpy_method_patch_install(&vdot_hook);
}
