/* SPDX-License-Identifier: Apache-2.0
 *
 * _linear_filter(b, a, x, axis=-1, zi=None) of scipy.signal._sigtools, which lfilter calls where `a` has more than one number: the
 * filtered array, or with zi a tuple of it and of the last states, both in C order. _sosfilt(sos, x, zi) of scipy.signal._sosfilt,
 * which sosfilt calls with arrays of one dtype in C order: x and zi are overwritten, the result is None. The functions report no
 * floating-point errors. Other forms of calls, invalid ones among them, are left to the modules, and so is all of a build of SciPy
 * whose loops give other bits than ours (scipy_filter_probe.h).
 */
#include "scipy_filter.h"

#include "host_casts.h"
#include "host_ops.h"
#include "numpy_arguments.h"
#include "numpy_copy.h"
#include "scipy_filter_probe.h"
#include "scipy_module.h"

#include <math.h>
#include <string.h>

static PyObject *try_linear_filter(const struct gsh_method_call *call, enum gsh_reason *why,
                                   unsigned *row);
static PyObject *try_sosfilt(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);

GSH_METHOD_HOOK(linear_filter_hook, .table = GSH_METHOD_SCIPY_SIGNAL, .name = "_linear_filter",
                .handler = try_linear_filter);
#define SOS_WRITES (GSH_METHOD_WRITES_ARG(1) | GSH_METHOD_WRITES_ARG(2))
GSH_METHOD_HOOK(sos_float_hook, .table = GSH_METHOD_SCIPY_SOSFILT, .name = "float",
                .handler = try_sosfilt, .writes = SOS_WRITES);
GSH_METHOD_HOOK(sos_complex_float_hook, .table = GSH_METHOD_SCIPY_SOSFILT, .name = "float complex",
                .handler = try_sosfilt, .writes = SOS_WRITES);
GSH_METHOD_HOOK(sos_double_hook, .table = GSH_METHOD_SCIPY_SOSFILT, .name = "double",
                .handler = try_sosfilt, .writes = SOS_WRITES);
GSH_METHOD_HOOK(sos_complex_double_hook, .table = GSH_METHOD_SCIPY_SOSFILT,
                .name = "double complex", .handler = try_sosfilt, .writes = SOS_WRITES);

enum { B, A, X, ZI, ARRAYS };

/* A call of _linear_filter. */
struct request {
    struct gsh_view views[ARRAYS];
    unsigned arrays; /* 3, or 4 with ZI */
    int axis, order;
    enum gsh_dtype dtype; /* of the computation */
    PyObject *kept[3];    /* arrays that were made for it */
    unsigned kept_count;
};

static const unsigned filter_dtypes =
    1u << GSH_FLOAT32 | 1u << GSH_FLOAT64 | 1u << GSH_COMPLEX64 | 1u << GSH_COMPLEX128;

/* ---- what is asked for ---- */

static bool find_axis(PyObject *object, int ndim, int *axis)
{
    int64_t value = -1;
    if (object && !gsh_numpy_arguments_int(object, &value))
        return false;
    *axis = (int)(value < 0 ? value + ndim : value);
    return value >= -ndim && value < ndim;
}

static bool holds(enum gsh_dtype dtype, enum gsh_dtype a, enum gsh_dtype b)
{
    return gsh_numpy_describe_can_cast(a, dtype, GSH_CASTING_SAFE) &&
           gsh_numpy_describe_can_cast(b, dtype, GSH_CASTING_SAFE);
}

/* The dtype to which NumPy promotes the two: one of them, or a filter's. False: another integer. */
static bool promote(enum gsh_dtype a, enum gsh_dtype b, enum gsh_dtype *common)
{
    const enum gsh_dtype choices[] = {
        a, b, GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
    const unsigned inexact = (unsigned)GSH_SET_INEXACT;
    for (size_t i = 0; i < GSH_COUNT(choices); i++) {
        *common = choices[i];
        if (holds(choices[i], a, b))
            return i < 2 || ((1u << a | 1u << b) & inexact) != 0;
    }
    return false;
}

/* The dtype to which SciPy promotes those of all arrays, in their order. */
static bool find_dtype(struct request *request)
{
    bool is_known = true;
    request->dtype = request->views[0].dtype;
    for (unsigned k = 1; k < request->arrays && is_known; k++)
        is_known = promote(request->dtype, request->views[k].dtype, &request->dtype);
    return is_known && (1u << request->dtype & filter_dtypes) != 0;
}

static int64_t count_of(const struct gsh_view *view)
{
    return view->ndim == 1 ? view->shape[0] : 0;
}

/* Whether zi has a line of states for each line of x, or one for all lines along a dimension. */
static bool has_fitting_states(const struct request *request)
{
    const struct gsh_view *x = &request->views[X], *zi = &request->views[ZI];
    bool fits = request->arrays <= ZI || zi->ndim == x->ndim;
    for (int d = 0; fits && request->arrays > ZI && d < x->ndim; d++)
        fits = d == request->axis ? zi->shape[d] == request->order
                                  : zi->shape[d] == x->shape[d] || zi->shape[d] == 1;
    return fits;
}

/* `axis` and `zi` may be NULL. */
static enum gsh_reason describe(PyObject *const *arrays, PyObject *axis, PyObject *zi,
                                struct request *request)
{
    PyObject *const objects[] = {arrays[B], arrays[A], arrays[X], zi};
    request->arrays = objects[ZI] ? ARRAYS : ZI;
    for (unsigned k = 0; k < request->arrays; k++) {
        enum gsh_reason why = gsh_numpy_describe_array(objects[k], &request->views[k]);
        if (why != GSH_REASON_NONE)
            return why;
    }
    int64_t longer = GSH_MAX(count_of(&request->views[B]), count_of(&request->views[A]));
    bool has_both = count_of(&request->views[B]) > 0 && count_of(&request->views[A]) > 0;
    if (!has_both || longer < 2 || longer > GSH_FILTER_MOST_ORDER + 1 ||
        gsh_numpy_describe_size(gsh_numpy_array(objects[X])) == 0)
        return GSH_REASON_SHAPE;
    request->order = (int)longer - 1;
    if (!find_axis(axis, request->views[X].ndim, &request->axis))
        return GSH_REASON_KEYWORDS;
    if (!has_fitting_states(request))
        return GSH_REASON_SHAPE;
    return find_dtype(request) ? GSH_REASON_NONE : GSH_REASON_DTYPE;
}

/* ---- the table ---- */

/* Both polynomials divided by a[0], as SciPy divides them. False: SciPy refuses a[0], or computes each line anew. */
#define REAL_TABLE(type)                                                                           \
    static bool make_##type(type *table, ptrdiff_t count)                                          \
    {                                                                                              \
        const type first = table[count];                                                           \
        for (ptrdiff_t i = 0; i < 2 * count; i++)                                                  \
            table[i] /= first;                                                                     \
        return isfinite(first) && first != 0;                                                      \
    }
/* Both polynomials times the conjugate of a[0], and the square of its length, by which SciPy divides later. */
#define COMPLEX_TABLE(type)                                                                        \
    static bool make_##type##_complex(type *table, ptrdiff_t count)                                \
    {                                                                                              \
        const type re = table[2 * count], im = table[2 * count + 1];                               \
        for (type *at = table; at < table + 4 * count; at += 2) {                                  \
            const type x = at[0], y = at[1];                                                       \
            at[0] = x * re + y * im;                                                               \
            at[1] = y * re - x * im;                                                               \
        }                                                                                          \
        table[4 * count] = re * re + im * im;                                                      \
        table[4 * count + 1] = 0;                                                                  \
        return isfinite(re) && isfinite(im) && (re != 0 || im != 0);                               \
    }
REAL_TABLE(float)
REAL_TABLE(double)
COMPLEX_TABLE(float)
COMPLEX_TABLE(double)

static bool normalize(enum gsh_dtype dtype, void *table, ptrdiff_t count)
{
    switch (dtype) {
    case GSH_FLOAT32:
        return make_float(table, count);
    case GSH_COMPLEX64:
        return make_float_complex(table, count);
    case GSH_COMPLEX128:
        return make_double_complex(table, count);
    default:
        return make_double(table, count);
    }
}

/* Numbers in the table. */
static int64_t table_length(const struct request *request)
{
    return 2 * (int64_t)(request->order + 1) + (gsh_dtype_kind(request->dtype) == 'c');
}

/* The filter's numbers as launch.h wants them. NULL and *why: declined. The array is kept. */
static PyObject *make_table(struct request *request, PyObject *const *objects, enum gsh_reason *why)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {table_length(request)}};
    size_t size = gsh_dtype_size(request->dtype);
    int count = request->order + 1;
    gsh_numpy_output_c_order(&layout, size);
    *why = GSH_REASON_MEMORY;
    PyObject *array = gsh_numpy_output_allocate(request->dtype, &layout);
    if (!array)
        return NULL;
    request->kept[request->kept_count++] = array;
    char *table = gsh_numpy_array(array)->data;
    memset(table, 0, (size_t)layout.shape[0] * size);
    for (unsigned k = B; k <= A; k++) {
        const struct gsh_view *view = &request->views[k];
        gsh_numpy_describe_fetch(objects[k], false);
        gsh_host_casts_run(table + (k == A ? (size_t)count * size : 0), request->dtype,
                           (int64_t)size, view->data, view->dtype, view->strides[0],
                           view->shape[0]);
    }
    *why = GSH_REASON_OPERAND;
    return normalize(request->dtype, table, count) ? array : NULL;
}

/* ---- the launch ---- */

/* Casts the view to the dtype of the computation. */
static bool cast(struct request *request, struct gsh_view *view, enum gsh_reason *why,
                 unsigned *row)
{
    if (view->dtype == request->dtype)
        return true;
    PyObject *made = gsh_numpy_copy_in_order("copy", view, request->dtype, GSH_ORDER_C, why, row);
    if (!made)
        return false;
    request->kept[request->kept_count++] = made;
    *why = gsh_numpy_describe_array(made, view);
    return *why == GSH_REASON_NONE;
}

/* Operand k of lines along the axis, with so many numbers of each. */
static void place(struct gsh_launch *launch, unsigned k, const struct request *request,
                  const int64_t *shape, const int64_t *strides)
{
    int axis = request->axis;
    launch->operands[k].dtype = request->dtype;
    launch->filter.cores[k] =
        (struct gsh_core){.extent = {shape[axis], 1, 1}, .stride = {strides[axis], 0, 0}};
    for (int d = 0; d < request->views[X].ndim; d++)
        if (d != axis) /* zi may have one line for many */
            launch->strides[k][d - (d > axis)] = shape[d] == 1 ? 0 : strides[d];
}

static void place_table(struct gsh_launch *launch, PyObject *table, enum gsh_dtype dtype,
                        int64_t count)
{
    launch->operands[GSH_FILTER_TABLE] =
        (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)gsh_numpy_array(table)->data};
    launch->filter.cores[GSH_FILTER_TABLE] = (struct gsh_core){
        .extent = {count, 1, 1}, .stride = {(int64_t)gsh_dtype_size(dtype), 0, 0}};
}

/* Fills the launch and the layouts of its results. */
static void fill(const struct request *request, PyObject *table, struct gsh_launch *launch,
                 struct gsh_layout *layouts)
{
    const struct gsh_view *x = &request->views[X];
    launch->kind = GSH_LAUNCH_FILTER;
    launch->loop = request->dtype;
    launch->filter.form = GSH_FILTER_DIRECT;
    launch->filter.order = request->order;
    launch->nin = request->arrays - 1;
    launch->nout = request->arrays - X;
    launch->ndim = x->ndim - 1;
    for (int d = 0; d < x->ndim; d++)
        if (d != request->axis)
            launch->shape[d - (d > request->axis)] = x->shape[d];
    place_table(launch, table, request->dtype, table_length(request));
    for (unsigned k = X; k < request->arrays; k++) {
        struct gsh_layout *layout = &layouts[k - X];
        const struct gsh_view *view = &request->views[k];
        layout->ndim = x->ndim;
        for (int d = 0; d < x->ndim; d++)
            layout->shape[d] = d == request->axis ? view->shape[d] : x->shape[d];
        gsh_numpy_output_c_order(layout, gsh_dtype_size(request->dtype));
        launch->operands[k - 1].address = (uintptr_t)view->data;
        place(launch, k - 1, request, view->shape, view->strides);
        place(launch, launch->nin + k - X, request, layout->shape, layout->strides);
    }
}

static PyObject *run(struct request *request, PyObject *const *objects, enum gsh_reason *why,
                     unsigned *row)
{
    struct gsh_call call = {.row = 0};
    struct gsh_layout layouts[2];
    PyObject *results[2] = {NULL}, *table = make_table(request, objects, why);
    const enum gsh_dtype dtypes[] = {request->dtype, request->dtype, request->dtype};
    if (!table || !cast(request, &request->views[X], why, row) ||
        (request->arrays > ZI && !cast(request, &request->views[ZI], why, row)))
        return NULL;
    fill(request, table, &call.launch, layouts);
    *row = call.row =
        gsh_numpy_output_row("scipy.signal.lfilter", dtypes, call.launch.nin, request->dtype);
    if (!gsh_numpy_output_run_all(&call, results, layouts, why))
        return NULL;
    return results[1] ? gsh_py.Py_BuildValue("NN", results[0], results[1]) : results[0];
}

/* The same without states, by our loops on the CPU. */
static PyObject *filter_on_host(PyObject *const *arrays)
{
    struct gsh_launch launch = {.ndim = 0};
    struct gsh_layout layouts[2];
    struct request request = {.kept_count = 0};
    enum gsh_reason why = describe(arrays, NULL, NULL, &request);
    PyObject *table = why == GSH_REASON_NONE ? make_table(&request, arrays, &why) : NULL;
    PyObject *result = NULL;
    if (table) {
        fill(&request, table, &launch, layouts);
        result = gsh_numpy_output_allocate(request.dtype, &layouts[0]);
    }
    if (result) {
        launch.operands[launch.nin].address = (uintptr_t)gsh_numpy_array(result)->data;
        gsh_host_ops_run(&launch);
    }
    gsh_py_drop(request.kept, request.kept_count);
    return result;
}

static PyObject *try_linear_filter(const struct gsh_method_call *call, enum gsh_reason *why,
                                   unsigned *row)
{
    enum { AXIS = 3, INITIAL, LEAST = AXIS, MOST = 5 };
    struct request request = {.kept_count = 0};
    if (call->kwdict || call->kwnames || call->nargs < LEAST || call->nargs > MOST ||
        !gsh_numpy_method_patch_is_worth(call->args[X]))
        return NULL;
    *why = describe(call->args, call->nargs > AXIS ? call->args[AXIS] : NULL,
                    call->nargs > INITIAL ? call->args[INITIAL] : NULL, &request);
    if (*why == GSH_REASON_NONE &&
        !gsh_scipy_filter_probe_agrees(&linear_filter_hook, call->self, GSH_FILTER_DIRECT,
                                       request.dtype, filter_on_host))
        *why = GSH_REASON_UNSUPPORTED;
    PyObject *result = *why == GSH_REASON_NONE ? run(&request, call->args, why, row) : NULL;
    gsh_py_drop(request.kept, request.kept_count);
    return result;
}

/* ---- sosfilt ---- */

enum { SOS, SIGNAL, STATES, SOS_ARRAYS };

/* Whether the arrays are what sosfilt hands over. */
static bool fits_sections(const struct gsh_view *views)
{
    const struct gsh_view *sos = &views[SOS], *x = &views[SIGNAL], *zi = &views[STATES];
    const int wanted = GSH_NPY_C_CONTIGUOUS | GSH_NPY_WRITEABLE;
    bool fits = sos->ndim == 2 && x->ndim == 2 && zi->ndim == 3;
    for (unsigned k = 0; k < SOS_ARRAYS; k++)
        fits = fits && views[k].dtype == x->dtype && (views[k].flags & wanted) == wanted;
    return fits && (1u << x->dtype & filter_dtypes) != 0 && sos->shape[0] > 0 &&
           sos->shape[0] <= GSH_FILTER_MOST_SECTIONS && sos->shape[1] == 6 && x->shape[0] > 0 &&
           x->shape[1] > 0 && zi->shape[0] == x->shape[0] && zi->shape[1] == sos->shape[0] &&
           zi->shape[2] == 2;
}

static bool meet(PyObject *const *objects)
{
    return gsh_numpy_describe_meet(objects[SOS], objects[SIGNAL]) ||
           gsh_numpy_describe_meet(objects[SOS], objects[STATES]) ||
           gsh_numpy_describe_meet(objects[SIGNAL], objects[STATES]);
}

static enum gsh_reason describe_sections(PyObject *const *objects, struct gsh_view *views)
{
    for (unsigned k = 0; k < SOS_ARRAYS; k++) {
        enum gsh_reason why = k == SIGNAL ? gsh_numpy_describe_output(objects[k], &views[k])
                                          : gsh_numpy_describe_array(objects[k], &views[k]);
        if (why != GSH_REASON_NONE)
            return why;
    }
    if (!fits_sections(views))
        return GSH_REASON_SHAPE;
    return meet(objects) ? GSH_REASON_OVERLAP : GSH_REASON_NONE;
}

/* Operand k of a launch over the rows of x. */
static void place_sections(struct gsh_launch *launch, unsigned k, const struct gsh_view *view)
{
    struct gsh_core *core = &launch->filter.cores[k];
    *core = (struct gsh_core){{1, 1, 1}, {0}};
    for (int d = 1; d < view->ndim; d++) {
        core->extent[d - 1] = view->shape[d];
        core->stride[d - 1] = view->strides[d];
    }
    launch->strides[k][0] = view->strides[0];
    launch->operands[k] =
        (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
}

static void fill_sections(const struct gsh_view *views, PyObject *sos, struct gsh_launch *launch)
{
    *launch = (struct gsh_launch){.kind = GSH_LAUNCH_FILTER,
                                  .loop = views[SIGNAL].dtype,
                                  .nin = SOS_ARRAYS,
                                  .nout = 2,
                                  .ndim = 1,
                                  .shape = {views[SIGNAL].shape[0]}};
    launch->filter.form = GSH_FILTER_SECTIONS;
    launch->filter.order = (int)views[SOS].shape[0];
    place_table(launch, sos, launch->loop, 6 * views[SOS].shape[0]);
    for (unsigned k = SIGNAL; k <= STATES; k++) {
        place_sections(launch, k, &views[k]);
        place_sections(launch, SOS_ARRAYS + k - SIGNAL, &views[k]);
    }
}

/* States outside of the arena are made there, and then copied. */
static bool run_sections(struct gsh_call *call, PyObject *const *objects, bool is_managed,
                         enum gsh_reason *why)
{
    PyObject *results[2] = {objects[SIGNAL], is_managed ? objects[STATES] : NULL}, *copied = NULL;
    const struct gsh_ndarray *zi = gsh_numpy_array(objects[STATES]);
    struct gsh_layout layouts[2] = {{0}, {.ndim = zi->nd}};
    memcpy(layouts[1].shape, zi->dimensions, (size_t)zi->nd * sizeof(int64_t));
    gsh_numpy_output_c_order(&layouts[1], gsh_dtype_size(call->launch.loop));
    if (!is_managed)
        call->launch.operands[call->launch.nin + 1].address = 0;
    if (!gsh_numpy_output_run_all(call, results, layouts, why))
        return false;
    if (!is_managed)
        copied = gsh_py.PyObject_CallMethod(objects[STATES], "__setitem__", "()O", results[1]);
    PyObject *const used[] = {results[0], results[1], copied};
    gsh_py_drop(used, GSH_COUNT(used));
    *why = GSH_REASON_NONE;
    return is_managed || copied != NULL;
}

/* The same by our loops on the CPU. */
static PyObject *filter_sections_on_host(PyObject *const *arrays)
{
    struct gsh_view views[SOS_ARRAYS];
    struct gsh_launch launch;
    for (unsigned k = 0; k < SOS_ARRAYS; k++)
        if (gsh_numpy_describe_array(arrays[k], &views[k]) != GSH_REASON_NONE)
            return NULL;
    fill_sections(views, arrays[SOS], &launch);
    return gsh_host_ops_run(&launch) == GSH_OK ? gsh_py_none() : NULL;
}

static const struct gsh_method_hook *sections_hook(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT32     ? &sos_float_hook
           : dtype == GSH_COMPLEX64 ? &sos_complex_float_hook
           : dtype == GSH_FLOAT64   ? &sos_double_hook
                                    : &sos_complex_double_hook;
}

static PyObject *try_sosfilt(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    struct gsh_view views[SOS_ARRAYS], output;
    struct gsh_call filtering = {.row = 0};
    if (call->nargs != SOS_ARRAYS || call->kwnames || call->kwdict ||
        !gsh_numpy_method_patch_is_worth(call->args[SIGNAL]))
        return NULL;
    *why = describe_sections(call->args, views);
    if (*why != GSH_REASON_NONE)
        return NULL;
    const enum gsh_dtype dtypes[] = {views[SOS].dtype, views[SOS].dtype, views[SOS].dtype};
    *why = GSH_REASON_UNSUPPORTED;
    if (!gsh_scipy_filter_probe_agrees(sections_hook(dtypes[0]), call->self, GSH_FILTER_SECTIONS,
                                       dtypes[0], filter_sections_on_host))
        return NULL;
    fill_sections(views, call->args[SOS], &filtering.launch);
    *row = filtering.row =
        gsh_numpy_output_row("scipy.signal.sosfilt", dtypes, SOS_ARRAYS, dtypes[0]);
    bool is_managed = gsh_numpy_describe_output(call->args[STATES], &output) == GSH_REASON_NONE;
    return run_sections(&filtering, call->args, is_managed, why) ? gsh_py_none() : NULL;
}

void gsh_scipy_filter_adopt_module(const char *path)
{
    static struct gsh_method_hook *const linear[] = {&linear_filter_hook},
                                         *const sections[] = {
                                             &sos_float_hook, &sos_complex_float_hook,
                                             &sos_double_hook, &sos_complex_double_hook};
    static struct gsh_scipy_module signal = {linear, GSH_COUNT(linear), 0},
                                   sosfilt = {sections, GSH_COUNT(sections), 0};
    if (strstr(path, "/scipy/signal/_sigtools.") != NULL)
        gsh_scipy_module_adopt(&signal);
    if (strstr(path, "/scipy/signal/_sosfilt.") != NULL)
        gsh_scipy_module_adopt(&sosfilt);
}
