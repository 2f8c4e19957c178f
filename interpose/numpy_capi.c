/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NumPy's C API as other C modules reach them: through its table, whose entries are replaced. NumPy itself
 * calls them directly.
 * PyArray_CopyInto: f2py makes by it the copies, in Fortran's order, that scipy.linalg gives to LAPACK.
 */
#include "dispatch.h"
#include "numpy_assign.h"
#include "numpy_hooks.h"
#include "numpy_method_patch.h"
#include "numpy_output.h"
#include "stats.h"

typedef int copy_into_function(PyObject *dst, PyObject *src); /* 0, or -1 and an exception */

/* One entry of the table. In NumPy 1 slot 50 is PyArray_MoveInto, which does the same: modules that are built for NumPy 2
 * call it there (multiarray's numpy_api.py, 1.22 - 2.5). */
struct entry {
    const char *name;
    unsigned slot;
    int last_major; /* later versions have something else there */
    copy_into_function *replacement, *original;
    struct gsh_hook *row;
};

static copy_into_function copy_into, copy_into_1;
static struct entry entries[] = {{"PyArray_CopyInto", 50, 2, copy_into, NULL, NULL},
                                 {"PyArray_CopyInto (82)", 82, 1, copy_into_1, NULL, NULL}};

static void bring_home(PyObject *array, bool is_written)
{
    if (gsh_numpy_describe_is_array_like(array))
        gsh_numpy_describe_home(array, is_written);
}

static __attribute__((noinline)) int copy_somewhere(const struct entry *entry, PyObject *dst,
                                                    PyObject *src)
{
    const struct gsh_assignment request = {
        .dst = dst, .source = src, .casting = GSH_CASTING_UNSAFE, .name = "copy into"};
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    if (gsh_numpy_assign_run(&request, &why, &row))
        return 0;
    if (gsh_py.PyErr_Occurred() != NULL)
        return -1;
    bring_home(src, false);
    bring_home(dst, true);
    uint64_t begin = gsh_numpy_output_host_begin();
    int status = entry->original(dst, src);
    gsh_numpy_output_host_end(begin, row != 0 ? row : gsh_stats_row(request.name, ""), why);
    return status;
}

static inline int copy(const struct entry *entry, PyObject *dst, PyObject *src)
{
    gsh_numpy_hooks_hit(entry->row);
    if ((!gsh_numpy_method_patch_is_worth(dst) && !gsh_numpy_method_patch_is_worth(src)) ||
        !gsh_dispatch_is_live())
        return entry->original(dst, src);
    return copy_somewhere(entry, dst, src);
}

static int copy_into(PyObject *dst, PyObject *src)
{
    return copy(&entries[0], dst, src);
}

static int copy_into_1(PyObject *dst, PyObject *src)
{
    return copy(&entries[1], dst, src);
}

void gsh_numpy_capi_install(void)
{
    for (size_t i = 0; i < GSH_COUNT(entries); i++) {
        struct entry *entry = &entries[i];
        if (gsh_np.major > entry->last_major)
            continue;
        entry->original = (copy_into_function *)gsh_np.table[entry->slot];
        entry->row = gsh_numpy_hooks_add("C API", entry->name, NULL);
        __atomic_store_n(&gsh_np.table[entry->slot], (void *)entry->replacement, __ATOMIC_RELEASE);
    }
}
