/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of reasons.def.
 */
#include "reasons.h"

const char *const gsh_reason_codes[GSH_REASON_COUNT] = {
#define X(name, code, text, is_fallback, advice) code,
#include "reasons.def"
#undef X
};

const char *const gsh_reason_texts[GSH_REASON_COUNT] = {
#define X(name, code, text, is_fallback, advice) text,
#include "reasons.def"
#undef X
};

const char *const gsh_reason_advice[GSH_REASON_COUNT] = {
#define X(name, code, text, is_fallback, advice) advice,
#include "reasons.def"
#undef X
};

const bool gsh_reason_is_fallback[GSH_REASON_COUNT] = {
#define X(name, code, text, is_fallback, advice) is_fallback,
#include "reasons.def"
#undef X
};
