/* SPDX-License-Identifier: Apache-2.0
 *
 * Single elements of chunks that only the device holds, read and stored without a fetch of the chunk. Each access is
 * charged to the block (policy/element_rent.h): where many come in turn, a function declines, and the page fault of the
 * original fetches the chunk. Call with no lock held.
 */
#pragma once

#include "base.h"

/* Copies the element of `size` bytes to `to`; its chunk stays as it is. Runs what is to write it first. False: nothing
 * was copied, since the host has the element, or fetching its chunk costs less. */
bool gsh_element_read(void *to, const void *address, size_t size);

/* Whether the element is to be stored by a call to the device: only the device has it, and fetching its chunk costs
 * more. Call gsh_element_note_stored once that call was accepted. */
bool gsh_element_is_stored_there(const void *address);
void gsh_element_note_stored(const void *address);
