/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults on blocks, as far as the handler itself can resolve them: by opening pages whose newest bytes the host has. What
 * needs the device is left to the service thread (gsh_coherence_serve_fault), and no function that could ask it can be
 * reached from here. Checked by tests/rules/test_sigsafe.py.
 */
#pragma once

#include "block.h"

enum gsh_fault_outcome {
    GSH_FAULT_RESOLVED,     /* repeat the instruction */
    GSH_FAULT_ALREADY_OPEN, /* repeat it: the page allows the access now */
    GSH_FAULT_PROGRAMS, /* so does this one, unless the program has protected it itself: repeat it once */
    GSH_FAULT_NEEDS_SERVICE, /* device work is needed: not in the handler */
    GSH_FAULT_UNMANAGED      /* not a protected page of a live block */
};

/* Waits for the block's lock, which the thread must not hold. */
enum gsh_fault_outcome gsh_coherence_fault_sigsafe(const void *address, bool write);

/* Stops the process with one line: in a forked child, which has no device, the fault cannot be served. */
void gsh_coherence_fault_stop_child_sigsafe(const void *address);
