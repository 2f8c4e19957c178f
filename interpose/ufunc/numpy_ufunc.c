/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectorcall of every ufunc of NumPy is replaced by one of two hooks. Most calls are small and
 * leave after a few comparisons by a tail call of the original. Other calls are parsed, described,
 * promoted and offered to the device. If they are declined, their operands are first fetched to the
 * host in bulk. GIL throughout; no lock.
 */
#include "numpy_ufunc.h"

#include "arena.h"
#include "clock.h"
#include "coherence.h"
#include "dispatch.h"
#include "line_profile.h"
#include "numpy_elementwise.h"
#include "numpy_errstate.h"
#include "numpy_fallback.h"
#include "numpy_hooks.h"
#include "numpy_keywords.h"
#include "numpy_list_operands.h"
#include "numpy_loops.h"
#include "numpy_parallel.h"
#include "numpy_promote.h"
#include "numpy_single.h"
#include "numpy_verify.h"
#include "readers.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

#include <string.h>

enum { RECORD_SLOTS = 1024, RECORD_LIMIT = RECORD_SLOTS / 2 };

/* A hooked ufunc. */
struct record {
    struct gsh_ufunc *ufunc; /* NULL: free slot */
    int op;                  /* enum gsh_op, or -1 */
    gsh_ufunc_handler handler;
    bool is_adopted; /* see gsh_numpy_ufunc_adopt */
    unsigned row;    /* row of calls declined before description; 0 until needed */
};

static struct record records[RECORD_SLOTS]; /* open addressing by the ufunc's address */
static size_t record_count;
static uint64_t calls;   /* hooked calls, for the self-test */
static bool counts_tiny; /* the report was requested: small calls are counted too */

enum { SAMPLE_MEAN = 128 }; /* of further small calls one is counted; a power of 2 */
enum { COUNTED_SINGLY = 10000 };
static uint32_t counted_singly; /* small calls that are counted before that */
static uint32_t until_sample = 1, stands_for = 1, random_state = 1; /* GIL */

static struct record *find_record(const void *ufunc)
{
    size_t slot = ((uintptr_t)ufunc >> 4) % RECORD_SLOTS;
    while (records[slot].ufunc && records[slot].ufunc != ufunc)
        slot = (slot + 1) % RECORD_SLOTS;
    return &records[slot];
}

/* Fetches the operands for the original. Positional arguments beyond the inputs and out= are
 * written, all others are read. */
static void fetch_operands(const struct gsh_ufunc *ufunc, PyObject *const *args, size_t nargs,
                           PyObject *kwnames)
{
    GSH_READER(ufunc->name);
    for (size_t i = 0; i < nargs; i++)
        gsh_numpy_describe_fetch(args[i], i >= (size_t)ufunc->nin);
    Py_ssize_t keywords = kwnames ? gsh_py_size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++) {
        PyObject *value = args[nargs + (size_t)i];
        bool write = gsh_numpy_keywords_find(gsh_py.PyTuple_GetItem(kwnames, i)) == GSH_KEYWORD_OUT;
        if (gsh_py_type(value) != gsh_py.PyTuple_Type) {
            gsh_numpy_describe_fetch(value, write);
            continue;
        }
        for (Py_ssize_t j = 0; j < gsh_py.PyTuple_Size(value); j++)
            gsh_numpy_describe_fetch(gsh_py.PyTuple_GetItem(value, j), write);
    }
}

static unsigned row_of_record(struct record *record)
{
    if (record->row == 0)
        record->row = gsh_stats_row(record->ufunc->name, "");
    return record->row;
}

static bool is_of_scipy(const struct record *record)
{
    return record->op >= 0 && (gsh_op_info((enum gsh_op)record->op)->flags & GSH_SPECIAL) != 0;
}

/* Whether loops of this call may run on the device. Loops report errors to NumPy, but not
 * underflow. extobj= is an errstate of the call itself. */
static bool may_admit(PyObject *kwnames)
{
    Py_ssize_t keywords = kwnames ? gsh_py_size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++)
        if (gsh_numpy_keywords_find(gsh_py.PyTuple_GetItem(kwnames, i)) == GSH_KEYWORD_EXTOBJ)
            return false;
    int mask = gsh_numpy_errstate_mask();
    return mask >= 0 &&
           gsh_numpy_errstate_mode((unsigned)mask, GSH_ERRSTATE_UNDER) == GSH_ERRSTATE_IGNORE;
}

/* Calls the original after fetching its operands. Calls that were not priced (a subclass, unusual
 * keywords) may still use the device in their inner loops or BLAS calls, which fetch what they need
 * themselves. */
static PyObject *call_original(struct record *record, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames, enum gsh_reason why, unsigned row)
{
    PyObject *self = (PyObject *)record->ufunc;
    bool loops_decide = record->handler && !record->is_adopted && !is_of_scipy(record) &&
                        (why == GSH_REASON_OPERAND || why == GSH_REASON_KEYWORDS) &&
                        may_admit(kwnames);
    if (row == 0)
        row = row_of_record(record);
    if (!loops_decide) {
        fetch_operands(record->ufunc, args, gsh_py_nargs(nargsf), kwnames);
        uint64_t parallel = gsh_numpy_parallel_count();
        uint64_t begin = gsh_numpy_output_host_begin();
        PyObject *result = gsh_np.call_ufunc(self, args, nargsf, kwnames);
        gsh_numpy_output_host_end(begin, row, why);
        if (gsh_numpy_parallel_count() != parallel)
            gsh_stats_parallel_call(row);
        return gsh_numpy_fallback_pass(result, row, why, args, gsh_py_nargs(nargsf));
    }
    uint64_t device_loops = gsh_numpy_loops_device_calls();
    GSH_WALL_TIME(GSH_WALL_CPU);
    uint64_t begin = gsh_stats_report_is_wanted() ? gsh_clock_ns() : 0;
    bool admitted = gsh_numpy_loops_admit(true);
    PyObject *result = gsh_np.call_ufunc(self, args, nargsf, kwnames);
    gsh_numpy_loops_admit(admitted);
    if (record->op < 0 || gsh_numpy_loops_device_calls() != device_loops)
        return result;
    gsh_stats_host_call(row, (unsigned)why, begin ? gsh_clock_ns() - begin : 0);
    if (GSH_UNLIKELY(gsh_trace_is_on))
        GSH_TRACE_END(begin, CALLS, .row = row, .reason = why);
    return gsh_numpy_fallback_pass(result, row, why, args, gsh_py_nargs(nargsf));
}

static PyObject *try_record(const struct record *record, PyObject *const *args, size_t nargs,
                            PyObject *kwnames, enum gsh_reason *why, unsigned *row)
{
    struct gsh_ufunc_call call;
    *why = GSH_REASON_UNSUPPORTED;
    if (!record->handler)
        return NULL;
    *why = GSH_REASON_ERRSTATE; /* products do not detect errors */
    if (record->op < 0 && !record->is_adopted && !gsh_numpy_errstate_ignores_or_warns())
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_keywords_parse(record->ufunc, args, nargs, kwnames, &call))
        return NULL;
    if (!record->is_adopted && (call.extobj || call.axes))
        return NULL;
    call.op = record->op;
    return record->handler(&call, why, row);
}

PyObject *gsh_numpy_ufunc_try(PyObject *ufunc, PyObject *const *args, size_t nargs,
                              PyObject *kwnames, enum gsh_reason *why, unsigned *row)
{
    const struct record *record = find_record(ufunc);
    *why = GSH_REASON_UNSUPPORTED;
    return record->ufunc ? try_record(record, args, nargs, kwnames, why, row) : NULL;
}

/* The number of arguments: positional and keyword values. */
static inline size_t count_values(size_t nargsf, PyObject *kwnames)
{
    return gsh_py_nargs(nargsf) + (kwnames ? (size_t)gsh_py_size(kwnames) : 0);
}

/* The most common values beside arrays: few enough for a comparison at every call. */
static inline bool is_common_value(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    return type == gsh_py.PyFloat_Type || type == gsh_py.PyLong_Type ||
           type == gsh_np.scalar_types[GSH_FLOAT64] || type == gsh_py.PyComplex_Type;
}

static bool has_shape_of(const struct gsh_ndarray *array, const struct gsh_ndarray *other)
{
    return array->nd == other->nd &&
           memcmp(array->dimensions, other->dimensions, (size_t)array->nd * sizeof(int64_t)) == 0;
}

static bool is_integer(const struct gsh_ndarray *array)
{
    char kind = ((const struct gsh_descr *)array->descr)->kind;
    return kind == 'i' || kind == 'u' || kind == 'b';
}

/* Whether NumPy's iterator may call the loop for several rows, or cast operands. Else it calls it once, and numpy_loops.c shares the
 * call. */
static bool has_rows_or_casts(const struct record *record, PyObject *const *args, size_t count)
{
    const struct gsh_ndarray *first = NULL;
    bool is_one_row = true, has_dimensions = false, has_casts = false, has_fraction = false;
    for (size_t i = 0; i < count; i++) {
        if (!gsh_numpy_is_array(args[i])) {
            if (!is_common_value(args[i]))
                return true;
            has_fraction |= gsh_py_type(args[i]) != gsh_py.PyLong_Type;
            continue;
        }
        const struct gsh_ndarray *array = gsh_numpy_array(args[i]);
        first = first ? first : array;
        has_dimensions |= array->nd > 1;
        is_one_row &= (array->flags & GSH_NPY_C_CONTIGUOUS) != 0 && has_shape_of(array, first);
        has_casts |= array->descr != first->descr;
    }
    has_fraction |= !gsh_op_has_loop((enum gsh_op)record->op, GSH_INT64);
    return (has_dimensions && !is_one_row) || has_casts ||
           (first && is_integer(first) && has_fraction);
}

/* Whether a device, or several cores of the CPU, may compute the call. A call that is not described has no signature in the report. */
static bool may_compute(const struct record *record, PyObject *const *args, size_t count)
{
    return gsh_dispatch_is_live() ||
           (record->op >= 0 && gsh_numpy_parallel_is_on() && !gsh_dispatch_is_inside() &&
            (has_rows_or_casts(record, args, count) || gsh_stats_report_is_wanted()));
}

/* The same for operands of one element each and no output: what lies in arrays on the device is copied. */
static PyObject *call_on_elements(struct record *record, PyObject *const *args, size_t nargsf,
                                  PyObject *kwnames, unsigned row)
{
    struct gsh_single single;
    if (kwnames || !gsh_numpy_single_copy(args, gsh_py_nargs(nargsf), &single))
        return call_original(record, args, nargsf, kwnames, GSH_REASON_SCALAR, row);
    PyObject *result =
        call_original(record, single.values, single.count, NULL, GSH_REASON_SCALAR, row);
    gsh_numpy_single_drop(&single);
    return result;
}

static PyObject *try_or_call_arrays(PyObject *self, PyObject *const *args, size_t nargsf,
                                    PyObject *kwnames)
{
    struct record *record = find_record(self);
    enum gsh_reason why = gsh_dispatch_why_dead();
    unsigned row = 0;
    if (may_compute(record, args, count_values(nargsf, kwnames))) {
        PyObject *result = try_record(record, args, gsh_py_nargs(nargsf), kwnames, &why, &row);
        if (result || why == GSH_REASON_NONE)
            return result;
    }
    return why == GSH_REASON_SCALAR ? call_on_elements(record, args, nargsf, kwnames, row)
                                    : call_original(record, args, nargsf, kwnames, why, row);
}

static PyObject *try_or_call(PyObject *self, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames)
{
    size_t nargs = gsh_py_nargs(nargsf),
           inputs = GSH_MIN(nargs, (size_t)((struct gsh_ufunc *)self)->nin);
    struct gsh_list_operands lists;
    if (GSH_LIKELY(
            !gsh_numpy_list_operands_convert(args, count_values(nargsf, kwnames), inputs, &lists)))
        return try_or_call_arrays(self, args, nargsf, kwnames);
    PyObject *result = try_or_call_arrays(self, lists.values, nargs, kwnames);
    gsh_numpy_list_operands_drop(&lists);
    return result;
}

/* Calls the original for numpy_verify.h. */
static PyObject *call_again(const void *unused, PyObject *self, PyObject *const *values,
                            size_t positional, PyObject *kwnames, PyObject *kwdict)
{
    (void)unused, (void)kwdict;
    return gsh_np.call_ufunc(self, values, positional, kwnames);
}

__attribute__((noinline)) static PyObject *verify(PyObject *self, PyObject *const *args,
                                                  size_t nargsf, PyObject *kwnames)
{
    const struct gsh_ufunc *ufunc = (struct gsh_ufunc *)self;
    const struct gsh_numpy_verify_call call = {.name = ufunc->name,
                                               .self = self,
                                               .values = args,
                                               .positional = gsh_py_nargs(nargsf),
                                               .kwnames = kwnames,
                                               .writes = ~0u << ufunc->nin,
                                               .again = call_again};
    struct gsh_numpy_verify state;
    gsh_numpy_verify_begin(&state, &call);
    return gsh_numpy_verify_end(&state, try_or_call(self, args, nargsf, kwnames));
}

__attribute__((noinline)) static PyObject *call_described(PyObject *self, PyObject *const *args,
                                                          size_t nargsf, PyObject *kwnames)
{
    if (GSH_UNLIKELY(gsh_verify_share_is_on))
        return verify(self, args, nargsf, kwnames);
    return try_or_call(self, args, nargsf, kwnames);
}

/* Scalars and the objects that keywords accept, which have at most one element. For other objects
 * except arrays (sequences, buffers, objects with __array__) the size is unknown. */
static inline bool is_one_value(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    if (is_common_value(object) || type == gsh_py.PyBool_Type || type == gsh_py.PyUnicode_Type ||
        type == gsh_py.PyType_Type || gsh_py_is_none(object) || object == gsh_py._Py_EllipsisObject)
        return true;
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (type == gsh_np.scalar_types[i])
            return true;
    return false;
}

static inline bool is_on_device(const struct gsh_ndarray *array)
{
    return gsh_arena_contains(array->data) && gsh_coherence_is_resident(array->data);
}

/* An upper bound of the elements of a broadcast shape: consecutive operands of the same shape count
 * once, others multiply. */
struct bound {
    int64_t elements, longest; /* of all others; of those with one dimension */
    const struct gsh_ndarray *previous;
};

/* False: the object is on the device or has unknown size. */
static bool extend_bound(struct bound *bound, PyObject *object)
{
    if (is_one_value(object))
        return true;
    if (!gsh_numpy_describe_is_array_like(object)) /* a dtype or its class */
        return gsh_py.PyType_IsSubtype(gsh_py_type(object), gsh_np.descr_type) != 0 ||
               gsh_py.PyType_IsSubtype(gsh_py_type(object), gsh_py.PyType_Type) != 0;
    const struct gsh_ndarray *array = gsh_numpy_array(object), *previous = bound->previous;
    if (is_on_device(array))
        return false;
    if (array->nd == 1)
        bound->longest = GSH_MAX(bound->longest, array->dimensions[0]);
    if (array->nd <= 1 || (previous && has_shape_of(array, previous)))
        return true;
    bound->previous = array;
    return !__builtin_mul_overflow(bound->elements, gsh_numpy_describe_size(array),
                                   &bound->elements);
}

/* A list whose first item is a number has one dimension. */
static bool extend_bound_by_list(struct bound *bound, PyObject *list)
{
    bound->longest = GSH_MAX(bound->longest, (int64_t)gsh_py_size(list));
    return gsh_py_size(list) > 0 && is_common_value(gsh_py.PyList_GetItem(list, 0));
}

/* Whether an elementwise call is too small: no operand is on the device, and the result has fewer
 * elements than the limit. */
static bool is_tiny(PyObject *const *args, size_t count)
{
    struct bound bound = {1, 1, NULL};
    for (size_t i = 0; i < count; i++) {
        PyObject *type = gsh_py_type(args[i]);
        if (type != gsh_py.PyTuple_Type) {
            if (!(type == gsh_py.PyList_Type ? extend_bound_by_list(&bound, args[i])
                                             : extend_bound(&bound, args[i])))
                return false;
            continue;
        }
        for (Py_ssize_t j = 0; j < gsh_py_size(args[i]); j++) /* outputs, or a signature */
            if (!extend_bound(&bound, gsh_py.PyTuple_GetItem(args[i], j)))
                return false;
    }
    return !__builtin_mul_overflow(bound.elements, bound.longest, &bound.elements) &&
           bound.elements < gsh_dispatch_min_elements;
}

/* is_tiny for common values and operands with at most two dimensions. Does not check whether
 * operands in the arena are on the device. False: not decided here. Calls no function, so that the
 * hook below needs no stack frame. */
static inline bool seems_tiny(PyObject *const *args, size_t count)
{
    int64_t rows = 1, columns = 1; /* of the broadcast shape, at most */
    for (size_t i = 0; i < count; i++) {
        if (!gsh_numpy_is_array(args[i])) {
            if (!is_common_value(args[i]))
                return false;
            continue;
        }
        const struct gsh_ndarray *array = gsh_numpy_array(args[i]);
        if (array->nd > 2)
            return false;
        if (array->nd == 2)
            rows = GSH_MAX(rows, array->dimensions[0]);
        if (array->nd > 0)
            columns = GSH_MAX(columns, array->dimensions[array->nd - 1]);
    }
    return gsh_dispatch_min_elements > 1 && !__builtin_mul_overflow(rows, columns, &rows) &&
           rows < gsh_dispatch_min_elements;
}

static bool are_on_host(PyObject *const *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (gsh_numpy_is_array(args[i]) &&
            gsh_coherence_is_resident(gsh_numpy_array(args[i])->data))
            return false;
    return true;
}

/* The same for generalised ufuncs (matmul): the work is bounded by the product of the operands' sizes. Two operands share the
 * last dimension of the first one, which then counts once; the three of lstsq do not. A list as a keyword's value is axes= or
 * extobj=. */
static inline bool is_tiny_product(PyObject *const *args, size_t nargs, size_t count)
{
    int64_t bound = 1;
    for (size_t i = 0; i < count; i++) {
        if (is_one_value(args[i]) || (i >= nargs && gsh_py_type(args[i]) == gsh_py.PyList_Type))
            continue;
        if (!gsh_numpy_describe_is_array_like(args[i]))
            return false;
        const struct gsh_ndarray *array = gsh_numpy_array(args[i]);
        bool shares = i == 0 && nargs == 2;
        int64_t size =
            shares ? gsh_numpy_describe_kept_size(array) : gsh_numpy_describe_size(array);
        if (is_on_device(array) || __builtin_mul_overflow(bound, size, &bound))
            return false;
    }
    return bound < gsh_dispatch_min_elements;
}

/* is_tiny_product for arrays alone. Does not check whether operands in the arena are on the device.
 * False: not decided here. Calls no function. A product that wraps leaves a call to NumPy. */
static inline bool seems_tiny_product(PyObject *const *args, size_t count)
{
    uint64_t bound = 1, limit = (uint64_t)gsh_dispatch_min_elements;
    for (size_t i = 0; i < count; i++) {
        if (!gsh_numpy_is_array(args[i]))
            return false;
        const struct gsh_ndarray *array = gsh_numpy_array(args[i]);
        int kept = array->nd - (i == 0 && count == 2);
        for (int d = 0; d < kept; d++) {
            bound *= (uint64_t)array->dimensions[d];
            if (bound >= limit)
                return false;
        }
    }
    return limit > 1;
}

/* Whether a small call is not among those that are counted. until_sample is 0 if it is, else not. */
static bool is_left_out(PyObject *const *args, size_t count, bool is_small)
{
    if (!is_small || (gsh_coherence_is_in_use() && !are_on_host(args, count)))
        return false;
    if (counted_singly > 0) {
        counted_singly--;
        return false;
    }
    return --until_sample != 0;
}

/* Sampled calls stand for those that were left out. Intervals are random, so that no loop keeps step with them. */
static PyObject *call_counted(PyObject *self, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames)
{
    if (until_sample != 0)
        return call_described(self, args, nargsf, kwnames);
    gsh_stats_weigh(stands_for);
    random_state = random_state * 1664525U + 1013904223U; /* Numerical Recipes */
    until_sample = stands_for = 1 + (random_state >> 8) % (2 * SAMPLE_MEAN);
    PyObject *result = call_described(self, args, nargsf, kwnames);
    gsh_stats_weigh(1);
    return result;
}

__attribute__((noinline)) static PyObject *look_closer(PyObject *self, PyObject *const *args,
                                                       size_t nargsf, PyObject *kwnames)
{
    size_t count = count_values(nargsf, kwnames);
    if (counts_tiny ? is_left_out(args, count, seems_tiny(args, count)) : is_tiny(args, count))
        return gsh_np.call_ufunc(self, args, nargsf, kwnames);
    return call_counted(self, args, nargsf, kwnames);
}

__attribute__((noinline)) static PyObject *look_at_residency(PyObject *self, PyObject *const *args,
                                                             size_t nargsf, PyObject *kwnames)
{
    if (GSH_LIKELY(are_on_host(args, count_values(nargsf, kwnames))))
        return gsh_np.call_ufunc(self, args, nargsf, kwnames);
    return call_described(self, args, nargsf, kwnames);
}

static PyObject *elementwise_hook(PyObject *self, PyObject *const *args, size_t nargsf,
                                  PyObject *kwnames)
{
    calls++;
    if (counts_tiny || !seems_tiny(args, count_values(nargsf, kwnames)))
        return look_closer(self, args, nargsf, kwnames);
    if (GSH_LIKELY(!gsh_coherence_is_in_use()))
        return gsh_np.call_ufunc(self, args, nargsf, kwnames);
    return look_at_residency(self, args, nargsf, kwnames);
}

__attribute__((noinline)) static PyObject *look_at_product(PyObject *self, PyObject *const *args,
                                                           size_t nargsf, PyObject *kwnames)
{
    size_t count = count_values(nargsf, kwnames);
    if (counts_tiny ? is_left_out(args, count, seems_tiny_product(args, count))
                    : is_tiny_product(args, gsh_py_nargs(nargsf), count))
        return gsh_np.call_ufunc(self, args, nargsf, kwnames);
    return call_counted(self, args, nargsf, kwnames);
}

static PyObject *generalised_hook(PyObject *self, PyObject *const *args, size_t nargsf,
                                  PyObject *kwnames)
{
    calls++;
    if (counts_tiny || !seems_tiny_product(args, count_values(nargsf, kwnames)))
        return look_at_product(self, args, nargsf, kwnames);
    if (GSH_LIKELY(!gsh_coherence_is_in_use()))
        return gsh_np.call_ufunc(self, args, nargsf, kwnames);
    return look_at_residency(self, args, nargsf, kwnames);
}

static void install_one(struct gsh_ufunc *ufunc, struct record as)
{
    struct record *record = find_record(ufunc);
    if (record->ufunc || record_count == RECORD_LIMIT || ufunc->vectorcall != gsh_np.call_ufunc)
        return;
    record_count++;
    *record = as;
    record->ufunc = ufunc;
    gsh_py.Py_IncRef((PyObject *)ufunc);
    struct gsh_hook *hook =
        gsh_numpy_hooks_add(as.is_adopted ? "gufunc" : "ufunc", ufunc->name,
                            "try: f(*[a] * f.nin)\nexcept (TypeError, ValueError): pass\n");
    hook->hits = &calls;
    hook->subject = (PyObject *)ufunc;
    ufunc->vectorcall = ufunc->core_enabled ? generalised_hook : elementwise_hook;
}

/* Hooks a ufunc of multiarray. */
static void install_known(struct gsh_ufunc *ufunc)
{
    int op = gsh_numpy_loops_find_op(ufunc);
    gsh_ufunc_handler handler = op >= 0 ? gsh_numpy_elementwise_try : NULL;
    install_one(ufunc, (struct record){.op = op, .handler = handler});
}

void gsh_numpy_ufunc_offer(const char *name, gsh_ufunc_handler handler)
{
    PyObject *ufunc = gsh_py.PyDict_GetItemString(gsh_np.dict, name);
    struct record *record = find_record(ufunc);
    if (ufunc && record->ufunc && record->op < 0)
        record->handler = handler;
}

void gsh_numpy_ufunc_adopt(struct gsh_ufunc *ufunc, gsh_ufunc_handler handler)
{
    install_one(ufunc, (struct record){.op = -1, .handler = handler, .is_adopted = true});
}

void gsh_numpy_ufunc_adopt_op(struct gsh_ufunc *ufunc, enum gsh_op op, gsh_ufunc_handler handler)
{
    install_one(ufunc, (struct record){.op = (int)op, .handler = handler});
}

int gsh_numpy_ufunc_find_op(const struct gsh_ufunc *ufunc)
{
    const struct record *record = find_record(ufunc);
    return record->ufunc ? record->op : -1;
}

void gsh_numpy_ufunc_install(void)
{
    PyObject *add = gsh_py.PyDict_GetItemString(gsh_np.dict, "add");
    if (!add || !gsh_numpy_keywords_init() || !gsh_numpy_promote_init())
        return;
    counts_tiny = gsh_stats_report_counts_tiny();
    counted_singly = gsh_line_profile_is_on ? 0 : COUNTED_SINGLY;
    gsh_np.call_ufunc = ((struct gsh_ufunc *)add)->vectorcall;
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (gsh_py.PyDict_Next(gsh_np.dict, &position, &name, &value))
        if (gsh_py_type(value) == gsh_np.ufunc_type)
            install_known((struct gsh_ufunc *)value);
}
