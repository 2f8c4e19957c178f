/* SPDX-License-Identifier: Apache-2.0
 *
 * The moment NumPy is there: everything begins here, or nothing does.
 */
#pragma once

/* Called with the GIL when NumPy's last core module is about to load, as often as that happens: the
 * first call decides for the life of the process. Checks the versions, starts offload/, patches
 * NumPy. On any doubt it leaves everything as it is, with one line at log level info. Raises
 * nothing; the Python error state stays as it was. */
void gsh_numpy_attach(void);
