/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks functions of NumPy's C API by replacing entries of its table, which other C modules call
 * through. NumPy itself calls the functions directly. f2py uses the hooked functions to make the
 * copies in Fortran order that scipy.linalg passes to LAPACK: PyArray_CopyInto, and
 * PyArray_FromArray in the f2py of NumPy 2.4 and later. Checked by
 * tests/preload/test_numpy_capi.py.
 */
#include "arena.h"
#include "block.h"
#include "coherence.h"
#include "dispatch.h"
#include "numpy_assign.h"
#include "numpy_copy.h"
#include "numpy_fallback.h"
#include "numpy_hooks.h"
#include "numpy_method_patch.h"
#include "numpy_output.h"
#include "python_error.h"
#include "readers.h"
#include "stats.h"

/* Flags of PyArray_FromArray (ndarraytypes.h, 1.22 - 2.5). */
#define FORCECAST 0x0010
#define ENSURECOPY 0x0020
#define NOTSWAPPED 0x0200

#define SMALL_BYTES ((size_t)65536)
#define SMALL_SHARE 16 /* of the array's memory a part is small */

typedef int copy_into_function(PyObject *dst, PyObject *src); /* 0, or -1 and an exception */
typedef PyObject *from_array_function(PyObject *array, PyObject *descr, int flags);

/* An entry of the table. */
struct entry {
    const char *name;
    unsigned slot;
    int last_major; /* later major versions use the slot for another function */
    void *replacement, *original;
    struct gsh_hook *row;
};

static copy_into_function copy_into, copy_into_1;
static from_array_function from_array;

/* In NumPy 1, slot 50 is PyArray_MoveInto, which has the same effect. Modules built for NumPy 2
 * call CopyInto through that slot (multiarray's numpy_api.py, 1.22 - 2.5). */
static struct entry into = {"PyArray_CopyInto", 50, 2, (void *)copy_into, NULL, NULL};
static struct entry into_1 = {"PyArray_CopyInto (82)", 82, 1, (void *)copy_into_1, NULL, NULL};
static struct entry from = {"PyArray_FromArray", 109, 2, (void *)from_array, NULL, NULL};

static void fetch(PyObject *array, bool is_written)
{
    GSH_READER("PyArray_CopyInto");
    if (gsh_numpy_describe_is_array_like(array))
        gsh_numpy_describe_fetch(array, is_written);
}

/* ---- PyArray_CopyInto ---- */

/* Whether the array is a small part of what would come to the host with it. */
static bool is_small_part(PyObject *array, const struct gsh_view *view)
{
    size_t bytes =
        (size_t)gsh_numpy_describe_size(gsh_numpy_array(array)) * gsh_dtype_size(view->dtype);
    const struct gsh_block *block =
        gsh_coherence_is_resident(view->data) ? gsh_arena_find_block(view->data) : NULL;
    return bytes > 0 && bytes <= SMALL_BYTES && block != NULL && block->size / SMALL_SHARE >= bytes;
}

/* A copy of a small part of a large array on the device, so that the array stays there: a new reference. NULL: it is none, or cannot be
 * copied. */
static PyObject *copy_small_part(PyObject *src)
{
    struct gsh_view view;
    enum gsh_reason why;
    unsigned row = 0;
    if (gsh_numpy_describe_array(src, &view) != GSH_REASON_NONE || !is_small_part(src, &view))
        return NULL;
    PyObject *copied =
        gsh_numpy_copy_in_order("copy into", &view, view.dtype, GSH_ORDER_C, &why, &row);
    if (copied == NULL)
        gsh_python_error_clear();
    return copied;
}

static __attribute__((noinline)) int copy_somewhere(const struct entry *entry, PyObject *dst,
                                                    PyObject *src)
{
    const struct gsh_assignment request = {
        .dst = dst, .source = src, .casting = GSH_CASTING_UNSAFE, .name = "copy into"};
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    if (gsh_py.PyErr_Occurred() != NULL) /* the caller's own error, which the caller handles */
        return ((copy_into_function *)entry->original)(dst, src);
    if (gsh_numpy_assign_run(&request, &why, &row))
        return 0;
    if (gsh_py.PyErr_Occurred() != NULL)
        return -1;
    PyObject *part = copy_small_part(src);
    fetch(part != NULL ? part : src, false);
    fetch(dst, true);
    uint64_t begin = gsh_numpy_output_host_begin();
    int status = ((copy_into_function *)entry->original)(dst, part != NULL ? part : src);
    if (part != NULL)
        gsh_py.Py_DecRef(part);
    row = row != 0 ? row : gsh_stats_row(request.name, "");
    gsh_numpy_output_host_end(begin, row, why);
    return gsh_numpy_fallback_allows(row, why, &dst, 1) ? status : -1;
}

static inline int copy(const struct entry *entry, PyObject *dst, PyObject *src)
{
    gsh_numpy_hooks_hit(entry->row);
    if ((!gsh_numpy_method_patch_is_worth(dst) && !gsh_numpy_method_patch_is_worth(src)) ||
        !gsh_dispatch_is_live())
        return ((copy_into_function *)entry->original)(dst, src);
    return copy_somewhere(entry, dst, src);
}

static int copy_into(PyObject *dst, PyObject *src)
{
    return copy(&into, dst, src);
}

static int copy_into_1(PyObject *dst, PyObject *src)
{
    return copy(&into_1, dst, src);
}

/* ---- PyArray_FromArray ---- */

/* Whether the flags ask for a new array in C or Fortran order, with any cast allowed. */
static bool asks_for_copy(int flags)
{
    const int implied = GSH_NPY_ALIGNED | GSH_NPY_WRITEABLE | NOTSWAPPED; /* a copy has these */
    const int order = flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS);
    return (flags & ~implied & ~order) == (FORCECAST | ENSURECOPY) &&
           (order == GSH_NPY_C_CONTIGUOUS || order == GSH_NPY_F_CONTIGUOUS);
}

static PyObject *try_from_array(PyObject *array, PyObject *descr, int flags, enum gsh_reason *why,
                                unsigned *row)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_array(array, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    int dtype = descr == NULL ? (int)view.dtype : gsh_numpy_dtype(descr);
    *why = GSH_REASON_DTYPE;
    if (dtype < 0 || (descr != NULL && descr != gsh_np.descrs[dtype]))
        return NULL;
    return gsh_numpy_copy_in_order("from array", &view, (enum gsh_dtype)dtype,
                                   (flags & GSH_NPY_F_CONTIGUOUS) != 0 ? GSH_ORDER_F : GSH_ORDER_C,
                                   why, row);
}

static __attribute__((noinline)) PyObject *make_somewhere(PyObject *array, PyObject *descr,
                                                          int flags)
{
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    if (gsh_py.PyErr_Occurred() != NULL)
        return ((from_array_function *)from.original)(array, descr, flags);
    PyObject *result = try_from_array(array, descr, flags, &why, &row);
    if (result != NULL || gsh_py.PyErr_Occurred() != NULL) {
        if (descr != NULL)
            gsh_py.Py_DecRef(descr); /* the function steals this reference */
        return result;
    }
    fetch(array, false);
    uint64_t begin = gsh_numpy_output_host_begin();
    result = ((from_array_function *)from.original)(array, descr, flags);
    row = row != 0 ? row : gsh_stats_row("from array", "");
    gsh_numpy_output_host_end(begin, row, why);
    return gsh_numpy_fallback_pass(result, row, why, &array, 1);
}

static PyObject *from_array(PyObject *array, PyObject *descr, int flags)
{
    gsh_numpy_hooks_hit(from.row);
    if (!asks_for_copy(flags) || !gsh_numpy_method_patch_is_worth(array) || !gsh_dispatch_is_live())
        return ((from_array_function *)from.original)(array, descr, flags);
    return make_somewhere(array, descr, flags);
}

/* ---- installation ---- */

static void install(struct entry *entry)
{
    if (gsh_np.major > entry->last_major)
        return;
    entry->original = gsh_np.table[entry->slot];
    entry->row = gsh_numpy_hooks_add("C API", entry->name, NULL);
    __atomic_store_n(&gsh_np.table[entry->slot], entry->replacement, __ATOMIC_RELEASE);
}

void gsh_numpy_capi_install(void)
{
    install(&into);
    install(&into_1);
    install(&from);
}
