/* SPDX-License-Identifier: Apache-2.0
 *
 * The transfers of the backend, and the wait for what it computes, with the time that they take of the program's (config/wall_time.h).
 * Contracts and results are those of the backend's functions of the same names (backend.h).
 */
#pragma once

#include "backend.h"

enum gsh_status gsh_transfer_upload(uint64_t dst, const void *src, size_t size, bool registered);
/* Where the report is wanted, what was submitted is waited for first, so that its time is not the transfer's. */
enum gsh_status gsh_transfer_download(void *dst, uint64_t src, size_t size, bool registered);
enum gsh_status gsh_transfer_finish(void);
enum gsh_status gsh_transfer_synchronize(void);
