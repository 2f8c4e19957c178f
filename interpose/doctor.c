/* SPDX-License-Identifier: Apache-2.0
 *
 * Composes the doctor's text in its own buffer and writes it with one call that bypasses the
 * interposed write.
 */
#include "doctor.h"

#include "backend.h"
#include "device.h"
#include "mangling.h"
#include "numpy_abi.h"
#include "numpy_hooks.h"
#include "options.h"
#include "pin.h"
#include "python_error.h"
#include "version.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT_SIZE = 64 * 1024 };

static const char *device_state(void)
{
    switch (gsh_device_get_state()) {
    case GSH_DEVICE_IDLE:
        return "not started";
    case GSH_DEVICE_STARTING:
        return "starting";
    case GSH_DEVICE_READY:
        return "ready";
    default:
        return "retired";
    }
}

static void describe_page_locked(struct gsh_fmt *fmt)
{
    const double mib = 1.0 / (1 << 20);
    if (!gsh_pin_is_possible())
        return;
    struct gsh_pin_state state = gsh_pin_get_state();
    gsh_fmt_printf(fmt, "page-locked    %.0f MiB of at most %.0f MiB, refused %zu times\n",
                   (double)state.bytes * mib, (double)state.limit * mib, state.refusals);
}

void gsh_doctor_describe_device(struct gsh_fmt *fmt)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (!backend) {
        bool is_cpu = gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_CPU;
        gsh_fmt_text(fmt, is_cpu ? "device: none, the CPU's cores\n" : "device: none\n");
        if (gsh_option_number(GSH_OPTION_MODE) != GSH_MODE_OFF &&
            gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_AUTO)
            gsh_cuda_backend.describe(fmt); /* which libraries were searched */
        return;
    }
    gsh_fmt_printf(fmt, "device: %s, %s\n", backend->name, device_state());
    backend->describe(fmt);
    describe_page_locked(fmt);
}

static void describe_numpy(struct gsh_fmt *fmt)
{
    if (!gsh_np.library) {
        bool is_off = gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_OFF;
        gsh_fmt_printf(fmt, "numpy: not %s\n", is_off ? "looked at" : "recognised");
        return;
    }
    const char *python = gsh_py.Py_GetVersion();
    gsh_fmt_printf(fmt, "numpy: %s, C-API feature version %#x, Python %.*s\n",
                   gsh_np.version[0] ? gsh_np.version : "version unknown", gsh_np.feature,
                   (int)strcspn(python, " "), python);
    gsh_fmt_printf(fmt, "numpy's BLAS: %s\n", gsh_mangling_describe_blas(gsh_np.library));
}

static void write_all(const char *text, size_t length)
{
    while (length > 0) {
        long written = syscall(SYS_write, STDERR_FILENO, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

static void print_all(const char *dormant)
{
    char *text = malloc(TEXT_SIZE);
    if (!text)
        return;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, TEXT_SIZE);
    gsh_fmt_text(&fmt, "gpushim doctor\n");
    gsh_fmt_printf(&fmt, "version: %s\n", gsh_version_get());
    gsh_fmt_printf(&fmt, "state: %s%s\n", dormant ? "dormant: " : "active", dormant ? dormant : "");
    gsh_doctor_describe_device(&fmt);
    describe_numpy(&fmt);
    if (!dormant) {
        gsh_numpy_hooks_self_test();
        gsh_numpy_hooks_describe(&fmt);
    }
    gsh_options_describe(&fmt);
    write_all(text, fmt.length);
    free(text);
}

/* Whether the numpy package's own code is still being imported. */
static bool numpy_is_initialising(void)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *numpy = modules ? gsh_py.PyDict_GetItemString(modules, "numpy") : NULL;
    PyObject *spec = numpy ? gsh_py.PyObject_GetAttrString(numpy, "__spec__") : NULL;
    PyObject *flag = spec ? gsh_py.PyObject_GetAttrString(spec, "_initializing") : NULL;
    bool initialising = flag && gsh_py.PyObject_IsTrue(flag) == 1;
    if (flag)
        gsh_py.Py_DecRef(flag);
    if (spec)
        gsh_py.Py_DecRef(spec);
    gsh_python_error_clear();
    return initialising;
}

/* Called by the interpreter between two bytecodes of the main thread. */
static int print_when_complete(void *unused)
{
    if (numpy_is_initialising() && gsh_py.Py_AddPendingCall(print_when_complete, unused) == 0)
        return 0;
    print_all(NULL);
    return 0;
}

void gsh_doctor_schedule(const char *dormant)
{
    if (dormant || gsh_py.Py_AddPendingCall(print_when_complete, NULL) != 0)
        print_all(dormant ? dormant : "the hooks could not be tested");
}
