/* SPDX-License-Identifier: Apache-2.0
 *
 * Who brings data back to the host: bytes that were downloaded, by the function of NumPy that read them, or by the library whose
 * code did. A thread names the function that it reads for (GSH_READER). Without a name a page fault counts for the code that
 * faulted. Rows are static memory, made without a lock; counters are relaxed atomics. Any thread; functions that end in `_sigsafe`
 * may run in a signal handler.
 */
#pragma once

#include "fmt.h"

enum { GSH_READERS_MAX = 256 };

struct gsh_reader {
    const char *name; /* kept, not copied; NULL: none, the code counts */
    /* Of the access that faulted, and the word at its stack pointer: a function without a frame, such as memcpy, has its caller's
     * address there. 0: no fault. */
    uintptr_t instruction, caller;
};

struct gsh_readers_row {
    struct gsh_reader reader; /* addresses are those of pages */
    uint64_t bytes, transfers;
};

/* From now on this thread reads for that reader. Returns the one before. */
struct gsh_reader gsh_readers_swap_sigsafe(struct gsh_reader reader);
struct gsh_reader gsh_readers_here_sigsafe(void);
/* This thread has downloaded so many bytes. Returns the row in which they count. */
unsigned gsh_readers_count_sigsafe(uint64_t bytes);
/* Sets all counts to 0, in a forked child. */
void gsh_readers_forget_after_fork(void);

/* `row` is below GSH_READERS_MAX; row 0 is what no reader is known of, or what found no room. False: nothing was counted. */
bool gsh_readers_get(unsigned row, struct gsh_readers_row *copy);

static inline void gsh_readers_restore(const struct gsh_reader *before)
{
    gsh_readers_swap_sigsafe(*before);
}

/* Until the block's end this thread reads for the function of that name. */
#define GSH_READER(function)                                                                       \
    const struct gsh_reader gsh_reader_before                                                      \
        __attribute__((cleanup(gsh_readers_restore), unused)) =                                    \
            gsh_readers_swap_sigsafe((struct gsh_reader){.name = (function)})
