/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of coherence.c for the rest of offload/. `_held`: the caller holds the block.
 */
#pragma once

#include "block.h"
#include "coherence.h"
#include "status.h"

/* Makes chunks first..last readable by the device. HOST chunks are protected, then uploaded into block->value (which
 * exists and has no other user), and become SHARED; BLANK chunks become DEVICE. Caller also holds the DISPATCH lock.
 * DECLINED: a system call writes to the block. FAILED: the device refused; the chunks it refused are as before. */
enum gsh_status gsh_coherence_upload_held(struct gsh_block *block, unsigned first, unsigned last);

/* Whether any chunk of first..last is HOST. */
bool gsh_coherence_has_to_upload_held(const struct gsh_block *block, unsigned first, unsigned last);

/* Fetches everything that only the device holds and drops the value; no chunk is resident afterwards. FAILED: it
 * could not be fetched, and stays on the device. */
enum gsh_status gsh_coherence_evict_held(struct gsh_block *block);
/* Fetches everything that only the device holds: no chunk is DEVICE or BLANK afterwards. */
enum gsh_status gsh_coherence_fetch_all_held(struct gsh_block *block);
/* Ends the process with one line that names the block: its newest contents are lost. */
void gsh_coherence_stop_held(const struct gsh_block *block);
/* Restores a chunk's state after a failed step. Stops the process where the system refuses, since the chunk's bytes
 * could not be reached any more. */
void gsh_coherence_restore_held(struct gsh_block *block, unsigned chunk,
                                enum gsh_chunk_state state);

/* Serves a fault on the service thread (coherence_fault.h): fetches the chunk, and further chunks where faults come
 * in sequence. */
void gsh_coherence_serve_fault(const void *address, bool write);

/* Deliberate bugs for the stress test, which must detect each of them; none in production. */
enum gsh_coherence_bug { GSH_BUG_NONE, GSH_BUG_UPLOAD_BEFORE_TIGHTEN, GSH_BUG_OPEN_BEFORE_FILL };
extern enum gsh_coherence_bug gsh_coherence_injected_bug;
