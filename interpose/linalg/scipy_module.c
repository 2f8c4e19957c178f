/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "scipy_module.h"

#include "numpy_ufunc.h"

#define MOST_TRIES (1U << 16) /* pending calls between the opening of the module and its end */

/* The last one is looked for first: while the module is being imported, it is not there yet. */
static bool is_there(const struct gsh_scipy_module *module)
{
    size_t left = module->count;
    while (left > 0 && gsh_numpy_method_patch_finds(module->hooks[left - 1]))
        left--;
    return left == 0;
}

/* Called by the interpreter between two bytecodes of the main thread. */
static int install(void *what)
{
    struct gsh_scipy_module *module = what;
    if (!is_there(module) && module->tries++ < MOST_TRIES &&
        gsh_py.Py_AddPendingCall(install, what) == 0)
        return 0;
    for (size_t i = 0; i < module->count; i++)
        if (!module->hooks[i]->original)
            gsh_numpy_method_patch_install(module->hooks[i]);
    return 0;
}

void gsh_scipy_module_adopt(struct gsh_scipy_module *module)
{
    if (gsh_np.call_ufunc && !module->hooks[0]->original)
        gsh_py.Py_AddPendingCall(install, module);
}
