/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of this library, as CMakeLists.txt's project() states it.
 */
#pragma once

/* "MAJOR.MINOR.PATCH", a static string. Any thread, also a signal handler. */
const char *gsh_version_get(void);
