/* SPDX-License-Identifier: Apache-2.0
 *
 * Reason codes: reasons.def as an enum and its names.
 */
#pragma once

#include "base.h"

enum gsh_reason {
#define X(name, ...) GSH_REASON_##name,
#include "reasons.def"
#undef X
    GSH_REASON_COUNT
};

extern const char *const gsh_reason_codes[GSH_REASON_COUNT];
extern const char *const gsh_reason_texts[GSH_REASON_COUNT];
extern const char *const gsh_reason_advice[GSH_REASON_COUNT]; /* "": none */
extern const bool gsh_reason_is_fallback[GSH_REASON_COUNT];
