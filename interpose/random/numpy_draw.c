/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Before a kind of draw is made for the first time, a small draw from a new generator is compared with NumPy's: the values
 * and the state behind them. A NumPy that rounds otherwise, or lays out its state otherwise, is thus left alone.
 */
#include "numpy_draw.h"

#include "dispatch.h"
#include "numpy_device_draw.h"
#include "numpy_generator.h"
#include "numpy_parallel.h"
#include "python_error.h"
#include "stack_pool.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

enum { TRIAL = GSH_NUMPY_DRAW_LEAST - 1, MOST_KINDS = 128 };

/* Nanoseconds that NumPy takes for a word of the stream, and more for a value that is not just taken from it. */
#define WORD_NS 2.5
#define ZIGGURAT_NS 4

static double seconds_of(const struct gsh_numpy_draw *request,
                         const struct gsh_host_random_recipe *recipe)
{
    double words = (double)request->elements * recipe->words;
    return words * (WORD_NS * recipe->bits / 64 + (recipe->is_fixed ? 0 : ZIGGURAT_NS)) * 1e-9;
}

/* ---- trials ---- */

/* The method with the call's own arguments but for size and out, on another generator. */
static PyObject *call_numpy(const struct gsh_numpy_draw *request, PyObject *generator)
{
    PyObject *method = gsh_py.PyObject_GetAttrString(generator, request->method);
    PyObject *none = gsh_py.PyTuple_New(0), *names = gsh_py.PyDict_New(), *result = NULL;
    PyObject *size = gsh_py.PyLong_FromLongLong(TRIAL);
    bool is_ready = method && none && names && size;
    for (unsigned i = 0; is_ready && i < request->count; i++)
        if (request->slots[i] && strcmp(request->parameters[i], "out") != 0)
            gsh_py.PyDict_SetItemString(names, request->parameters[i], request->slots[i]);
    if (is_ready && gsh_py.PyDict_SetItemString(names, "size", size) == 0)
        result = gsh_py.PyObject_Call(method, none, names);
    gsh_py_drop((PyObject *[]){method, none, names, size}, 4);
    return result;
}

static bool stands_alike(const struct gsh_random_stream *a, const struct gsh_random_stream *b)
{
    if (a->has_half != b->has_half || a->half != b->half)
        return false;
    if (a->generator != GSH_RANDOM_PHILOX)
        return a->pcg.state == b->pcg.state;
    return a->philox.buffer_at == b->philox.buffer_at &&
           memcmp(a->philox.counter, b->philox.counter, sizeof(a->philox.counter)) == 0 &&
           memcmp(a->philox.buffer, b->philox.buffer, sizeof(a->philox.buffer)) == 0;
}

struct part {
    struct gsh_host_random *random;
    int64_t number;
};

static void run_part(void *argument)
{
    const struct part *part = argument;
    gsh_host_random_part(part->random, part->number);
}

/* Its buffers may need more stack than a program's thread has. */
static void draw_part(void *random, int64_t number)
{
    struct part part = {random, number};
    gsh_stack_pool_run(run_part, &part);
}

/* The same here. Whether it gave the same values and left the same state. */
static bool agrees(const struct gsh_numpy_draw *request, const struct gsh_random_stream *begin,
                   const struct gsh_random_stream *end, PyObject *array)
{
    struct gsh_random_draw draw = request->draw;
    struct gsh_host_random random;
    size_t bytes = TRIAL * gsh_dtype_size(request->dtype);
    struct gsh_view view;
    void *values = malloc(bytes);
    draw.stream = *begin;
    bool is_made = values && gsh_numpy_describe_array(array, &view) == GSH_REASON_NONE &&
                   view.dtype == request->dtype && view.ndim == 1 && view.shape[0] == TRIAL &&
                   gsh_host_random_begin(&random, &draw, request->dtype, values, TRIAL, 1);
    for (int64_t part = 0; is_made && part < random.parts; part++)
        draw_part(&random, part);
    bool is_same = is_made && gsh_host_random_end(&random) &&
                   memcmp(values, view.data, bytes) == 0 && stands_alike(&random.draw.stream, end);
    free(values);
    return is_same;
}

static bool try_kind(const struct gsh_numpy_draw *request)
{
    struct gsh_random_stream begin, end;
    PyObject *generator = gsh_numpy_generator_like(request->from->self);
    PyObject *array = NULL;
    if (generator && gsh_numpy_generator_read(generator, &begin))
        array = call_numpy(request, generator);
    bool is_same =
        array && gsh_numpy_generator_read(generator, &end) && agrees(request, &begin, &end, array);
    gsh_py_drop((PyObject *[]){generator, array}, 2);
    gsh_python_error_clear();
    return is_same;
}

/* Whether NumPy makes draws of this kind as we do. */
static bool is_kind_known(const struct gsh_numpy_draw *request,
                          const struct gsh_random_stream *stream,
                          const struct gsh_host_random_recipe *recipe)
{
    static struct {
        enum gsh_random_generator generator;
        gsh_host_random_loop *loop;
        enum gsh_random_form form;
        bool is_same;
    } kinds[MOST_KINDS];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (kinds[i].loop == recipe->loop && kinds[i].generator == stream->generator &&
            kinds[i].form == request->draw.form)
            return kinds[i].is_same;
    bool is_same = try_kind(request);
    if (count == MOST_KINDS)
        return false;
    kinds[count].generator = stream->generator;
    kinds[count].loop = recipe->loop;
    kinds[count].form = request->draw.form;
    kinds[count].is_same = is_same;
    count++;
    return is_same;
}

/* ---- one call ---- */

/* A draw of one word a value is left to NumPy where there are no cores for it: it would not be faster. Others are, on one core too. */
static bool compute(struct gsh_host_random *random, double seconds)
{
    if (gsh_numpy_parallel_do(draw_part, random, random->parts, seconds))
        return gsh_host_random_end(random);
    bool is_done = gsh_host_random_end(random);
    return is_done && !random->recipe.is_fixed;
}

/* With the generator's lock. */
static bool draw_locked(const struct gsh_numpy_draw *request, PyObject *array, double seconds)
{
    struct gsh_random_draw draw = request->draw;
    struct gsh_host_random random;
    void *out = gsh_numpy_array(array)->data;
    if (!gsh_numpy_generator_read(request->from->self, &draw.stream))
        return false;
    void *state = gsh_py.PyEval_SaveThread();
    bool is_done = gsh_host_random_begin(&random, &draw, request->dtype, out, request->elements,
                                         gsh_numpy_parallel_threads(seconds)) &&
                   compute(&random, seconds);
    gsh_py.PyEval_RestoreThread(state);
    if (is_done)
        gsh_numpy_generator_write(request->from->self, &random.draw.stream);
    return is_done;
}

static bool draw_counted(const struct gsh_numpy_draw *request, PyObject *array, double seconds,
                         unsigned row, enum gsh_reason why)
{
    uint64_t parallel = gsh_numpy_parallel_count();
    uint64_t begin = gsh_numpy_output_host_begin();
    bool is_done = draw_locked(request, array, seconds);
    if (is_done)
        gsh_numpy_output_host_end(begin, row, why);
    else
        gsh_numpy_output_host_abandon();
    if (is_done && gsh_numpy_parallel_count() != parallel)
        gsh_stats_parallel_call(row);
    return is_done;
}

static PyObject *take_array(const struct gsh_numpy_draw *request)
{
    if (!request->out)
        return gsh_numpy_output_allocate(request->dtype, &request->layout);
    gsh_numpy_describe_fetch(request->out, true);
    gsh_py.Py_IncRef(request->out);
    return request->out;
}

/* Whether there is such a draw, and NumPy makes it as we do. `seconds`: on one core. */
static bool is_known(const struct gsh_numpy_draw *request, double *seconds)
{
    struct gsh_random_stream stream;
    struct gsh_host_random_recipe recipe;
    PyObject *generator = request->from->self;
    if (!gsh_host_random_values_find(&request->draw, request->dtype, &recipe))
        return false;
    *seconds = seconds_of(request, &recipe);
    return gsh_numpy_generator_read(generator, &stream) && is_kind_known(request, &stream, &recipe);
}

/* On several cores. */
static PyObject *draw_here(const struct gsh_numpy_draw *request, double seconds, unsigned row,
                           enum gsh_reason why)
{
    PyObject *generator = request->from->self, *array = take_array(request);
    if (!array)
        return NULL;
    bool is_locked = gsh_numpy_generator_lock(generator);
    bool is_done = is_locked && draw_counted(request, array, seconds, row, why);
    if (is_locked)
        gsh_numpy_generator_unlock(generator);
    if (is_done)
        return array;
    gsh_py.Py_DecRef(array);
    return NULL;
}

/* Whether there is such a draw here; *why is set for the case that the device does not make it. */
static bool prepare(const struct gsh_numpy_draw *request, double *seconds, enum gsh_reason *why,
                    unsigned *row)
{
    *why = gsh_dispatch_is_live() ? GSH_REASON_UNSUPPORTED : gsh_dispatch_why_dead();
    *row = gsh_numpy_output_row(request->method, NULL, 0, request->dtype);
    return gsh_numpy_output_is_possible(&request->layout, gsh_dtype_size(request->dtype)) &&
           is_known(request, seconds);
}

PyObject *gsh_numpy_draw_run(const struct gsh_numpy_draw *request, enum gsh_reason *why,
                             unsigned *row)
{
    double seconds;
    bool is_live = gsh_dispatch_is_live();
    if (!prepare(request, &seconds, why, row))
        return NULL;
    PyObject *array = is_live ? gsh_numpy_device_draw_run(request, *row, why) : NULL;
    if (array || gsh_py.PyErr_Occurred() || gsh_numpy_parallel_threads(seconds) < 2)
        return array;
    return draw_here(request, seconds, *row, *why);
}

PyObject *gsh_numpy_draw_on_device(const struct gsh_numpy_draw *request, enum gsh_reason *why,
                                   unsigned *row)
{
    double seconds;
    return gsh_dispatch_is_live() && prepare(request, &seconds, why, row)
               ? gsh_numpy_device_draw_locked(request, *row, why)
               : NULL;
}

PyObject *gsh_numpy_draw_words(const struct gsh_method_call *from, enum gsh_dtype dtype,
                               int64_t count, enum gsh_reason *why, unsigned *row)
{
    static const char *const parameters[] = {"low", "high", "dtype", "endpoint"};
    const uint64_t most = dtype == GSH_UINT64 ? UINT64_MAX : UINT32_MAX;
    PyObject *slots[] = {
        gsh_py.Py_BuildValue("i", 0), gsh_py.Py_BuildValue("K", (unsigned long long)most),
        gsh_py.Py_BuildValue("s", dtype == GSH_UINT64 ? "u8" : "u4"), gsh_py.Py_BuildValue("i", 1)};
    struct gsh_numpy_draw draw = {.from = from,
                                  .parameters = parameters,
                                  .slots = slots,
                                  .count = GSH_COUNT(slots),
                                  .method = "integers",
                                  .draw = {.distribution = GSH_RANDOM_BOUNDED, .range = most},
                                  .dtype = dtype,
                                  .layout = {.ndim = 1, .shape = {count}},
                                  .elements = count};
    PyObject *words = NULL;
    gsh_numpy_output_c_order(&draw.layout, gsh_dtype_size(dtype));
    if (count > 0 && slots[0] && slots[1] && slots[2] && slots[3])
        words = gsh_numpy_draw_on_device(&draw, why, row);
    gsh_python_error_clear();
    gsh_py_drop(slots, GSH_COUNT(slots));
    return words;
}
