/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Labels of both operands and the result are the batch. Labels of one operand and
 * the result are rows or columns. Labels of both operands only are k. Labels that can be stepped
 * through as one are merged. Row and column labels that remain are added to the batch.
 */
#include "numpy_product.h"

#include "dispatch.h"
#include "host_routines.h"
#include "numpy_errstate.h"
#include "numpy_method_patch.h"
#include "numpy_scalar.h"
#include "python_error.h"

#include <string.h>

enum role { ROW, COLUMN, SUMMED, BATCH, ROLES };

/* The labels that have one role. */
struct group {
    struct gsh_product_label labels[GSH_PRODUCT_LABELS];
    int count;
};

static const struct gsh_ufunc *matmul;

void gsh_numpy_product_init(void)
{
    PyObject *found = gsh_py.PyDict_GetItemString(gsh_np.dict, "matmul");
    if (!found || gsh_py_type(found) != gsh_np.ufunc_type || ((struct gsh_ufunc *)found)->nin != 2)
        return;
    matmul = (struct gsh_ufunc *)found;
    for (int i = matmul->ntypes; i-- > 0;) {
        int dtype = gsh_numpy_dtype_of_type(matmul->types[(ptrdiff_t)i * matmul->nargs]);
        if (dtype >= 0)
            gsh_host_routines_register_loop(gsh_host_routines_product(GSH_GEMM_GE),
                                            (enum gsh_dtype)dtype, matmul->functions[i],
                                            matmul->data ? matmul->data[i] : NULL);
    }
}

bool gsh_numpy_product_add(struct gsh_product *product, const struct gsh_product_label *label)
{
    if (product->count == GSH_PRODUCT_LABELS)
        return false;
    product->labels[product->count++] = *label;
    return true;
}

bool gsh_numpy_product_is_worth(PyObject *a, PyObject *b, enum gsh_reason *why)
{
    if (gsh_numpy_method_patch_is_worth(a) || gsh_numpy_method_patch_is_worth(b))
        return true;
    if (!gsh_numpy_method_patch_is_small_product(a, b) && !gsh_numpy_errstate_ignores_or_warns())
        *why = GSH_REASON_ERRSTATE;
    return false;
}

/* The first loop to which both inputs cast safely. */
static enum gsh_reason find_loop(struct gsh_product *product)
{
    product->loop = product->views[0].dtype;
    if (product->loop == product->views[1].dtype)
        return GSH_REASON_NONE;
    for (int i = 0; matmul && i < matmul->ntypes; i++) {
        int dtype = gsh_numpy_dtype_of_type(matmul->types[(ptrdiff_t)i * matmul->nargs]);
        bool fits = dtype >= 0;
        for (int k = 0; k < 2 && fits; k++)
            fits = gsh_numpy_describe_can_cast(product->views[k].dtype, (enum gsh_dtype)dtype,
                                               GSH_CASTING_SAFE);
        product->loop = (enum gsh_dtype)dtype;
        if (fits)
            return GSH_REASON_NONE;
    }
    return GSH_REASON_DTYPE;
}

/* ---- labels to a launch ---- */

static enum role role_of(const struct gsh_product_label *label)
{
    switch (label->members) {
    case GSH_PRODUCT_A | GSH_PRODUCT_C:
        return ROW;
    case GSH_PRODUCT_B | GSH_PRODUCT_C:
        return COLUMN;
    case GSH_PRODUCT_A | GSH_PRODUCT_B:
        return SUMMED;
    case GSH_PRODUCT_A | GSH_PRODUCT_B | GSH_PRODUCT_C: /* a broadcast label is a row or column */
        return label->strides[1] == 0 ? ROW : label->strides[0] == 0 ? COLUMN : BATCH;
    default:
        return ROLES;
    }
}

static bool steps_as_one(const struct gsh_product_label *outer,
                         const struct gsh_product_label *inner)
{
    for (int k = 0; k < 3; k++)
        if (outer->strides[k] != inner->strides[k] * inner->extent)
            return false;
    return true;
}

/* Adds the label to the group, merged with another label if possible. */
static void join_group(struct group *group, struct gsh_product_label label)
{
    for (int i = 0; i < group->count; i++) {
        struct gsh_product_label *other = &group->labels[i];
        bool is_outer = steps_as_one(&label, other);
        if (!is_outer && !steps_as_one(other, &label))
            continue;
        if (is_outer)
            memcpy(label.strides, other->strides, sizeof(label.strides));
        label.extent *= other->extent;
        *other = group->labels[--group->count];
        join_group(group, label);
        return;
    }
    group->labels[group->count++] = label;
}

/* Removes the longest label from the group. Extent 1 if the group is empty. */
static struct gsh_product_label take_longest(struct group *group)
{
    int longest = 0;
    if (group->count == 0)
        return (struct gsh_product_label){.extent = 1};
    for (int i = 1; i < group->count; i++)
        if (group->labels[i].extent > group->labels[longest].extent)
            longest = i;
    struct gsh_product_label label = group->labels[longest];
    group->labels[longest] = group->labels[--group->count];
    return label;
}

static bool add_batch(struct gsh_launch *launch, const struct group *group)
{
    for (int i = 0; i < group->count; i++) {
        if (launch->ndim + 2 == GSH_MAX_DIMS)
            return false;
        launch->shape[launch->ndim] = group->labels[i].extent;
        for (int k = 0; k < 3; k++)
            launch->strides[k][launch->ndim] = group->labels[i].strides[k];
        launch->ndim++;
    }
    return true;
}

/* The label's strides in elements. False: a stride is not a multiple of the element size. */
static bool set_strides(const struct gsh_product_label *label, int64_t size, int64_t *first,
                        int64_t *second, int k, int l)
{
    *first = label->extent == 1 ? 1 : label->strides[k] / size;
    *second = label->extent == 1 ? 1 : label->strides[l] / size;
    return label->strides[k] % size == 0 && label->strides[l] % size == 0;
}

static bool make_gemm(struct group *groups, struct gsh_launch *launch)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    struct gsh_gemm *g = &launch->gemm;
    struct gsh_product_label m = take_longest(&groups[ROW]), n = take_longest(&groups[COLUMN]),
                             k = take_longest(&groups[SUMMED]);
    launch->kind = GSH_LAUNCH_GEMM;
    *g = (struct gsh_gemm){.m = m.extent, .n = n.extent, .k = k.extent, .alpha = 1};
    return groups[SUMMED].count == 0 && set_strides(&m, size, &g->a_row, &g->c_row, 0, 2) &&
           set_strides(&n, size, &g->b_col, &g->c_col, 1, 2) &&
           set_strides(&k, size, &g->a_col, &g->b_row, 0, 1);
}

/* Sets dimensions, strides and kind. The result has the layout's strides. */
static enum gsh_reason lower(struct gsh_product *product, struct gsh_launch *launch)
{
    struct group groups[ROLES];
    bool is_summed = false;
    for (int r = 0; r < ROLES; r++)
        groups[r].count = 0;
    launch->ndim = 0;
    for (int i = 0; i < product->count; i++) {
        struct gsh_product_label label = product->labels[i];
        enum role role = role_of(&label);
        if (label.extent == 0 || role == ROLES)
            return GSH_REASON_SHAPE;
        is_summed |= role == SUMMED;
        if (role != SUMMED)
            label.strides[2] = product->layout.strides[label.out_dim];
        if (label.extent != 1)
            join_group(&groups[role], label);
    }
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = GSH_OP_MULTIPLY;
    if (is_summed && !make_gemm(groups, launch))
        return GSH_REASON_LAYOUT;
    for (int r = ROW; r < ROLES; r++)
        if (r != SUMMED && !add_batch(launch, &groups[r]))
            return GSH_REASON_SHAPE;
    launch->gemm.a_is_conjugate =
        is_summed && product->conjugates && gsh_dtype_kind(launch->loop) == 'c';
    return GSH_REASON_NONE;
}

static enum gsh_reason make_launch(struct gsh_product *product, gsh_product_describe *describe,
                                   const void *what, struct gsh_launch *launch)
{
    product->count = 0;
    product->layout.ndim = 0;
    enum gsh_reason reason = describe(product, what);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (product->order)
        product->layout = *product->order;
    launch->loop = product->loop;
    launch->nin = 2;
    launch->nout = 1;
    for (int k = 0; k < 2; k++)
        launch->operands[k].address = (uintptr_t)product->views[k].data;
    for (int k = 0; k < 3; k++)
        launch->operands[k].dtype = product->loop;
    return GSH_REASON_NONE;
}

/* ---- out ---- */

/* Whether the result can be written to `out`, either directly or copied from a fresh array
 * (*is_copied). */
static enum gsh_reason place_out(struct gsh_product *product, struct gsh_launch *launch,
                                 bool *is_copied)
{
    struct gsh_view view;
    if (!product->out)
        return GSH_REASON_NONE;
    enum gsh_reason reason = gsh_numpy_describe_output(product->out, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (view.dtype != product->loop)
        return GSH_REASON_DTYPE;
    if (view.ndim != product->layout.ndim ||
        memcmp(view.shape, product->layout.shape, (size_t)view.ndim * sizeof(view.shape[0])) != 0)
        return GSH_REASON_SHAPE;
    *is_copied = gsh_numpy_describe_meet(product->out, product->inputs[0]) ||
                 gsh_numpy_describe_meet(product->out, product->inputs[1]);
    if (*is_copied)
        return GSH_REASON_NONE;
    memcpy(product->layout.strides, view.strides, (size_t)view.ndim * sizeof(view.strides[0]));
    launch->operands[2].address = (uintptr_t)view.data;
    return GSH_REASON_NONE;
}

/* ---- copies ---- */

/* Copies the view's elements to `out`, or to a new array of the dtype and layout if `out` is NULL.
 */
static PyObject *copy(const char *name, const struct gsh_view *view, enum gsh_dtype dtype,
                      PyObject *out, const struct gsh_layout *layout, enum gsh_reason *why)
{
    struct gsh_call call = {.errors = {.is_unwanted = true},
                            .row = gsh_numpy_output_row(name, &view->dtype, 1, dtype)};
    gsh_numpy_describe_copy(&call.launch, view, dtype, layout->strides);
    if (out)
        call.launch.operands[1].address = (uintptr_t)gsh_numpy_array(out)->data;
    return gsh_numpy_output_run(&call, out, layout, why);
}

/* By NumPy; NULL without an exception: it could not. */
static PyObject *cast_on_host(PyObject *array, enum gsh_dtype dtype)
{
    const char code[] = {gsh_dtype_numpy_char(dtype), '\0'};
    PyObject *made = gsh_py.PyObject_CallMethod(array, "astype", "s", code);
    if (!made)
        gsh_python_error_clear();
    return made;
}

/* Input k in the loop's dtype; a new reference. The CPU casts what is not worth a launch: the product is. */
static PyObject *cast_input(struct gsh_product *product, int k, enum gsh_reason *why)
{
    struct gsh_layout layout;
    gsh_numpy_output_like(&product->views[k], gsh_dtype_size(product->loop), &layout);
    PyObject *made = copy("astype", &product->views[k], product->loop, NULL, &layout, why);
    if (!made && !gsh_py.PyErr_Occurred())
        made = cast_on_host(product->inputs[k], product->loop);
    if (made)
        *why = gsh_numpy_describe_array(made, &product->views[k]);
    return made;
}

/* Whether label i must come before label j in the reordered second operand: summed labels are last,
 * in the order of the first operand. */
static bool lies_before(const struct gsh_product_label *i, const struct gsh_product_label *j)
{
    bool i_stays = (i->members & GSH_PRODUCT_C) != 0, j_stays = (j->members & GSH_PRODUCT_C) != 0;
    if (i_stays != j_stays)
        return i_stays;
    return gsh_launch_step(i->strides[0]) > gsh_launch_step(j->strides[0]);
}

/* Copies the second operand so that its summed labels step as one, as they do in the first operand.
 * A new reference. NULL: no copy can be made. */
static PyObject *reorder_second(struct gsh_product *product, enum gsh_reason *why)
{
    struct gsh_product_label *order[GSH_PRODUCT_LABELS];
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
    struct gsh_view view = product->views[1];
    struct gsh_layout layout;
    int count = 0;
    for (int i = 0; i < product->count; i++) {
        int place = count;
        if (product->labels[i].extent == 1 || product->labels[i].strides[1] == 0)
            continue;
        for (; place > 0 && lies_before(&product->labels[i], order[place - 1]); place--)
            order[place] = order[place - 1];
        order[place] = &product->labels[i];
        count++;
    }
    if (count > GSH_MAX_DIMS)
        return NULL;
    for (int d = 0; d < count; d++) {
        shape[d] = layout.shape[d] = order[d]->extent;
        strides[d] = order[d]->strides[1];
    }
    view.ndim = layout.ndim = count;
    view.shape = shape;
    view.strides = strides;
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(product->loop));
    PyObject *made = copy("copy", &view, product->loop, NULL, &layout, why);
    if (!made)
        return NULL;
    for (int d = 0; d < count; d++)
        order[d]->strides[1] = layout.strides[d];
    product->views[1].data = gsh_numpy_array(made)->data;
    return made;
}

static void drop(PyObject *object)
{
    if (object)
        gsh_py.Py_DecRef(object);
}

/* Copies the result to `out`. Steals the result. */
static PyObject *hand_to_out(const struct gsh_product *product, PyObject *result,
                             enum gsh_reason *why)
{
    struct gsh_view from, to;
    struct gsh_layout layout = product->layout;
    PyObject *out = NULL;
    *why = gsh_numpy_describe_array(result, &from);
    if (*why == GSH_REASON_NONE &&
        (*why = gsh_numpy_describe_array(product->out, &to)) == GSH_REASON_NONE) {
        memcpy(layout.strides, to.strides, (size_t)to.ndim * sizeof(to.strides[0]));
        out = copy("copyto", &from, product->loop, product->out, &layout, why);
    }
    drop(result);
    return out;
}

/* If nothing is summed, NumPy still adds each product to 0, so no element is a negative zero.
 * False: failed. */
static bool drop_signs(PyObject *result, enum gsh_dtype loop, enum gsh_reason *why)
{
    struct gsh_view view;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_ADD,
                                       .loop = loop,
                                       .nin = 2,
                                       .nout = 1},
                            .errors = {.is_unwanted = true}};
    *why = gsh_numpy_describe_array(result, &view);
    if (*why != GSH_REASON_NONE)
        return false;
    const enum gsh_dtype dtypes[] = {loop, loop};
    call.row = gsh_numpy_output_row("add", dtypes, 2, loop);
    call.launch.ndim = view.ndim;
    memcpy(call.launch.shape, view.shape, (size_t)view.ndim * sizeof(view.shape[0]));
    gsh_numpy_describe_place_view(&call.launch, 0, &view);
    gsh_numpy_describe_place_view(&call.launch, 2, &view);
    call.launch.operands[1] = (struct gsh_operand){.dtype = loop, .is_constant = true};
    PyObject *same = gsh_numpy_output_run(&call, result, NULL, why);
    drop(same);
    return same != NULL;
}

/* ---- one product ---- */

static PyObject *compute(struct gsh_product *product, struct gsh_call *call, PyObject *out,
                         enum gsh_reason *why)
{
    bool has_signs = call->launch.kind == GSH_LAUNCH_ELEMENTWISE &&
                     (gsh_dtype_kind(product->loop) == 'f' || gsh_dtype_kind(product->loop) == 'c');
    PyObject *result = gsh_numpy_output_run(call, out, &product->layout, why);
    if (!result || !has_signs || drop_signs(result, product->loop, why))
        return result;
    drop(result);
    return NULL;
}

/* If the launch needs another layout of the second operand, makes a copy in *reordered. `reordered`
 * NULL: no copy is made. */
static enum gsh_reason lower_reordered(struct gsh_product *product, struct gsh_launch *launch,
                                       PyObject **reordered)
{
    enum gsh_reason why = lower(product, launch);
    if (why != GSH_REASON_LAYOUT || !reordered)
        return why;
    *reordered = reorder_second(product, &why);
    if (!*reordered)
        return why;
    launch->operands[1].address = (uintptr_t)product->views[1].data;
    return lower(product, launch);
}

/* Runs the call on views of the loop's dtype. is_priced_only: only decides, as if the views had
 * that dtype. */
static PyObject *run(struct gsh_product *product, struct gsh_call *call,
                     gsh_product_describe *describe, const void *what, bool is_priced_only,
                     enum gsh_reason *why)
{
    bool is_copied = false;
    PyObject *reordered = NULL, *result = NULL;
    *why = make_launch(product, describe, what, &call->launch);
    if (*why == GSH_REASON_NONE)
        *why = place_out(product, &call->launch, &is_copied);
    if (*why == GSH_REASON_NONE)
        *why = lower_reordered(product, &call->launch, is_priced_only ? NULL : &reordered);
    if (*why == GSH_REASON_NONE && is_priced_only)
        *why = gsh_dispatch_decide(call);
    else if (*why == GSH_REASON_NONE)
        result = compute(product, call, is_copied ? NULL : product->out, why);
    drop(reordered);
    if (result && is_copied)
        return hand_to_out(product, result, why);
    return result && !product->out && product->layout.ndim == 0
               ? gsh_numpy_scalar_from_array(result)
               : result;
}

/* Casts the inputs that need it, after the device was chosen. */
static PyObject *cast_and_run(struct gsh_product *product, struct gsh_call *call,
                              gsh_product_describe *describe, const void *what,
                              enum gsh_reason *why)
{
    PyObject *casts[2] = {NULL}, *result = NULL;
    const struct gsh_view given[] = {product->views[0], product->views[1]};
    struct gsh_layout layouts[2], order;
    *why = make_launch(product, describe, what, &call->launch);
    if (*why != GSH_REASON_NONE)
        return NULL;
    order = product->layout; /* from the given inputs: a cast input is no longer broadcast */
    product->order = &order;
    for (int k = 0; k < 2; k++) {
        gsh_numpy_output_like(&given[k], gsh_dtype_size(product->loop), &layouts[k]);
        product->views[k].strides = layouts[k].strides; /* the strides after the cast */
    }
    run(product, call, describe, what, true, why);
    memcpy(product->views, given, sizeof(given));
    for (int k = 0; k < 2 && *why == GSH_REASON_NONE; k++)
        if (product->views[k].dtype != product->loop)
            casts[k] = cast_input(product, k, why);
    if (*why == GSH_REASON_NONE)
        result = run(product, call, describe, what, false, why);
    drop(casts[0]);
    drop(casts[1]);
    product->order = NULL;
    return result;
}

PyObject *gsh_numpy_product_try(const char *name, struct gsh_product *product,
                                gsh_product_describe *describe, const void *what,
                                enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.errors = {.is_unwanted = true}, .is_einsum = product->is_einsum};
    for (int k = 0; k < 2; k++) {
        *why = gsh_numpy_describe_array(product->inputs[k], &product->views[k]);
        if (*why != GSH_REASON_NONE)
            return NULL;
    }
    *why = find_loop(product);
    if (*why != GSH_REASON_NONE)
        return NULL;
    const enum gsh_dtype given[] = {product->views[0].dtype, product->views[1].dtype};
    *row = call.row = gsh_numpy_output_row(name, given, 2, product->loop);
    *why = GSH_REASON_ERRSTATE;
    if (product->reports && !gsh_numpy_errstate_ignores_or_warns())
        return NULL;
    bool is_cast = given[0] != product->loop || given[1] != product->loop;
    return is_cast ? cast_and_run(product, &call, describe, what, why)
                   : run(product, &call, describe, what, false, why);
}
