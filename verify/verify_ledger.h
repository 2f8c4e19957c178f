/* SPDX-License-Identifier: Apache-2.0
 *
 * What was verified: counts, and the differences by call and line. It is a section of the report, and one line on stderr at exit
 * where something differed. Notes are taken with the GIL; reading takes no lock.
 */
#pragma once

#include "verify_compare.h"

/* Why a call that the device computed, and that was chosen, was not compared. */
enum gsh_verify_gap {
    GSH_VERIFY_GAP_ARGUMENTS, /* NumPy may not be asked a second time: an argument is an object of the program's */
    GSH_VERIFY_GAP_OUTPUT,   /* what the call writes is not known, or could not be copied */
    GSH_VERIFY_GAP_RAISED,   /* the second run raised an exception */
    GSH_VERIFY_GAP_RESULT,   /* the result is no array of numbers */
    GSH_VERIFY_GAP_CONTRACT, /* the contract does not say how far the result may be */
    GSH_VERIFY_GAPS
};

/* The call's line, as the program would name it. `file` is copied and cut. */
struct gsh_verify_place {
    char file[256];
    int line;
};

/* Adds the section. Once, where calls are verified. */
void gsh_verify_ledger_init(void);
void gsh_verify_ledger_note_checked(void);
void gsh_verify_ledger_note_gap(enum gsh_verify_gap gap);
/* A call that differs; `call` is copied and cut, `shape` gives the index its dimensions. */
void gsh_verify_ledger_note_different(const char *call, const struct gsh_verify_place *place,
                                      const struct gsh_verify_outcome *outcome,
                                      const struct gsh_verify_array *shape);
/* The line at exit. Does nothing where nothing differed, and in a forked child. */
void gsh_verify_ledger_tell_at_exit(void);
