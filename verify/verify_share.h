/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls are verified (GPUSHIM_VERIFY). The choice depends on the number of the call alone, so that a program that makes the
 * same calls has the same ones verified. Any thread.
 */
#pragma once

#include "base.h"

/* A bad value of the option gives a line on stderr. Once, when NumPy is found. */
void gsh_verify_share_check(void);
/* Reads the option; a bad value verifies nothing. Once, at attach. */
void gsh_verify_share_init(void);
/* Whether any call is verified. */
extern bool gsh_verify_share_is_on;
/* Whether the next call is. Called once for each call. */
bool gsh_verify_share_chooses(void);
/* The option's text: "all", "1%". */
const char *gsh_verify_share_text(void);
/* "all", a word for on (all) or off (0), or a percentage (gsh_option_words_percent). *share: 0 .. 1. */
bool gsh_verify_share_parse(const char *text, double *share);
/* Whether call `number` is chosen, of which `share` are. */
bool gsh_verify_share_is_chosen(uint64_t number, double share);
