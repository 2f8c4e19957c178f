/* SPDX-License-Identifier: Apache-2.0
 *
 * The outcome of an internal call. DECLINED promises that nothing was touched. FAILED before the
 * commit point (the first change a host reader could see) promises the same.
 */
#pragma once

enum gsh_status {
#define X(name, text) GSH_##name,
#include "status.def"
#undef X
};

/* Returns early from the enclosing function with any outcome but OK. */
#define GSH_TRY(expression)                                                                        \
    do {                                                                                           \
        enum gsh_status gsh_try_status = (expression);                                             \
        if (gsh_try_status != GSH_OK)                                                              \
            return gsh_try_status;                                                                 \
    } while (0)
