/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of reasons.def.
 */
#include "reasons.h"

const char *const gsh_reason_codes[GSH_REASON_COUNT] = {
#define X(name, code, text) code,
#include "reasons.def"
#undef X
};

const char *const gsh_reason_texts[GSH_REASON_COUNT] = {
#define X(name, code, text) text,
#include "reasons.def"
#undef X
};
