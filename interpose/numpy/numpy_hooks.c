/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of patches and its self-test. Rows are stored in a fixed table, so that hooks may
 * keep pointers to them. Everything runs with the GIL, at attach.
 */
#include "numpy_hooks.h"

#include "dispatch.h"
#include "numpy_abi.h"
#include "numpy_errstate.h"
#include "python_error.h"
#include "python_untraced.h"

#include <string.h>

enum { HOOK_LIMIT = 1024, PY_FILE_INPUT = 257 };

static struct gsh_hook hooks[HOOK_LIMIT];
static size_t hook_count;

struct gsh_hook *gsh_numpy_hooks_add(const char *family, const char *name, const char *self_test)
{
    static struct gsh_hook spare;
    struct gsh_hook *hook = hook_count < HOOK_LIMIT ? &hooks[hook_count++] : &spare;
    *hook = (struct gsh_hook){.family = family,
                              .name = name,
                              .self_test = self_test,
                              .hits = &hook->own_hits,
                              .installed = true};
    return hook;
}

/* Runs statements with the globals `names`. The statements handle their own exceptions. False: one
 * was raised all the same. */
static bool run_python(const char *statements, PyObject *names)
{
    PyObject *result = gsh_py.PyRun_StringFlags(statements, PY_FILE_INPUT, names, names, NULL);
    if (result)
        gsh_py.Py_DecRef(result);
    gsh_python_error_clear();
    return result != NULL;
}

/* Rebuilds the set in place, because others refer to it. It does not exist before NumPy 1.25. A
 * signal handler may raise at any point. */
static const char rehash_statements[] =
    "import sys\n"
    "for name in ('numpy._core.overrides', 'numpy.core.overrides'):\n"
    "    known = getattr(sys.modules.get(name), 'ARRAY_FUNCTIONS', None)\n"
    "    if type(known) is set:\n"
    "        items = list(known)\n"
    "        try: known.clear()\n"
    "        finally: known.update(items)\n"
    "        break\n";

void gsh_numpy_hooks_rehash(void)
{
    PyObject *names = gsh_py_names();
    if (!names) {
        gsh_python_error_clear();
        return;
    }
    bool is_untraced = gsh_python_untraced_begin();
    run_python(rehash_statements, names);
    if (is_untraced)
        gsh_python_untraced_end();
    gsh_py.Py_DecRef(names);
}

/* Defines the names for the self-tests; suppresses warnings (arccosh of 0.5). */
static const char self_test_preamble[] =
    "import warnings\n"
    "w = warnings.catch_warnings()\n"
    "w.__enter__()\n"
    "warnings.simplefilter('ignore')\n"
    "a = m.array([1.0, 2.0])\n"
    "b = m.array([3.0, 4.0])\n"
    "s = m.zeros(max(limit, 2)).view(type('Subclass', (type(a),), {}))\n";

void gsh_numpy_hooks_self_test(void)
{
    PyObject *names = gsh_py_names();
    if (!names) {
        gsh_python_error_clear();
        return;
    }
    gsh_py.PyDict_SetItemString(names, "m", gsh_np.module);
    PyObject *limit = gsh_py.PyLong_FromLongLong(gsh_dispatch_min_elements);
    gsh_py.PyDict_SetItemString(names, "limit", limit ? limit : gsh_py._Py_NoneStruct);
    PyObject *errstate = gsh_numpy_errstate_replace(0, NULL); /* errors in self-tests are ignored */
    if (run_python(self_test_preamble, names)) {
        for (size_t i = 0; i < hook_count; i++) {
            struct gsh_hook *hook = &hooks[i];
            if (!hook->self_test || !hook->installed)
                continue;
            if (hook->subject)
                gsh_py.PyDict_SetItemString(names, "f", hook->subject);
            uint64_t before = *hook->hits;
            run_python(hook->self_test, names);
            hook->live = *hook->hits != before;
        }
        run_python("w.__exit__(None, None, None)", names);
    }
    if (errstate)
        gsh_numpy_errstate_restore(errstate);
    if (limit)
        gsh_py.Py_DecRef(limit);
    gsh_py.Py_DecRef(names);
    gsh_python_error_clear();
}

static const char *hook_state(const struct gsh_hook *hook)
{
    if (!hook->installed)
        return "not installed";
    return hook->live ? "live" : hook->self_test ? "NOT LIVE" : "installed, not testable";
}

static void describe_row(struct gsh_fmt *fmt, const struct gsh_hook *hook)
{
    gsh_fmt_printf(fmt, "hook %s %s: %s, ", hook->family, hook->name, hook_state(hook));
    gsh_fmt_count(fmt, *hook->hits, "call", "calls");
    gsh_fmt_text(fmt, "\n");
}

/* Rows [first, last) of one family: one line if all are live, else one line per row. */
static void describe_family(struct gsh_fmt *fmt, size_t first, size_t last)
{
    size_t live = 0;
    for (size_t i = first; i < last; i++)
        live += hooks[i].live;
    if (live == last - first && live > 12) {
        gsh_fmt_printf(fmt, "hook %s: %zu of %zu live\n", hooks[first].family, live, live);
        return;
    }
    for (size_t i = first; i < last; i++)
        describe_row(fmt, &hooks[i]);
}

void gsh_numpy_hooks_describe(struct gsh_fmt *fmt)
{
    size_t first = 0;
    for (size_t i = 1; i <= hook_count; i++) {
        if (i < hook_count && strcmp(hooks[i].family, hooks[first].family) == 0)
            continue;
        describe_family(fmt, first, i);
        first = i;
    }
}
