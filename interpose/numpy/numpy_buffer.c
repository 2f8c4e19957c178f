/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffer protocol of ndarray. mpi4py takes all its addresses from it and passes them to an MPI
 * library, which may pass them to other processes. Those access the memory with process_vm_readv
 * and process_vm_writev at any time until the array is freed, and get EFAULT on protected pages.
 * Therefore, in a process with such a library (unseen.h), an array stays on the host once its
 * buffer was requested. Checked by tests/preload/test_unseen_access.py.
 */
#include "arena.h"
#include "numpy_abi.h"
#include "numpy_hooks.h"
#include "page_changes.h"
#include "unseen.h"

struct py_buffer { /* Py_buffer up to the last field used */
    void *buf;
};
struct py_buffer_procs { /* PyBufferProcs */
    int (*get)(PyObject *exporter, struct py_buffer *view, int flags);
    void (*release)(PyObject *exporter, struct py_buffer *view);
};

static int (*original_get)(PyObject *exporter, struct py_buffer *view, int flags);
static struct gsh_hook *hook;

static int get_buffer(PyObject *exporter, struct py_buffer *view, int flags)
{
    gsh_numpy_hooks_hit(hook);
    int outcome = original_get(exporter, view, flags);
    if (outcome == 0 && gsh_unseen_is_shared() && gsh_arena_contains(view->buf))
        gsh_page_changes_keep_on_host(view->buf, 1);
    return outcome;
}

void gsh_numpy_buffer_install(void)
{
    struct py_buffer_procs *procs = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_as_buffer;
    if (!procs || !procs->get)
        return;
    original_get = procs->get;
    hook = gsh_numpy_hooks_add("buffer", "ndarray", "memoryview(a)");
    __atomic_store_n(&procs->get, get_buffer, __ATOMIC_RELEASE);
}
