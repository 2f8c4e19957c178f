/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_generator.h"

#include "numpy_bit_generator.h"

#include <string.h>

/* Generator, up to the last field used */
struct generator {
    char head[16];
    PyObject *bit_generator;
    struct gsh_numpy_bitgen bitgen;
};

/* numpy/random/src/pcg64/pcg64.h: pcg64_state, of both PCGs */
struct pcg_state {
    struct {
        unsigned __int128 state, increment;
    } * pcg;
    int32_t has_half;
    uint32_t half;
};

/* numpy/random/src/philox/philox.h: philox_state */
struct philox_state {
    uint64_t *counter, *key;
    int32_t buffer_at;
    uint64_t buffer[4];
    int32_t has_half;
    uint32_t half;
};
_Static_assert(offsetof(struct philox_state, buffer) == 24, "philox_state");
_Static_assert(offsetof(struct philox_state, has_half) == 56, "philox_state");

PyObject *gsh_numpy_generator_type(void)
{
    static PyObject *type;
    /* the package has the function once the module's own initialisation has ended */
    if (!type && gsh_numpy_bit_generator_class("numpy.random", "default_rng"))
        type = gsh_numpy_bit_generator_class("numpy.random._generator", "Generator");
    return type;
}

/* ---- kinds ---- */

static const struct kind {
    const char *module, *name;
} kinds[] = {[GSH_RANDOM_PCG64] = {"numpy.random._pcg64", "PCG64"},
             [GSH_RANDOM_PCG64DXSM] = {"numpy.random._pcg64", "PCG64DXSM"},
             [GSH_RANDOM_PHILOX] = {"numpy.random._philox", "Philox"}};

/* enum gsh_random_generator of a bit generator, or -1. */
static int find_kind(PyObject *bit_generator)
{
    static PyObject *types[GSH_COUNT(kinds)];
    for (size_t i = 0; i < GSH_COUNT(kinds); i++) {
        if (!types[i])
            types[i] = gsh_numpy_bit_generator_class(kinds[i].module, kinds[i].name);
        if (types[i] == gsh_py_type(bit_generator))
            return (int)i;
    }
    return -1;
}

static struct generator *as_generator(PyObject *object)
{
    return (struct generator *)object;
}

/* Whether the Generator holds its bit generator and bitgen_t where they are expected. */
static bool has_expected_layout(PyObject *object)
{
    const struct generator *generator = as_generator(object);
    return gsh_numpy_bit_generator_is_owned(object, "bit_generator", generator->bit_generator,
                                            &generator->bitgen);
}

/* The layout is looked at once: it is the same for all objects of a type. */
static bool is_layout_known(PyObject *object)
{
    static enum { UNKNOWN, EXPECTED, OTHER } layout;
    struct gsh_pytype *type = (struct gsh_pytype *)gsh_py_type(object);
    if (layout == UNKNOWN)
        layout =
            (size_t)type->tp_basicsize >= sizeof(struct generator) && has_expected_layout(object)
                ? EXPECTED
                : OTHER;
    return layout == EXPECTED;
}

bool gsh_numpy_generator_is_known(PyObject *object)
{
    return gsh_py_type(object) == gsh_numpy_generator_type() && is_layout_known(object) &&
           find_kind(as_generator(object)->bit_generator) >= 0;
}

/* ---- locks ---- */

bool gsh_numpy_generator_lock(PyObject *generator)
{
    return gsh_numpy_bit_generator_lock(as_generator(generator)->bit_generator);
}

void gsh_numpy_generator_unlock(PyObject *generator)
{
    gsh_numpy_bit_generator_unlock(as_generator(generator)->bit_generator);
}

/* ---- states ---- */

static bool is_inside(PyObject *bit_generator, const void *address, size_t size)
{
    return gsh_numpy_bit_generator_holds(bit_generator, address, size, sizeof(uint64_t));
}

static bool read_pcg(PyObject *bit_generator, const struct pcg_state *state,
                     struct gsh_random_stream *stream)
{
    if (!is_inside(bit_generator, state, sizeof(*state)) ||
        !is_inside(bit_generator, state->pcg, sizeof(*state->pcg)))
        return false;
    memcpy(&stream->pcg, state->pcg, sizeof(stream->pcg)); /* it may be aligned to 8 bytes only */
    stream->has_half = state->has_half != 0;
    stream->half = state->half;
    return state->has_half == 0 || state->has_half == 1;
}

static bool read_philox(PyObject *bit_generator, const struct philox_state *state,
                        struct gsh_random_stream *stream)
{
    if (!is_inside(bit_generator, state, sizeof(*state)) ||
        !is_inside(bit_generator, state->counter, sizeof(stream->philox.counter)) ||
        !is_inside(bit_generator, state->key, sizeof(stream->philox.key)))
        return false;
    memcpy(stream->philox.counter, state->counter, sizeof(stream->philox.counter));
    memcpy(stream->philox.key, state->key, sizeof(stream->philox.key));
    memcpy(stream->philox.buffer, state->buffer, sizeof(stream->philox.buffer));
    stream->philox.buffer_at = state->buffer_at;
    stream->has_half = state->has_half != 0;
    stream->half = state->half;
    return (state->has_half == 0 || state->has_half == 1) && state->buffer_at >= 0 &&
           state->buffer_at <= 4;
}

bool gsh_numpy_generator_read(PyObject *object, struct gsh_random_stream *stream)
{
    const struct generator *generator = as_generator(object);
    memset(stream, 0, sizeof(*stream));
    stream->generator = (enum gsh_random_generator)find_kind(generator->bit_generator);
    if (stream->generator == GSH_RANDOM_PHILOX)
        return read_philox(generator->bit_generator, generator->bitgen.state, stream);
    return read_pcg(generator->bit_generator, generator->bitgen.state, stream);
}

static void write_philox(struct philox_state *state, const struct gsh_random_stream *stream)
{
    memcpy(state->counter, stream->philox.counter, sizeof(stream->philox.counter));
    memcpy(state->buffer, stream->philox.buffer, sizeof(stream->philox.buffer));
    state->buffer_at = stream->philox.buffer_at;
    state->has_half = stream->has_half;
    state->half = stream->half;
}

void gsh_numpy_generator_write(PyObject *generator, const struct gsh_random_stream *stream)
{
    void *state = as_generator(generator)->bitgen.state;
    if (stream->generator == GSH_RANDOM_PHILOX) {
        write_philox(state, stream);
        return;
    }
    struct pcg_state *pcg = state;
    memcpy(pcg->pcg, &stream->pcg, sizeof(stream->pcg));
    pcg->has_half = stream->has_half;
    pcg->half = stream->half;
}

PyObject *gsh_numpy_generator_like(PyObject *generator)
{
    return gsh_numpy_bit_generator_make_owner(generator, as_generator(generator)->bit_generator);
}
