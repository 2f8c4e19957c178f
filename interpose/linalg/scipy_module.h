/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks of functions in an extension module of SciPy, which is imported when a program asks for it, if ever. They are
 * installed when the interpreter next runs bytecode of the main thread, since the module is only being opened when we
 * hear of it.
 */
#pragma once

#include "numpy_method_patch.h"

struct gsh_scipy_module {
    struct gsh_method_hook *const *hooks;
    size_t count;
    unsigned tries;
};
/* Called before the module is opened: hooks it as soon as it is there. `module` stays. Any thread. */
void gsh_scipy_module_adopt(struct gsh_scipy_module *module);
