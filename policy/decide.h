/* SPDX-License-Identifier: Apache-2.0
 *
 * Device or CPU, from numbers alone. Rent or buy: time lost by leaving data on the wrong side adds
 * up, and the data moves once that exceeds the move, so that no access pattern costs more than
 * twice the best choice in hindsight.
 */
#pragma once

#include "reasons.h"

struct gsh_facts {
    double host;     /* s on the CPU, its operands being there */
    double device;   /* s on the device, its operands being there */
    double upload;   /* s to bring to the device what it lacks */
    double download; /* s to bring home what the CPU would lack */
    double fetch;    /* s expected for the host to fetch the result afterwards (its history) */
    double debt;     /* s lost so far by leaving these operands on the host */
};

struct gsh_verdict {
    enum gsh_reason reason; /* NONE: the device; TOO_SMALL or DATA_ON_HOST otherwise */
    double gain;            /* s won by the device, uploads not counted; may be negative */
    double watched; /* s on the CPU before they were corrected, set by price.h; 0: they never are */
    bool has_data;  /* the CPU lacks some of the operands: the device has them */
    bool is_asked;  /* an option says that the call is to run there, whatever it gains */
};

struct gsh_verdict gsh_decide(const struct gsh_facts *facts);
