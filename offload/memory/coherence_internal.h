/* SPDX-License-Identifier: Apache-2.0
 *
 * What coherence.c offers to the rest of offload/ only. `_held`: the caller holds the block.
 */
#pragma once

#include "block.h"
#include "coherence.h"
#include "status.h"

/* Chunks first..last readable by the device: HOST chunks are protected, then uploaded into
 * block->value (which exists and has no other user) -> SHARED; BLANK -> DEVICE. Caller also holds
 * the DISPATCH lock. DECLINED: a system call writes to the block. FAILED: the device refused; as
 * before. */
enum gsh_status gsh_coherence_upload_held(struct gsh_block *block, unsigned first, unsigned last);

/* Whether any chunk of first..last is the host's own. */
bool gsh_coherence_has_to_upload_held(const struct gsh_block *block, unsigned first, unsigned last);

/* Brings everything home that only the device holds and drops the value; no chunk is resident
 * afterwards. FAILED: it could not be fetched; as before. */
enum gsh_status gsh_coherence_evict_held(struct gsh_block *block);
/* Brings everything home that only the device holds: no chunk is DEVICE or BLANK afterwards. */
enum gsh_status gsh_coherence_fetch_all_held(struct gsh_block *block);
/* Ends the process with the line that names the block: its newest contents are lost. */
void gsh_coherence_stop_held(const struct gsh_block *block);
/* Puts a chunk back into the state it had before a step that failed; stops the process where the system refuses, since the
 * chunk's bytes could not be reached any more. */
void gsh_coherence_restore_held(struct gsh_block *block, unsigned chunk,
                                enum gsh_chunk_state state);

/* What the fault handler leaves to the service thread (coherence_fault.h): fetches the chunk, and more where faults come in sequence. */
void gsh_coherence_serve_fault(const void *address, bool write);

/* Deliberate faults for the stress test, which must notice each of them: 0 in production. */
enum gsh_coherence_bug { GSH_BUG_NONE, GSH_BUG_UPLOAD_BEFORE_TIGHTEN, GSH_BUG_OPEN_BEFORE_FILL };
extern enum gsh_coherence_bug gsh_coherence_injected_bug;
