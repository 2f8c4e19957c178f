/* SPDX-License-Identifier: Apache-2.0
 *
 * How many calls of an operation are left to the CPU after the device refused one (a singular matrix, say), because a refused
 * call is computed twice: exponential back-off. After the first refusal one call is left to the CPU, after each further
 * refusal in a row twice as many, at most 1024. A call that the device completes ends the row of refusals; calls that are
 * still to be left to the CPU remain so. Pure: each function gives the state that follows.
 */
#pragma once

#include "base.h"

struct gsh_back_off {
    uint32_t refused; /* calls in a row */
    uint32_t left;    /* calls that are still to be left to the CPU */
};

struct gsh_back_off gsh_back_off_after_refused(struct gsh_back_off state);
struct gsh_back_off gsh_back_off_after_completed(struct gsh_back_off state);
/* Whether the next call that the device would get is left to the CPU; then gsh_back_off_after_left gives the state. */
bool gsh_back_off_is_due(struct gsh_back_off state);
struct gsh_back_off gsh_back_off_after_left(struct gsh_back_off state);
