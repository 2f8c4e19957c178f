/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders in which pip's packages lie ("<site_packages>/nvidia/..."): a device's libraries are looked for there too. They are
 * added before the device starts, and only read afterwards.
 */
#pragma once

#define GSH_SEARCH_ROOTS_MAX 8

/* One more, e.g. one of sys.path. Copied; relative ones, repetitions and those beyond the eighth are ignored. GIL. */
void gsh_search_roots_add(const char *site_packages);
/* NULL: there are not so many. */
const char *gsh_search_roots_get(unsigned index);
