/* SPDX-License-Identifier: Apache-2.0
 *
 * A call site is the sequence of NumPy's own Python frames between the hook and its caller,
 * together with the array's reference count at the hook: the references held by these frames and
 * the caller's stack. If an array that the caller keeps in a variable was seen with the same path
 * and count, the call site is ambiguous and gives no answer. This happens in Python 3.14, which
 * passes variables as borrowed references.
 */
#include "numpy_expiring.h"

#include "dispatch.h"
#include "expiring.h"
#include "node.h"
#include "python_error.h"
#include "python_untraced.h"

#include <string.h>

#define PY_FILE_INPUT 257
#define DEPTH 6 /* maximum number of NumPy's frames in a call */
#define TOO_DEEP (DEPTH + 1)
#define CODES 64

/* Python code for the lessons: each of `functions` is called with a temporary array and with an
 * array that the caller keeps. A method is called as a function of its type. `m` is NumPy's C
 * module; functions are not taken from the package numpy, where a program may have replaced them.
 * The code raises nothing. */
static const char lessons[] =
    "import sys\n"
    "modules = 'numpy._core.fromnumeric', 'numpy.core.fromnumeric'\n"
    "places = [m.ndarray] + [sys.modules[name] for name in modules if name in sys.modules][:1]\n"
    "def passes(f): f(m.zeros(2, 'i1'))\n"
    "def passes_by_keyword(f): f(m.zeros(2, 'i1'), axis=None)\n"
    "def keeps(f):\n a = m.zeros(2, 'i1')\n f(a)\n"
    "def keeps_by_keyword(f):\n a = m.zeros(2, 'i1')\n f(a, axis=None)\n"
    "names = 'sum prod mean std var max min any all amax amin'.split()\n"
    "functions = [getattr(place, name) for place in places for name in names\n"
    "             if hasattr(place, name)] + [m.add.reduce]\n";
static const struct lesson {
    const char *caller; /* a function in `lessons` */
    bool is_kept;       /* the caller has the array in a variable */
} callers[] = {
    {"passes", false}, {"passes_by_keyword", false}, {"keeps", true}, {"keeps_by_keyword", true}};

struct path {
    unsigned char codes[DEPTH]; /* of the frames, innermost first: indices into `codes` */
    unsigned depth;
    uint32_t references;
};

static struct site {
    struct path path;
    bool is_ambiguous; /* was also seen with an array that its caller keeps */
} sites[GSH_EXPIRING_CALL_SITES];
static unsigned site_count;
static PyObject *codes[CODES]; /* code objects of NumPy's frames; never released */
static unsigned code_count;

/* The lesson that this thread runs: the caller's code object, or NULL if none; whether the caller
 * keeps the array. */
static _Thread_local PyObject *lesson_code;
static _Thread_local bool lesson_is_kept;
static bool is_learnt;
static void *original; /* the hook's original during the lessons */

/* The reference count: the low half of the word in every version. */
static uint32_t references(PyObject *object)
{
    return *(const uint32_t *)object;
}

/* ---- frames ---- */

static unsigned find_code(const PyObject *code)
{
    unsigned number = 0;
    while (number < code_count && codes[number] != code)
        number++;
    return number;
}

/* Adds a frame if it is NumPy's. False: it is the caller's, or there are too many. Steals the
 * reference. */
static bool add_frame(struct path *path, PyObject *code)
{
    unsigned number = find_code(code);
    bool is_own = lesson_code ? code != lesson_code : number < code_count;
    if (!is_own || path->depth == DEPTH || number == CODES) {
        if (is_own)
            path->depth = TOO_DEEP;
        gsh_py.Py_DecRef(code);
        return false;
    }
    path->codes[path->depth++] = (unsigned char)number;
    if (number == code_count)
        codes[code_count++] = code;
    else
        gsh_py.Py_DecRef(code);
    return true;
}

/* The frames between the hook and the caller. False: there is no caller, or there are too many
 * frames. */
static bool find_path(struct path *path)
{
    PyObject *frame = gsh_py.PyEval_GetFrame();
    if (frame)
        gsh_py.Py_IncRef(frame);
    while (frame && add_frame(path, gsh_py.PyFrame_GetCode(frame))) {
        PyObject *back = gsh_py.PyFrame_GetBack(frame);
        gsh_py.Py_DecRef(frame);
        frame = back;
    }
    if (!frame)
        return false;
    gsh_py.Py_DecRef(frame);
    return path->depth != TOO_DEEP;
}

static struct site *find_call_site(const struct path *path)
{
    for (unsigned number = 0; number < site_count; number++)
        if (sites[number].path.references == path->references &&
            sites[number].path.depth == path->depth &&
            memcmp(sites[number].path.codes, path->codes, path->depth) == 0)
            return &sites[number];
    return NULL;
}

/* ---- learning ---- */

/* A call of the lesson has reached the hook. Arrays of a dtype other than the lesson's are NumPy's
 * own temporaries. */
static void learn_array(PyObject *array)
{
    struct path path = {.references = references(array)};
    if (!gsh_numpy_is_array(array) || !find_path(&path))
        return;
    bool is_subject = gsh_numpy_array(array)->descr == gsh_np.descrs[GSH_INT8];
    struct site *site = find_call_site(&path);
    if (!site && site_count < GSH_EXPIRING_CALL_SITES) {
        site = &sites[site_count++];
        site->path = path;
    }
    if (site)
        site->is_ambiguous |= lesson_is_kept && is_subject;
}

static PyObject *spy_on_vector(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    PyObject *(*call)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *) = original;
    if (lesson_code && nargs > 0)
        learn_array(args[0]);
    return call(self, args, nargs, kwnames);
}

static PyObject *spy_on_tuple(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *(*call)(PyObject *, PyObject *, PyObject *) = original;
    if (lesson_code && gsh_py.PyTuple_Size(args) > 0)
        learn_array(gsh_py.PyTuple_GetItem(args, 0));
    return call(self, args, kwargs);
}

static void *spy_for_flags(int flags)
{
    switch (flags) {
    case GSH_METH_FASTCALL | GSH_METH_KEYWORDS:
        return (void *)spy_on_vector;
    case GSH_METH_VARARGS | GSH_METH_KEYWORDS:
        return (void *)spy_on_tuple;
    default:
        return NULL;
    }
}

/* Calls each function once. False: an exception of the program interrupted it. */
static bool learn_calls(PyObject *globals, const struct lesson *lesson)
{
    PyObject *caller = gsh_py.PyDict_GetItemString(globals, lesson->caller);
    PyObject *functions = gsh_py.PyDict_GetItemString(globals, "functions");
    PyObject *code = gsh_py.PyObject_GetAttrString(caller, "__code__");
    bool good = true;
    lesson_code = code;
    lesson_is_kept = lesson->is_kept;
    for (Py_ssize_t i = 0; code && good && i < gsh_py.PyList_Size(functions); i++) {
        PyObject *function = gsh_py.PyList_GetItem(functions, i);
        PyObject *result = gsh_py.PyObject_CallFunction(caller, "O", function);
        if (result)
            gsh_py.Py_DecRef(result);
        good = gsh_python_error_clear();
    }
    lesson_code = NULL;
    if (code)
        gsh_py.Py_DecRef(code);
    return good;
}

static bool learn_lessons(void)
{
    PyObject *globals = gsh_py_names();
    if (!globals)
        return gsh_python_error_clear();
    gsh_py.PyDict_SetItemString(globals, "m", gsh_np.module);
    PyObject *done = gsh_py.PyRun_StringFlags(lessons, PY_FILE_INPUT, globals, globals, NULL);
    bool good = gsh_python_error_clear();
    for (size_t i = 0; done && good && i < GSH_COUNT(callers); i++)
        good = learn_calls(globals, &callers[i]);
    if (done)
        gsh_py.Py_DecRef(done);
    gsh_py.Py_DecRef(globals);
    return good;
}

/* The device is paused during the lessons, so NumPy computes the calls. After an interruption
 * nothing learnt is used. */
void gsh_numpy_expiring_learn(struct gsh_method_hook *hook)
{
    void *spy = hook->row && hook->row->installed ? spy_for_flags(hook->flags) : NULL;
    if (!spy || !gsh_python_untraced_begin())
        return;
    gsh_dispatch_pause(true);
    original = hook->original;
    hook->original = spy;
    is_learnt = learn_lessons();
    hook->original = original;
    gsh_dispatch_pause(false);
    gsh_python_untraced_end();
}

/* ---- lookup ---- */

unsigned gsh_numpy_expiring_find(PyObject *array)
{
    const struct gsh_ndarray *fields = gsh_numpy_array(array);
    if (!(fields->flags & GSH_NPY_OWNDATA) || !gsh_expiring_is_possible(fields->data))
        return 0;
    struct path path = {.references = references(array)};
    if (!is_learnt || !find_path(&path))
        return 0;
    const struct site *site = find_call_site(&path);
    unsigned number = site && !site->is_ambiguous ? (unsigned)(site - sites) + 1 : 0;
    return number != 0 && gsh_expiring_is_off(number) ? 0 : number;
}

void gsh_numpy_expiring_end(void)
{
    gsh_node_note_expired();
}
