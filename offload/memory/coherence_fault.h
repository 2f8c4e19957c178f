/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that the handler resolves itself: it opens pages whose newest bytes the host has. Faults that need the
 * device go to the service thread (gsh_coherence_serve_fault); no function that could call the device is reachable
 * from here. Checked by tests/rules/test_sigsafe.py.
 */
#pragma once

#include "block.h"

enum gsh_fault_outcome {
    GSH_FAULT_RESOLVED,      /* repeat the instruction */
    GSH_FAULT_ALREADY_OPEN,  /* repeat it: the page allows the access now */
    GSH_FAULT_PROGRAMS,      /* likewise, unless the program has protected it: repeat it once */
    GSH_FAULT_NEEDS_SERVICE, /* the handler cannot do the device work that is needed */
    GSH_FAULT_UNMANAGED      /* not a protected page of a live block */
};

/* Waits for the block's lock, which the thread must not hold. */
enum gsh_fault_outcome gsh_coherence_fault_sigsafe(const void *address, bool write);

/* Stops a forked child with one line: it has no device that could serve the fault. */
void gsh_coherence_fault_stop_child_sigsafe(const void *address);
