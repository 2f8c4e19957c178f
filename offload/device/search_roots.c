/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "search_roots.h"

#include <stddef.h>
#include <string.h>

static char *roots[GSH_SEARCH_ROOTS_MAX];
static unsigned root_count;

void gsh_search_roots_add(const char *site_packages)
{
    if (site_packages[0] != '/')
        return;
    for (unsigned i = 0; i < root_count; i++)
        if (strcmp(roots[i], site_packages) == 0)
            return;
    if (root_count == GSH_SEARCH_ROOTS_MAX)
        return;
    char *copy = strdup(site_packages);
    if (copy != NULL)
        roots[root_count++] = copy;
}

const char *gsh_search_roots_get(unsigned index)
{
    return index < root_count ? roots[index] : NULL;
}
