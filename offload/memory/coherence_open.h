/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens chunks to the host without the device: chunks whose newest bytes are in the host's pages (SHARED), or whose
 * contents are undefined (BLANK). All of it may run in the fault handler: it changes protections and states, and only
 * tries to take the locks of blocks. coherence.c fetches chunks that only the device holds.
 */
#pragma once

#include "arena_internal.h"

/* Makes chunks first..last, which have one state, readable (write false) or readable and writeable (write true).
 * Caller holds the block. DECLINED: only the device holds them. FAILED: the system refuses; nothing has changed. */
enum gsh_status gsh_coherence_open_run_sigsafe(struct gsh_block *block, unsigned first,
                                               unsigned last, bool write);
/* Makes chunks first..last readable and writeable, whatever their states. Drops a stale value. Otherwise as
 * gsh_coherence_open_run_sigsafe. */
enum gsh_status gsh_coherence_open_sigsafe(struct gsh_block *block, unsigned first, unsigned last);
/* The same for the whole block where mappings are short. Blocks between it and the next open block are opened first,
 * if no thread holds them and the host has their contents, so that the block takes no mapping of its own. */
enum gsh_status gsh_coherence_open_joined_sigsafe(struct gsh_block *block);

/* Drops the value of a block that has no resident chunk. Caller holds the block. */
void gsh_coherence_open_drop_stale_sigsafe(struct gsh_block *block);

/* ---- blocks between two others ---- */

/* Whether both ends of the block are open. Caller holds it, or tolerates a stale answer. */
bool gsh_coherence_open_is_open_sigsafe(const struct gsh_block *block);
/* The nearest open block above or below; NULL: none, or too far away. */
struct gsh_block *gsh_coherence_open_find_sigsafe(const struct gsh_block *block, bool above);
/* The next block from `other` towards `block`, above or below; held for the caller unless it is `block`. NULL: there
 * is none, or another thread holds it. */
struct gsh_block *gsh_coherence_open_next_sigsafe(const struct gsh_block *block,
                                                  const struct gsh_block *other, bool above);
/* Opens such a block without the device. Caller holds it. False: pending nodes write its contents, only the device
 * holds some of them, or the system refuses. */
bool gsh_coherence_open_other_sigsafe(struct gsh_block *other);
