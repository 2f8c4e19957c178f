/* SPDX-License-Identifier: Apache-2.0
 *
 * einsum of two operands, whose subscripts become the labels of a product, and sums over dimensions
 * of one operand. np.einsum calls c_einsum; with optimize= also tensordot, whose products go
 * through dot. More operands are composed of products of two (numpy_composed_*.py). NumPy computes views
 * of one operand, and float16, whose partial sums it rounds.
 */
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "numpy_product.h"
#include "numpy_scalar.h"
#include "python_text.h"

#include <ctype.h>
#include <string.h>

static PyObject *try_einsum(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);

GSH_METHOD_HOOK(einsum_hook, .table = GSH_METHOD_MODULE, .name = "c_einsum", .handler = try_einsum,
                .self_test = "m.c_einsum('i,i->i', a, a)");

/* The dimensions of an operand or the result. A letter is its own code. A dimension of an ellipsis
 * is coded by its position, counted so that the last one is GSH_MAX_DIMS in every operand. */
struct codes {
    unsigned char codes[GSH_MAX_DIMS];
    int count, ellipsis; /* ellipsis: how many come from an ellipsis */
};

/* The parts of "ij,jk->ik" or "ij->j". */
struct subscripts {
    const char *inputs[2], *output; /* output NULL: none given */
    size_t lengths[2];
    int count; /* of inputs */
};

/* Splits the text at "," and "->". False: more than two operands. */
static bool split(const char *text, struct subscripts *parts)
{
    const char *arrow = strstr(text, "->"), *end = arrow ? arrow : text + strlen(text);
    const char *comma = memchr(text, ',', (size_t)(end - text));
    const char *second = comma ? comma + 1 : end;
    *parts = (struct subscripts){
        .inputs = {text, second},
        .output = arrow ? arrow + 2 : NULL,
        .lengths = {(size_t)((comma ? comma : end) - text), (size_t)(end - second)},
        .count = comma ? 2 : 1};
    return !memchr(second, ',', parts->lengths[1]);
}

static bool add_code(struct codes *codes, int code)
{
    if (codes->count == GSH_MAX_DIMS)
        return false;
    codes->codes[codes->count++] = (unsigned char)code;
    return true;
}

static bool add_ellipsis(struct codes *codes, int dims)
{
    codes->ellipsis = dims;
    for (int d = 0; d < dims; d++)
        if (!add_code(codes, GSH_MAX_DIMS - dims + 1 + d))
            return false;
    return true;
}

/* Reads one part of the subscripts. `dims` is the number of dimensions of an ellipsis, if there is
 * one. False: not understood. */
static bool read_codes(const char *text, size_t length, int dims, struct codes *codes)
{
    bool has_ellipsis = false;
    codes->count = codes->ellipsis = 0;
    for (size_t i = 0; i < length; i++) {
        bool is_ellipsis = i + 3 <= length && memcmp(text + i, "...", 3) == 0;
        if (text[i] == ' ')
            continue;
        if (is_ellipsis ? has_ellipsis || !add_ellipsis(codes, dims)
                        : !isalpha((unsigned char)text[i]) || !add_code(codes, text[i]))
            return false;
        has_ellipsis |= is_ellipsis;
        i += is_ellipsis ? 2 : 0;
    }
    return true;
}

static int count_letters(const char *text, size_t length)
{
    int letters = 0;
    for (size_t i = 0; i < length; i++)
        letters += isalpha((unsigned char)text[i]) != 0;
    return letters;
}

static int occurrences(const struct codes *codes, int code)
{
    int count = 0;
    for (int d = 0; d < codes->count; d++)
        count += codes->codes[d] == code;
    return count;
}

/* The result's dimensions: those given, else the ellipsis and the letters that occur once. */
static bool read_output(const struct subscripts *parts, const struct codes *inputs,
                        struct codes *output)
{
    int dims = GSH_MAX(inputs[0].ellipsis, inputs[1].ellipsis);
    if (parts->output)
        return read_codes(parts->output, strlen(parts->output), dims, output) &&
               output->ellipsis == dims;
    output->count = 0;
    bool has_room = add_ellipsis(output, dims);
    for (int code = 'A'; code <= 'z' && has_room; code++)
        if (occurrences(&inputs[0], code) + occurrences(&inputs[1], code) == 1)
            has_room = add_code(output, code);
    return has_room;
}

/* The product's labels and their codes. */
struct known {
    struct gsh_product *product;
    unsigned char codes[GSH_PRODUCT_LABELS];
};

static struct gsh_product_label *find_label(struct known *known, int code)
{
    for (int i = 0; i < known->product->count; i++)
        if (known->codes[i] == code)
            return &known->product->labels[i];
    if (known->product->count == GSH_PRODUCT_LABELS)
        return NULL;
    known->codes[known->product->count] = (unsigned char)code;
    gsh_numpy_product_add(known->product, &(struct gsh_product_label){.extent = 1});
    return &known->product->labels[known->product->count - 1];
}

/* Adds a dimension of an operand to its label. An extent of 1 is broadcast. A code that occurs
 * twice in an operand selects the diagonal. */
static bool add_dimension(struct known *known, int operand, int code, int64_t extent,
                          int64_t stride)
{
    unsigned member = operand == 0 ? GSH_PRODUCT_A : GSH_PRODUCT_B;
    struct gsh_product_label *label = find_label(known, code);
    if (!label || (label->extent != extent &&
                   ((extent != 1 && label->extent != 1) || (label->members & member) != 0)))
        return false;
    if (extent != 1)
        label->strides[operand] += stride;
    label->extent = extent != 1 ? extent : label->extent;
    label->members |= member;
    return true;
}

static bool add_operand(struct known *known, int operand, const struct codes *codes)
{
    const struct gsh_view *view = &known->product->views[operand];
    for (int d = 0; d < view->ndim; d++)
        if (!add_dimension(known, operand, codes->codes[d], view->shape[d], view->strides[d]))
            return false;
    return true;
}

/* Labels that are not in the result are summed over, even if one operand does not depend on them.
 */
static bool add_output(struct known *known, const struct codes *codes)
{
    struct gsh_layout *layout = &known->product->layout;
    int count = known->product->count;
    for (int d = 0; d < codes->count; d++) {
        struct gsh_product_label *label = find_label(known, codes->codes[d]);
        if (!label || known->product->count != count || (label->members & GSH_PRODUCT_C) != 0)
            return false;
        label->members |= GSH_PRODUCT_C;
        label->out_dim = layout->ndim;
        layout->shape[layout->ndim++] = label->extent;
    }
    for (int i = 0; i < count; i++)
        if ((known->product->labels[i].members & GSH_PRODUCT_C) == 0)
            known->product->labels[i].members = GSH_PRODUCT_A | GSH_PRODUCT_B;
    return true;
}

static void add_axis(struct gsh_launch *space, const struct gsh_product_label *label)
{
    space->shape[space->ndim] = label->extent;
    for (int k = 0; k < 2; k++)
        space->strides[k][space->ndim] = label->extent == 1 ? 0 : label->strides[k];
    space->ndim++;
}

/* The result's layout as NumPy's iterator chooses it, over the result's dimensions followed by the
 * summed ones. */
static bool lay_out(struct known *known)
{
    struct gsh_product *product = known->product;
    struct gsh_layout *layout = &product->layout;
    struct gsh_launch space = {.nin = 2};
    int axes[GSH_MAX_DIMS];
    int64_t stride = (int64_t)gsh_dtype_size(product->loop);
    if (product->count > GSH_MAX_DIMS)
        return false;
    for (int d = 0; d < layout->ndim; d++)
        for (int i = 0; i < product->count; i++)
            if ((product->labels[i].members & GSH_PRODUCT_C) != 0 &&
                product->labels[i].out_dim == d)
                add_axis(&space, &product->labels[i]);
    for (int code = 0; code <= 'z'; code++)
        for (int i = 0; i < product->count; i++)
            if (known->codes[i] == code && (product->labels[i].members & GSH_PRODUCT_C) == 0)
                add_axis(&space, &product->labels[i]);
    gsh_numpy_output_axis_order(&space, 2, axes);
    for (int i = 0; i < space.ndim; i++) {
        if (axes[i] >= layout->ndim)
            continue;
        layout->strides[axes[i]] = stride;
        stride *= layout->shape[axes[i]];
    }
    return true;
}

/* Whether NumPy 1 may choose the loop by an operand's value: one operand has no dimensions, the
 * other has some. */
static bool depends_on_value(const struct gsh_product *product)
{
    const struct gsh_view *views = product->views;
    return gsh_np.major < 2 && views[0].dtype != views[1].dtype &&
           (views[0].ndim == 0) != (views[1].ndim == 0);
}

/* As gsh_product_describe. */
static enum gsh_reason describe(struct gsh_product *product, const void *what)
{
    const struct subscripts *parts = what;
    struct known known = {.product = product};
    struct codes inputs[2] = {{.count = 0}}, output;
    if (product->loop == GSH_FLOAT16 || (parts->count == 2 && depends_on_value(product)))
        return GSH_REASON_DTYPE;
    for (int k = 0; k < parts->count; k++) {
        int ndim = product->views[k].ndim;
        int letters = count_letters(parts->inputs[k], parts->lengths[k]);
        if (letters > ndim ||
            !read_codes(parts->inputs[k], parts->lengths[k], ndim - letters, &inputs[k]) ||
            inputs[k].count != ndim || !add_operand(&known, k, &inputs[k]))
            return GSH_REASON_SHAPE;
    }
    if (!read_output(parts, inputs, &output) || !add_output(&known, &output) || !lay_out(&known))
        return GSH_REASON_SHAPE;
    return GSH_REASON_NONE;
}

static void add_dim(struct gsh_launch *launch, const struct gsh_product_label *label,
                    int64_t out_stride)
{
    launch->shape[launch->ndim] = label->extent;
    launch->strides[0][launch->ndim] = label->strides[0];
    launch->strides[1][launch->ndim++] = out_stride;
}

/* Converts the labels of one operand to a reduction. */
static void make_sum(const struct gsh_product *product, struct gsh_launch *launch)
{
    *launch = (struct gsh_launch){.kind = GSH_LAUNCH_REDUCE,
                                  .reduction =
                                      product->loop == GSH_BOOL ? GSH_REDUCE_ANY : GSH_REDUCE_SUM,
                                  .loop = product->loop,
                                  .nin = 1,
                                  .nout = 1};
    launch->operands[0].address = (uintptr_t)product->views[0].data;
    launch->operands[0].dtype = launch->operands[1].dtype = product->loop;
    for (int d = 0; d < product->layout.ndim; d++)
        for (int i = 0; i < product->count; i++)
            if ((product->labels[i].members & GSH_PRODUCT_C) != 0 &&
                product->labels[i].out_dim == d)
                add_dim(launch, &product->labels[i], product->layout.strides[d]);
    for (int i = 0; i < product->count; i++)
        if ((product->labels[i].members & GSH_PRODUCT_C) == 0)
            add_dim(launch, &product->labels[i], 0);
    launch->nreduce = launch->ndim - product->layout.ndim;
}

static PyObject *try_sum(const struct subscripts *parts, PyObject *object, enum gsh_reason *why,
                         unsigned *row)
{
    struct gsh_product product = {.inputs = {object}};
    struct gsh_call call = {.errors = {.is_unwanted = true}};
    *why = gsh_numpy_describe_array(object, &product.views[0]);
    product.loop = product.views[0].dtype;
    if (*why == GSH_REASON_NONE)
        *why = describe(&product, parts);
    if (*why != GSH_REASON_NONE)
        return NULL;
    make_sum(&product, &call.launch);
    if (call.launch.nreduce == 0) /* a view */
        return NULL;
    *row = call.row = gsh_numpy_output_row("einsum", &product.loop, 1, product.loop);
    for (int d = 0; d < call.launch.ndim; d++)
        if (call.launch.shape[d] == 0)
            *why = GSH_REASON_SHAPE;
    if (*why != GSH_REASON_NONE)
        return NULL;
    PyObject *result = gsh_numpy_output_run(&call, NULL, &product.layout, why);
    return result && product.layout.ndim == 0 ? gsh_numpy_scalar_from_array(result) : result;
}

/* Whether the call is large enough for the device. False with a reason: a call in an unsupported
 * form that reads data on the device. */
static bool is_worth(const struct gsh_method_call *call, enum gsh_reason *why)
{
    bool is_text = call->nargs >= 2 && gsh_py_type(call->args[0]) == gsh_py.PyUnicode_Type;
    if (is_text && call->nargs == 2)
        return gsh_numpy_method_patch_is_worth(call->args[1]);
    if (is_text && call->nargs == 3)
        return gsh_numpy_product_is_worth(call->args[1], call->args[2], why);
    for (size_t i = 0; i < call->nargs; i++)
        if (gsh_numpy_method_patch_is_worth(call->args[i]))
            *why = GSH_REASON_OPERAND;
    return false;
}

static PyObject *try_einsum(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {"", "", "", "out"};
    PyObject *slots[4];
    struct subscripts parts;
    if (!is_worth(call, why)) {
        bool is_longer = *why == GSH_REASON_OPERAND && call->nargs > 3;
        return is_longer ? gsh_numpy_composed_call("c_einsum", call, false, why) : NULL;
    }
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 4, 3, slots))
        return NULL;
    const char *text = gsh_python_text_utf8(slots[0]);
    PyObject *out = gsh_numpy_arguments_is_absent(slots[3]) ? NULL : slots[3];
    if (!text || !split(text, &parts) || parts.count != (int)call->nargs - 1)
        return NULL;
    if (parts.count == 1)
        return out ? NULL : try_sum(&parts, slots[1], why, row);
    struct gsh_product product = {.inputs = {slots[1], slots[2]}, .out = out, .is_einsum = true};
    PyObject *result = gsh_numpy_product_try("einsum", &product, describe, &parts, why, row);
    bool is_no_product = !result && *why == GSH_REASON_LAYOUT && !out;
    return is_no_product ? gsh_numpy_composed_call("c_einsum", call, false, why) : result;
}

void gsh_numpy_einsum_install(void)
{
    gsh_numpy_method_patch_install(&einsum_hook);
}
