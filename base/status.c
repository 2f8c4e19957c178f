/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of status.def.
 */
#include "status.h"

const char *gsh_status_text(enum gsh_status status)
{
    switch (status) {
#define X(name, text)                                                                              \
    case GSH_##name:                                                                               \
        return text;
#include "status.def"
#undef X
    }
    return "unknown status";
}
