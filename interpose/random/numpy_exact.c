/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Before the first use, numbers of all magnitudes are compared with the library's: where it rounds otherwise, it computes all.
 */
#include "numpy_exact.h"

#include "host_loops.h"
#include "numpy_composed.h"
#include "numpy_output.h"
#include "numpy_random.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 1 << 15, AT_ONCE = 1 << 10 };

static double log_of(double x, double y)
{
    (void)y;
    return log(x);
}

static double exp_of(double x, double y)
{
    (void)y;
    return exp(x);
}

/* A function: its operation on the device, and the library's, of one number or two. */
struct exact {
    enum gsh_op op;
    unsigned nin;
    double (*function)(double, double);
    double (*number)(double x); /* to be tried, of a positive one */
};

static double itself(double x)
{
    return x;
}

/* Of both signs and magnitudes up to 700. */
static double exponent_of(double x)
{
    return x > 1e-3 && x < 2 ? 80 * x - 40 : log(x);
}

static const struct exact exact_log = {GSH_OP_CERTAIN_LOG, 1, log_of, itself};
static const struct exact exact_exp = {GSH_OP_CERTAIN_EXP, 1, exp_of, exponent_of};
static const struct exact exact_power = {GSH_OP_CERTAIN_POWER, 2, pow, itself};

/* Half of them in (0, 1), the others around 1 and of all magnitudes. */
static double make_number(uint64_t i)
{
    const uint64_t bits = (i ^ i >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    const double unit = ((double)(bits >> 12) + 0.5) * 0x1p-52;
    if (i % 2 == 0)
        return unit;
    return i % 4 == 1 ? 0.9 + 0.2 * unit : ldexp(1 + unit, (int)(bits % 2000) - 1000);
}

/* Whether the operation gives no other number than the library. */
static bool is_alike(const struct exact *exact)
{
    static double in[AT_ONCE], powers[AT_ONCE], out[AT_ONCE]; /* GIL */
    for (uint64_t first = 0; first < TRIALS; first += AT_ONCE) {
        struct gsh_host_block block = {.in = {in, powers}, .out = {out}, .n = AT_ONCE};
        for (uint64_t i = 0; i < AT_ONCE; i++) {
            in[i] = exact->number(make_number(first + i));
            powers[i] = (double)(1 + i % 7) / (double)(1 + i % 5);
        }
        gsh_host_loops_find(exact->op, GSH_FLOAT64)(&block);
        for (int i = 0; i < AT_ONCE; i++)
            if (!isnan(out[i]) && out[i] != exact->function(in[i], powers[i]))
                return false;
    }
    return true;
}

/* An array of one dimension without gaps, and the number beside it. */
struct operands {
    PyObject *array;
    struct gsh_view view;
    struct gsh_layout layout;
    double power;
};

static bool describe(const struct exact *exact, PyObject *arguments, struct operands *operands)
{
    struct gsh_view *view = &operands->view;
    if (gsh_py_size(arguments) != (Py_ssize_t)exact->nin)
        return false;
    operands->array = gsh_py.PyTuple_GetItem(arguments, 0);
    operands->power = 0;
    if (gsh_numpy_describe_array(operands->array, view) != GSH_REASON_NONE ||
        view->dtype != GSH_FLOAT64 || view->ndim != 1 || !(view->flags & GSH_NPY_C_CONTIGUOUS))
        return false;
    operands->layout = (struct gsh_layout){.ndim = 1, .shape = {view->shape[0]}};
    gsh_numpy_output_c_order(&operands->layout, sizeof(double));
    return exact->nin == 1 ||
           gsh_numpy_random_parse_number(gsh_py.PyTuple_GetItem(arguments, 1), &operands->power);
}

static struct gsh_call make_call(const struct exact *exact, const struct operands *operands)
{
    const enum gsh_dtype dtype = GSH_FLOAT64;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = exact->op,
                                       .loop = dtype,
                                       .nin = exact->nin,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {operands->view.shape[0]}},
                            .row = gsh_numpy_output_row("functions of draws", &dtype, 1, dtype)};
    gsh_numpy_describe_place_view(&call.launch, 0, &operands->view);
    if (exact->nin == 2)
        call.launch.operands[1] = (struct gsh_operand){
            .dtype = dtype, .is_constant = true, .constant.f64 = operands->power};
    call.launch.operands[exact->nin] = (struct gsh_operand){.dtype = dtype};
    call.launch.strides[exact->nin][0] = sizeof(double);
    return call;
}

enum verdict { NOT_TRIED, ALIKE, OTHER };

static PyObject *run_certain(const struct exact *exact, enum verdict *verdict, PyObject *arguments)
{
    struct operands operands;
    enum gsh_reason why;
    if (*verdict == NOT_TRIED)
        *verdict = is_alike(exact) ? ALIKE : OTHER;
    if (*verdict == OTHER || !describe(exact, arguments, &operands) || operands.view.shape[0] == 0)
        return gsh_py_none();
    struct gsh_call call = make_call(exact, &operands);
    PyObject *result = gsh_numpy_output_run(&call, NULL, &operands.layout, &why);
    return result || gsh_py.PyErr_Occurred() ? result : gsh_py_none();
}

static PyObject *run_library(const struct exact *exact, PyObject *arguments)
{
    struct operands operands;
    PyObject *result = describe(exact, arguments, &operands)
                           ? gsh_numpy_output_allocate(GSH_FLOAT64, &operands.layout)
                           : NULL;
    if (!result)
        return gsh_py_none();
    gsh_numpy_describe_fetch(operands.array, false);
    const double *in = (const double *)operands.view.data;
    double *out = (double *)gsh_numpy_array(result)->data;
    for (int64_t i = 0; i < operands.view.shape[0]; i++)
        out[i] = exact->function(in[i], operands.power);
    return result;
}

#define FUNCTIONS(name)                                                                            \
    static PyObject *certain_##name(PyObject *self, PyObject *arguments)                           \
    {                                                                                              \
        static enum verdict verdict;                                                               \
        (void)self;                                                                                \
        return run_certain(&exact_##name, &verdict, arguments);                                    \
    }                                                                                              \
    static PyObject *libm_##name(PyObject *self, PyObject *arguments)                              \
    {                                                                                              \
        (void)self;                                                                                \
        return run_library(&exact_##name, arguments);                                              \
    }
FUNCTIONS(log)
FUNCTIONS(exp)
FUNCTIONS(power)

bool gsh_numpy_exact_offer(void)
{
    static struct gsh_pymethoddef definitions[] = {
        {"certain_log", (void *)certain_log, GSH_METH_VARARGS, NULL},
        {"libm_log", (void *)libm_log, GSH_METH_VARARGS, NULL},
        {"certain_exp", (void *)certain_exp, GSH_METH_VARARGS, NULL},
        {"libm_exp", (void *)libm_exp, GSH_METH_VARARGS, NULL},
        {"certain_power", (void *)certain_power, GSH_METH_VARARGS, NULL},
        {"libm_power", (void *)libm_power, GSH_METH_VARARGS, NULL}};
    return gsh_numpy_composed_offer(definitions, GSH_COUNT(definitions));
}
