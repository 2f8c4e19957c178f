/* SPDX-License-Identifier: Apache-2.0
 *
 * What np.errstate asks for in this thread or context. GIL; sets no Python error.
 */
#pragma once

#include "base.h"

/* Finds where this NumPy keeps the state. Once, at attach. */
void gsh_numpy_errstate_init(void);
/* True where every kind of floating-point error is ignored or warned about; false where one asks
 * for an exception, a callback, a print or a log, or where the state cannot be read. */
bool gsh_numpy_errstate_is_quiet(void);
