/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "environment.h"

#include "base.h"

#include <string.h>

static _Thread_local const char *added_name, *added_value;

void gsh_environment_add(const char *name, const char *value)
{
    added_name = name;
    added_value = value;
}

char *gsh_environment_added(const char *name)
{
    if (GSH_LIKELY(added_name == NULL) || strcmp(name, added_name) != 0)
        return NULL;
    return (char *)(uintptr_t)added_value; /* as getenv, whose callers do not write to it */
}
