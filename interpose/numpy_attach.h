/* SPDX-License-Identifier: Apache-2.0
 *
 * Attaches gpushim to NumPy. Everything else starts here.
 */
#pragma once

/* Called with the GIL each time NumPy's last core module is about to load. The first call decides
 * for the lifetime of the process: it checks the versions, starts offload/ and patches NumPy. If a
 * check fails, it changes nothing and logs one line at level info. Raises nothing; keeps the Python
 * error state. */
void gsh_numpy_attach(void);
