/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_random_state.h"

#include "draw_call.h"
#include "element.h"
#include "numpy_bit_generator.h"
#include "numpy_output.h"
#include "twister.h"

#include <string.h>

/* RandomState, up to the last field used; aug_bitgen_t is numpy/random/src/legacy's */
struct random_state {
    char head[16];
    void *methods;
    PyObject *bit_generator;
    struct gsh_numpy_bitgen bitgen;
    struct {
        struct gsh_numpy_bitgen *bitgen;
        int32_t has_gauss;
        double gauss;
    } augmented;
};

/* numpy/random/src/mt19937/mt19937.h: mt19937_state */
struct twister_state {
    uint32_t key[GSH_TWISTER_BLOCK];
    int32_t at;
};

static struct random_state *as_random_state(PyObject *object)
{
    return (struct random_state *)object;
}

/* Whether the object holds its bit generator, bitgen_t and aug_bitgen_t where they are expected. */
static bool has_expected_layout(PyObject *object)
{
    const struct random_state *state = as_random_state(object);
    return gsh_numpy_bit_generator_is_owned(object, "_bit_generator", state->bit_generator,
                                            &state->bitgen) &&
           state->augmented.bitgen == &state->bitgen;
}

/* The layout is looked at once: it is the same for all objects of a type. */
static bool is_layout_known(PyObject *object)
{
    static enum { UNKNOWN, EXPECTED, OTHER } layout;
    const struct gsh_pytype *type = (const struct gsh_pytype *)gsh_py_type(object);
    if (layout == UNKNOWN)
        layout =
            (size_t)type->tp_basicsize >= sizeof(struct random_state) && has_expected_layout(object)
                ? EXPECTED
                : OTHER;
    return layout == EXPECTED;
}

bool gsh_numpy_random_state_is_known(PyObject *object)
{
    static PyObject *type, *bits_type;
    if (!type)
        type = gsh_numpy_bit_generator_class("numpy.random.mtrand", "RandomState");
    if (!bits_type)
        bits_type = gsh_numpy_bit_generator_class("numpy.random._mt19937", "MT19937");
    return type && gsh_py_type(object) == type && is_layout_known(object) &&
           gsh_py_type(as_random_state(object)->bit_generator) == bits_type;
}

/* ---- the lock ---- */

bool gsh_numpy_random_state_lock(PyObject *object)
{
    return gsh_numpy_bit_generator_lock(as_random_state(object)->bit_generator);
}

void gsh_numpy_random_state_unlock(PyObject *object)
{
    gsh_numpy_bit_generator_unlock(as_random_state(object)->bit_generator);
}

/* ---- the state ---- */

/* NULL: it is not inside its bit generator. */
static struct twister_state *find_state(PyObject *object)
{
    const struct random_state *state = as_random_state(object);
    struct twister_state *twister = state->bitgen.state;
    bool is_inside = gsh_numpy_bit_generator_holds(state->bit_generator, twister, sizeof(*twister),
                                                   _Alignof(struct twister_state));
    return is_inside ? twister : NULL;
}

bool gsh_numpy_random_state_read(PyObject *object, struct gsh_random_stream *stream,
                                 struct gsh_numpy_spare *spare)
{
    const struct random_state *state = as_random_state(object);
    const struct twister_state *twister = find_state(object);
    if (!twister || twister->at < 0 || twister->at > GSH_TWISTER_BLOCK)
        return false;
    memset(stream, 0, sizeof *stream);
    stream->generator = GSH_RANDOM_MT19937;
    stream->twister.key = twister->key;
    stream->twister.at = twister->at;
    spare->is_kept = state->augmented.has_gauss != 0;
    spare->number = state->augmented.gauss;
    return true;
}

int64_t gsh_numpy_random_state_round(const struct gsh_random_stream *stream, int64_t count)
{
    const int64_t all = stream->twister.at + count, block = GSH_TWISTER_BLOCK;
    return (all + block - 1) / block * block - stream->twister.at;
}

PyObject *gsh_numpy_random_state_draw(const struct gsh_random_stream *stream, int64_t count,
                                      unsigned row, enum gsh_reason *why)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {gsh_numpy_random_state_round(stream, count)}};
    const struct gsh_random_draw draw = {
        .stream = *stream, .distribution = GSH_RANDOM_BOUNDED, .range = UINT32_MAX};
    gsh_numpy_output_c_order(&layout, sizeof(uint32_t));
    if (!gsh_numpy_output_is_possible(&layout, sizeof(uint32_t)))
        return NULL;
    struct gsh_call call = gsh_draw_call_make(&draw, GSH_UINT32, 1, layout.shape, NULL, row);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* Elements of an array that may be on the device. */
static void read_words(PyObject *array, int64_t first, uint32_t *words)
{
    const char *from = gsh_numpy_array(array)->data + first * 4;
    if (!gsh_element_read(words, from, GSH_TWISTER_BLOCK * sizeof *words))
        memcpy(words, from, GSH_TWISTER_BLOCK * sizeof *words);
}

void gsh_numpy_random_state_write(PyObject *object, PyObject *words, int64_t used,
                                  const struct gsh_numpy_spare *spare)
{
    struct twister_state *twister = find_state(object);
    const int64_t block = GSH_TWISTER_BLOCK, end = twister->at + used;
    const int64_t passed = end > block ? (end - 1) / block * block : 0;
    if (passed > 0) {
        read_words(words, passed - twister->at, twister->key);
        gsh_twister_block_of(twister->key, twister->key);
    }
    twister->at = (int32_t)(end - passed);
    as_random_state(object)->augmented.has_gauss = spare->is_kept;
    as_random_state(object)->augmented.gauss = spare->number;
}

PyObject *gsh_numpy_random_state_fresh(PyObject *like)
{
    return gsh_numpy_bit_generator_make_owner(like, as_random_state(like)->bit_generator);
}
