/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_device_draw.h"

#include "draw_call.h"
#include "numpy_generator.h"
#include "numpy_output.h"

PyObject *gsh_numpy_device_draw_locked(const struct gsh_numpy_draw *request, unsigned row,
                                       enum gsh_reason *why)
{
    PyObject *generator = request->from->self;
    struct gsh_random_draw draw = request->draw;
    struct gsh_random_stream end;
    if (!gsh_numpy_generator_read(generator, &draw.stream))
        return NULL;
    draw.end = &end;
    void *out = request->out ? gsh_numpy_array(request->out)->data : NULL;
    struct gsh_call call = gsh_draw_call_make(&draw, request->dtype, request->layout.ndim,
                                              request->layout.shape, out, row);
    PyObject *array = gsh_numpy_output_run(&call, request->out, &request->layout, why);
    if (array)
        gsh_numpy_generator_write(generator, &end);
    return array;
}

PyObject *gsh_numpy_device_draw_run(const struct gsh_numpy_draw *request, unsigned row,
                                    enum gsh_reason *why)
{
    PyObject *generator = request->from->self;
    if (!gsh_numpy_generator_lock(generator))
        return NULL;
    PyObject *array = gsh_numpy_device_draw_locked(request, row, why);
    gsh_numpy_generator_unlock(generator);
    return array;
}
