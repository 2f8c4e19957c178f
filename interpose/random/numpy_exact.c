/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Before the first use, numbers of all magnitudes are compared with the library's: where it rounds otherwise, it computes all.
 */
#include "numpy_exact.h"

#include "host_loops.h"
#include "numpy_composed.h"
#include "numpy_output.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 1 << 15, AT_ONCE = 1 << 10 };

/* Half of them in (0, 1), the others around 1 and of all magnitudes. */
static double make_number(uint64_t i)
{
    const uint64_t bits = (i ^ i >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    const double unit = ((double)(bits >> 12) + 0.5) * 0x1p-52;
    if (i % 2 == 0)
        return unit;
    return i % 4 == 1 ? 0.9 + 0.2 * unit : ldexp(1 + unit, (int)(bits % 2000) - 1000);
}

static bool is_log_alike(void)
{
    static double in[AT_ONCE], out[AT_ONCE]; /* GIL */
    for (uint64_t first = 0; first < TRIALS; first += AT_ONCE) {
        struct gsh_host_block block = {.in = {in}, .out = {out}, .n = AT_ONCE};
        for (uint64_t i = 0; i < AT_ONCE; i++)
            in[i] = make_number(first + i);
        gsh_host_loops_find(GSH_OP_CERTAIN_LOG, GSH_FLOAT64)(&block);
        for (int i = 0; i < AT_ONCE; i++)
            if (!isnan(out[i]) && out[i] != log(in[i]))
                return false;
    }
    return true;
}

/* A float64 array of one dimension without gaps. */
static bool describe(PyObject *array, struct gsh_view *view, struct gsh_layout *layout)
{
    if (gsh_numpy_describe_array(array, view) != GSH_REASON_NONE || view->dtype != GSH_FLOAT64 ||
        view->ndim != 1 || !(view->flags & GSH_NPY_C_CONTIGUOUS))
        return false;
    *layout = (struct gsh_layout){.ndim = 1, .shape = {view->shape[0]}};
    gsh_numpy_output_c_order(layout, sizeof(double));
    return true;
}

static PyObject *certain_log(PyObject *self, PyObject *array)
{
    static enum { NOT_TRIED, ALIKE, OTHER } verdict;
    struct gsh_view view;
    struct gsh_layout layout;
    enum gsh_reason why;
    (void)self;
    if (verdict == NOT_TRIED)
        verdict = is_log_alike() ? ALIKE : OTHER;
    if (verdict == OTHER || !describe(array, &view, &layout) || view.shape[0] == 0)
        return gsh_py_none();
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_CERTAIN_LOG,
                                       .loop = GSH_FLOAT64,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {view.shape[0]}},
                            .row =
                                gsh_numpy_output_row("log of draws", &view.dtype, 1, view.dtype)};
    gsh_numpy_describe_place_view(&call.launch, 0, &view);
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT64};
    call.launch.strides[1][0] = sizeof(double);
    PyObject *result = gsh_numpy_output_run(&call, NULL, &layout, &why);
    return result || gsh_py.PyErr_Occurred() ? result : gsh_py_none();
}

static PyObject *libm_log(PyObject *self, PyObject *array)
{
    struct gsh_view view;
    struct gsh_layout layout;
    (void)self;
    PyObject *result =
        describe(array, &view, &layout) ? gsh_numpy_output_allocate(GSH_FLOAT64, &layout) : NULL;
    if (!result)
        return gsh_py_none();
    gsh_numpy_describe_fetch(array, false);
    const double *in = (const double *)view.data;
    double *out = (double *)gsh_numpy_array(result)->data;
    for (int64_t i = 0; i < view.shape[0]; i++)
        out[i] = log(in[i]);
    return result;
}

bool gsh_numpy_exact_offer(void)
{
    static struct gsh_pymethoddef definitions[] = {
        {"certain_log", (void *)certain_log, GSH_METH_O, NULL},
        {"libm_log", (void *)libm_log, GSH_METH_O, NULL}};
    return gsh_numpy_composed_offer(definitions, GSH_COUNT(definitions));
}
