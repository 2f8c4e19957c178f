/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place that CMake gives the version to: a new version compiles this file alone.
 */
#include "version.h"

const char *gsh_version_get(void)
{
    return GSH_VERSION;
}
