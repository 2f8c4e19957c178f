/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The generator is locked meanwhile, and moved last. Before the first shuffle of each class, a small one of a new generator is compared
 * with NumPy's.
 */
#include "numpy_shuffle.h"

#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_draw.h"
#include "numpy_generator.h"
#include "numpy_random_state.h"
#include "python_error.h"
#include "random_stream.h"

#include <string.h>

/* Items. For fewer, NumPy takes no longer than some hundred launches do; some ten arrays hold a number for each. TRIAL: steps of two masks and those of few_steps. */
enum {
    LEAST = 1 << 17,
    LEAST_FORCED = 1 << 14,
    MOST = 100000000,
    TRIAL = 5001,
    TRIAL_WORDS = 12000
};

/* A class of generators. */
struct owner {
    const char *integers; /* the method that gives words as they are */
    bool (*is_known)(PyObject *object);
    bool (*lock)(PyObject *object);
    void (*unlock)(PyObject *object);
    PyObject *(*fresh)(PyObject *like);
    /* The next words on the device, `count` at least; the generator stays. NULL: declined. */
    PyObject *(*draw)(const struct gsh_method_call *call, int64_t count, enum gsh_reason *why,
                      unsigned *row);
    void (*move)(PyObject *object, PyObject *words, int64_t used);
};

/* ---- words ---- */

static PyObject *draw_from_generator(const struct gsh_method_call *call, int64_t count,
                                     enum gsh_reason *why, unsigned *row)
{
    struct gsh_random_stream begin;
    if (!gsh_numpy_generator_read(call->self, &begin))
        return NULL;
    PyObject *words = gsh_numpy_draw_words(call, GSH_UINT32, count, why, row);
    if (words)
        gsh_numpy_generator_write(call->self, &begin);
    return words;
}

static void move_generator(PyObject *object, PyObject *words, int64_t used)
{
    struct gsh_random_stream stream;
    (void)words;
    if (!gsh_numpy_generator_read(object, &stream))
        return;
    gsh_random_stream_skip_halves(&stream, (uint64_t)used);
    gsh_numpy_generator_write(object, &stream);
}

static PyObject *draw_from_random_state(const struct gsh_method_call *call, int64_t count,
                                        enum gsh_reason *why, unsigned *row)
{
    struct gsh_random_stream stream;
    struct gsh_numpy_spare spare;
    *row = gsh_numpy_output_row("shuffle", NULL, 0, GSH_UINT32);
    return gsh_numpy_random_state_read(call->self, &stream, &spare)
               ? gsh_numpy_random_state_draw(&stream, count, *row, why)
               : NULL;
}

static void move_random_state(PyObject *object, PyObject *words, int64_t used)
{
    struct gsh_random_stream stream;
    struct gsh_numpy_spare spare;
    if (gsh_numpy_random_state_read(object, &stream, &spare))
        gsh_numpy_random_state_write(object, words, used, &spare);
}

static const struct owner of_generator = {.integers = "integers",
                                          .is_known = gsh_numpy_generator_is_known,
                                          .lock = gsh_numpy_generator_lock,
                                          .unlock = gsh_numpy_generator_unlock,
                                          .fresh = gsh_numpy_generator_like,
                                          .draw = draw_from_generator,
                                          .move = move_generator};
static const struct owner of_random_state = {.integers = "randint",
                                             .is_known = gsh_numpy_random_state_is_known,
                                             .lock = gsh_numpy_random_state_lock,
                                             .unlock = gsh_numpy_random_state_unlock,
                                             .fresh = gsh_numpy_random_state_fresh,
                                             .draw = draw_from_random_state,
                                             .move = move_random_state};

/* ---- what the composition asks for ---- */

/* j of i, i - 1 .. 1; how many words were taken. 0: there were too few. */
static int64_t make_steps(const uint32_t *words, int64_t count, int64_t i, uint32_t *steps)
{
    int64_t used = 0;
    for (; i > 0; i--) {
        const uint32_t mask = UINT32_MAX >> __builtin_clz((uint32_t)i);
        do {
            if (used == count)
                return 0;
            *steps = words[used++] & mask;
        } while (*steps > (uint32_t)i);
        steps++;
    }
    return used;
}

/* few_steps(words, i): (steps, used), of words of one dimension without gaps. */
static PyObject *few_steps(PyObject *self, PyObject *args)
{
    struct gsh_view words;
    PyObject *array = gsh_py.PyTuple_GetItem(args, 0);
    int64_t i = 0;
    (void)self;
    (void)gsh_numpy_arguments_int(gsh_py.PyTuple_GetItem(args, 1), &i);
    struct gsh_layout layout = {.ndim = 1, .shape = {i}};
    gsh_numpy_output_c_order(&layout, sizeof(uint32_t));
    PyObject *steps = i > 0 ? gsh_numpy_output_allocate(GSH_UINT32, &layout) : NULL;
    if (!steps || gsh_numpy_describe_array(array, &words) != GSH_REASON_NONE ||
        words.dtype != GSH_UINT32) {
        gsh_py_drop(&steps, 1);
        return gsh_py.Py_BuildValue("(Oi)", gsh_py._Py_NoneStruct, 0);
    }
    gsh_numpy_describe_fetch(array, false);
    const int64_t used = make_steps((const uint32_t *)words.data, words.shape[0], i,
                                    (uint32_t *)gsh_numpy_array(steps)->data);
    PyObject *result = gsh_py.Py_BuildValue("(OL)", steps, (long long)used);
    gsh_py.Py_DecRef(steps);
    return result;
}

/* Shuffles the array with these words. How many it took; 0: nothing was changed. */
static int64_t compose(PyObject *array, PyObject *words)
{
    static struct gsh_pymethoddef definition = {"few_steps", (void *)few_steps, GSH_METH_VARARGS,
                                                NULL};
    PyObject *arguments[] = {array, words}, *result = NULL;
    const struct gsh_method_call call = {NULL, arguments, 2, NULL, NULL};
    int64_t used = 0;
    if (gsh_numpy_composed_offer(&definition, 1))
        result = gsh_numpy_composed_run("shuffled", &call, false);
    if (result && !gsh_numpy_arguments_int(result, &used))
        used = 0;
    gsh_py_drop(&result, 1);
    return used;
}

/* ---- trials ---- */

/* The items 0 .. TRIAL - 1. */
static PyObject *make_items(void)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {TRIAL}};
    gsh_numpy_output_c_order(&layout, sizeof(int64_t));
    PyObject *items = gsh_numpy_output_allocate(GSH_INT64, &layout);
    for (int64_t i = 0; items && i < TRIAL; i++)
        ((int64_t *)gsh_numpy_array(items)->data)[i] = i;
    return items;
}

static PyObject *call_integers(const struct owner *owner, PyObject *object, int64_t count)
{
    return object ? gsh_py.PyObject_CallMethod(object, owner->integers, "iLLs", 0,
                                               (long long)INT64_C(1) << 32, (long long)count, "u4")
                  : NULL;
}

static bool has_same_items(PyObject *a, PyObject *b)
{
    gsh_numpy_describe_fetch(a, false);
    gsh_numpy_describe_fetch(b, false);
    return memcmp(gsh_numpy_array(a)->data, gsh_numpy_array(b)->data, TRIAL * sizeof(int64_t)) == 0;
}

/* Whether the next words of both are the same. */
static bool stands_alike(const struct owner *owner, PyObject *one, PyObject *other)
{
    PyObject *a = call_integers(owner, one, 700), *b = call_integers(owner, other, 700);
    bool is_alike = a && b && memcmp(gsh_numpy_array(a)->data, gsh_numpy_array(b)->data, 2800) == 0;
    gsh_py_drop((PyObject *[]){a, b}, 2);
    return is_alike;
}

static bool try_alike(const struct owner *owner, PyObject *like)
{
    PyObject *one = owner->fresh(like), *other = owner->fresh(like), *third = owner->fresh(like);
    PyObject *theirs = make_items(), *ours = make_items();
    PyObject *words = call_integers(owner, third, TRIAL_WORDS), *done = NULL;
    if (one && other && theirs && ours && words)
        done = gsh_py.PyObject_CallMethod(one, "shuffle", "O", theirs);
    int64_t used = done ? compose(ours, words) : 0;
    if (used > 0)
        owner->move(other, words, used);
    bool is_alike = used > 0 && has_same_items(ours, theirs) && stands_alike(owner, one, other);
    gsh_py_drop((PyObject *[]){one, other, third, theirs, ours, words, done}, 7);
    gsh_python_error_clear();
    return is_alike;
}

/* ---- one call ---- */

/* Whether the array is one whose first axis may be shuffled there. */
static bool is_possible(PyObject *array)
{
    struct gsh_view view;
    const int64_t least = gsh_dispatch_min_elements == 0 ? LEAST_FORCED : LEAST;
    return gsh_numpy_is_array(array) && gsh_numpy_describe_array(array, &view) == GSH_REASON_NONE &&
           view.ndim > 0 && view.shape[0] >= least && view.shape[0] <= MOST &&
           (view.flags & GSH_NPY_WRITEABLE) && !(view.flags & GSH_NPY_WRITEBACKIFCOPY) &&
           gsh_numpy_describe_size(gsh_numpy_array(array)) > 0 &&
           gsh_coherence_is_resident(view.data) && gsh_numpy_describe_is_distinct(&view);
}

/* The array, if the call is one with the first axis. */
static PyObject *parse(const struct gsh_method_call *call, bool has_axis)
{
    static const char *const names[] = {"x", "axis"};
    PyObject *slots[2];
    unsigned count = has_axis ? 2 : 1;
    if (!gsh_numpy_method_patch_bind(call, names, count, count, slots) || !slots[0])
        return NULL;
    int64_t axis = 0;
    if (has_axis && slots[1] && (!gsh_numpy_arguments_int(slots[1], &axis) || axis != 0))
        return NULL;
    return slots[0];
}

/* With the lock. Words for all steps: at most two each on average under the last masks, and 1.4 over all. */
static bool shuffle_locked(const struct owner *owner, const struct gsh_method_call *call,
                           PyObject *array, enum gsh_reason *why, unsigned *row)
{
    const int64_t items = gsh_numpy_array(array)->dimensions[0];
    PyObject *words = owner->draw(call, items + items / 2 + 65536, why, row);
    int64_t used = words ? compose(array, words) : 0;
    if (used > 0)
        owner->move(call->self, words, used);
    else if (words)
        *why = GSH_REASON_OPERAND;
    gsh_py_drop(&words, 1);
    return used > 0;
}

static PyObject *try_shuffle(const struct owner *owner, const struct gsh_method_call *call,
                             enum gsh_reason *why, unsigned *row)
{
    static enum { NOT_TRIED, ALIKE, OTHER } verdicts[2];
    const bool is_generator = owner == &of_generator;
    PyObject *array = parse(call, is_generator);
    if (!gsh_dispatch_is_live() || !array || !is_possible(array) || !owner->is_known(call->self))
        return NULL;
    if (verdicts[is_generator] == NOT_TRIED)
        verdicts[is_generator] = try_alike(owner, call->self) ? ALIKE : OTHER;
    if (verdicts[is_generator] == OTHER || !owner->lock(call->self))
        return NULL;
    bool is_done = shuffle_locked(owner, call, array, why, row);
    owner->unlock(call->self);
    if (!is_done)
        return NULL;
    return gsh_py_none();
}

/* ---- hooks ---- */

#define HOOK(owner, where)                                                                         \
    static PyObject *try_##owner(const struct gsh_method_call *call, enum gsh_reason *why,         \
                                 unsigned *row)                                                    \
    {                                                                                              \
        return try_shuffle(&owner, call, why, row);                                                \
    }                                                                                              \
    GSH_METHOD_HOOK(owner##_hook, .table = (where), .name = "shuffle", .handler = try_##owner,     \
                    .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0))
HOOK(of_generator, GSH_METHOD_GENERATOR);
HOOK(of_random_state, GSH_METHOD_RANDOM_STATE);

struct gsh_method_hook *const gsh_numpy_shuffle_hooks[GSH_NUMPY_SHUFFLES] = {&of_generator_hook,
                                                                             &of_random_state_hook};
