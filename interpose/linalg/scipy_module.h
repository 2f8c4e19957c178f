/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks functions in an extension module of SciPy or of numpy.random, which is imported only if the program needs it.
 * The dlopen hook runs before the module is loaded, so the hooks are installed by a pending call
 * when the interpreter next runs bytecode of the main thread.
 */
#pragma once

#include "numpy_method_patch.h"

struct gsh_scipy_module {
    struct gsh_method_hook *const *hooks;
    size_t count;
    unsigned tries;
};
/* Called before the module is opened. Hooks it once it is loaded. `module` must stay valid. Any
 * thread. */
void gsh_scipy_module_adopt(struct gsh_scipy_module *module);
