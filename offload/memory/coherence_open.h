/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening chunks to the host without the device: those of which the host's pages hold the newest bytes (SHARED), or whose
 * contents are nobody's (BLANK). All of it may run in the fault handler: it changes protections and states, and takes no lock
 * but, by trying, those of blocks. Chunks that only the device holds are fetched by coherence.c.
 */
#pragma once

#include "arena_internal.h"

/* Chunks first..last, which have one state, readable (write false) or readable and writeable (write true). Caller holds the
 * block. DECLINED: only the device holds them. FAILED: the system refuses; as before. */
enum gsh_status gsh_coherence_open_run_sigsafe(struct gsh_block *block, unsigned first,
                                               unsigned last, bool write);
/* Chunks first..last readable and writeable, whatever states they have. As gsh_coherence_open_run_sigsafe; drops a value that
 * is of no use any more. */
enum gsh_status gsh_coherence_open_sigsafe(struct gsh_block *block, unsigned first, unsigned last);
/* The same of the whole block where mappings are short: what lies between it and the next open block is opened first, as far
 * as nobody holds it and the host has it, so that it takes no mapping of its own. */
enum gsh_status gsh_coherence_open_joined_sigsafe(struct gsh_block *block);

/* Drops the value of a block none of whose chunks the device holds. Caller holds the block. */
void gsh_coherence_open_drop_stale_sigsafe(struct gsh_block *block);

/* ---- what lies between two blocks ---- */

/* Whether both ends of the block are open. Caller holds it, or can do with an answer that is stale. */
bool gsh_coherence_open_is_open_sigsafe(const struct gsh_block *block);
/* The nearest open block on that side; NULL: none, or too far away. */
struct gsh_block *gsh_coherence_open_find_sigsafe(const struct gsh_block *block, bool above);
/* The next one from `other` towards `block`, above or below; held for the caller but where it is `block`. NULL: there is none,
 * or somebody holds it. */
struct gsh_block *gsh_coherence_open_next_sigsafe(const struct gsh_block *block,
                                                  const struct gsh_block *other, bool above);
/* Opens such a block without the device. Caller holds it. False: recorded nodes write its contents, only the device holds
 * some of them, or the system refuses. */
bool gsh_coherence_open_other_sigsafe(struct gsh_block *other);
