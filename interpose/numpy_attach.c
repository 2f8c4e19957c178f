/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the version gates, then the start-up, then the hook families in a fixed order. Runs once,
 * with the GIL, inside NumPy's own import. Only C modules are complete at that time, so nothing
 * here uses the numpy package itself.
 */
#include "numpy_attach.h"

#include "arena.h"
#include "blas_entry.h"
#include "blas_libraries.h"
#include "device.h"
#include "doctor.h"
#include "host_routines.h"
#include "idle.h"
#include "last_run.h"
#include "libc_signal.h"
#include "log.h"
#include "mangling.h"
#include "numpy_abi.h"
#include "numpy_errstate.h"
#include "numpy_fallback.h"
#include "numpy_hooks.h"
#include "numpy_parallel.h"
#include "numpy_verify.h"
#include "options.h"
#include "python_advice.h"
#include "python_error.h"
#include "python_line.h"
#include "python_text.h"
#include "report_verdict.h"
#include "search_roots.h"
#include "startup.h"
#include "unseen.h"

#include <dlfcn.h>
#include <string.h>

/* NumPy 2 first: its numpy.core names are Python stubs. */
static PyObject *find_module(void)
{
    static const char *const names[] = {"numpy._core._multiarray_umath",
                                        "numpy.core._multiarray_umath"};
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    for (size_t i = 0; modules && i < GSH_COUNT(names); i++) {
        PyObject *module = gsh_py.PyDict_GetItemString(modules, names[i]);
        if (module)
            return module;
    }
    return NULL;
}

/* pip's CUDA packages lie beside NumPy's folder or in another folder of sys.path. */
static void add_search_roots(void)
{
    PyObject *path = gsh_py.PySys_GetObject("path");
    if (!path || gsh_py_type(path) != gsh_py.PyList_Type)
        return;
    for (Py_ssize_t i = 0; i < gsh_py.PyList_Size(path); i++) {
        PyObject *entry = gsh_py.PyList_GetItem(path, i);
        const char *text =
            gsh_py_type(entry) == gsh_py.PyUnicode_Type ? gsh_python_text_utf8(entry) : NULL;
        if (text && strstr(text, "-packages"))
            gsh_search_roots_add(text);
    }
    gsh_python_error_clear();
}

/* Registers NumPy's own BLAS with the host device and looks up the CBLAS functions that NumPy's core
 * module calls. */
static void register_blas(void)
{
    static const struct {
        enum gsh_dtype dtype;
        const char *name;
    } functions[] = {{GSH_FLOAT32, "cblas_sgemm"},
                     {GSH_FLOAT64, "cblas_dgemm"},
                     {GSH_COMPLEX64, "cblas_cgemm"},
                     {GSH_COMPLEX128, "cblas_zgemm"}};
    for (size_t i = 0; i < GSH_COUNT(functions); i++) {
        int bits = 0;
        void *gemm = gsh_mangling_find_blas(functions[i].name, gsh_np.library, &bits);
        if (gemm != NULL)
            gsh_host_routines_register(gsh_host_routines_product(GSH_GEMM_GE), functions[i].dtype,
                                       (gsh_host_routines_function *)gemm, bits);
    }
    gsh_blas_entry_expect(dlsym(gsh_np.library, "PyInit__multiarray_umath"));
}

static void install_shared(void)
{
#define X(family) gsh_numpy_##family##_install_without_device();
    GSH_NUMPY_CORES_FAMILIES(X)
#undef X
    gsh_numpy_hooks_rehash();
}

/* What runs NumPy's loops and copies on several cores, and keeps freed memory for the next arrays, without a device. */
static void install_without_device(void)
{
    if (gsh_arena_end != 0)
        gsh_numpy_alloc_install();
    gsh_numpy_errstate_init();
    gsh_numpy_ufunc_install();
    gsh_numpy_parallel_install();
    gsh_numpy_loops_install();
    if (gsh_arena_end != 0 && gsh_numpy_parallel_is_on())
        install_shared();
}

static void install_families(void)
{
    gsh_numpy_errstate_init();
#define X(family) gsh_numpy_##family##_install();
    GSH_NUMPY_FAMILIES(X)
#undef X
    gsh_numpy_hooks_rehash();
    gsh_numpy_reduce_learn();
}

/* Everything before the patches. The reason for a failure (static text), or NULL. */
static const char *start(void)
{
    const char *why = NULL;
    gsh_startup_report();
    if (gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_OFF)
        return "GPUSHIM_MODE is off";
    PyObject *module = find_module();
    if (!module)
        return "NumPy's core module was not found";
    if (gsh_numpy_abi_init(module, &why) != GSH_OK)
        return why;
    add_search_roots();
    register_blas();
    gsh_blas_libraries_register(gsh_np.library);
    gsh_unseen_note_loaded();
    if (gsh_startup(&why) != GSH_OK)
        return why;
    gsh_numpy_fallback_init();
    gsh_python_line_init();
    if (!gsh_startup_has_device()) {
        gsh_py.Py_AtExit(gsh_idle_end);
        install_without_device();
        return NULL;
    }
    gsh_numpy_verify_init();
    gsh_libc_signal_adopt();
    gsh_startup_device();
    /* the interpreter runs these last, the latter first, before the C library's exit functions shut the driver down */
    gsh_py.Py_AtExit(gsh_last_run_leave);
    gsh_py.Py_AtExit(gsh_device_stop_threads);
    install_families();
    gsh_python_advice_install();
    return NULL;
}

void gsh_numpy_attach(void)
{
    static bool done;
    const char *why = NULL;
    if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
        return;
    gsh_options_announce();
    if (gsh_python_api_init(&why) != GSH_OK) {
        gsh_log(GSH_LOG_INFO, "dormant: %s", why);
        return;
    }
    PyObject *type, *value, *traceback;
    gsh_py.PyErr_Fetch(&type, &value, &traceback);
    why = start();
    gsh_report_verdict_set_inactive(why);
    if (why)
        gsh_log(GSH_LOG_INFO, "dormant: %s", why);
    if (gsh_option_number(GSH_OPTION_DOCTOR))
        gsh_doctor_schedule(why);
    gsh_python_error_clear();
    gsh_py.PyErr_Restore(type, value, traceback);
}
