/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "environment.h"

#include "base.h"

#include <string.h>

static _Thread_local const char *added_name, *added_value;
static const char *default_name, *default_value;

void gsh_environment_add(const char *name, const char *value)
{
    added_name = name;
    added_value = value;
}

void gsh_environment_set_default(const char *name, const char *value)
{
    default_name = name;
    default_value = value;
}

static bool is_named(const char *known, const char *name)
{
    return known != NULL && strcmp(known, name) == 0;
}

char *gsh_environment_added(const char *name)
{
    const char *value = is_named(added_name, name)     ? added_value
                        : is_named(default_name, name) ? default_value
                                                       : NULL;
    return (char *)(uintptr_t)value; /* as getenv, whose callers do not write to it */
}
