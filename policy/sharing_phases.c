/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "sharing_phases.h"

const struct gsh_ab_rules gsh_sharing_phases = {.close = 500e-6,
                                                .warm = 300e-6, /* threads wake, caches fill */
                                                .measured = 2e-3,
                                                .gain = 0.95F,
                                                .tried = 8,
                                                .retried = 32,
                                                .confirmed_most = 3};
