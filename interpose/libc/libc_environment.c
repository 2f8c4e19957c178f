/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "libc_environment.h"

#include "base.h"
#include "environment.h"
#include "libc_calls.h"
#include "libc_real.h"

#include <stddef.h>

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_ENVIRONMENT)

GSH_EXPORT char *entry_getenv(const char *name) __asm__("getenv");
char *entry_getenv(const char *name)
{
    char *value = REAL(getenv)(name);
    return value != NULL ? value : gsh_environment_added(name);
}

void gsh_libc_environment_resolve(void)
{
    FIND(getenv);
}
