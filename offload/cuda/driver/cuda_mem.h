/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory from a stream-ordered pool of our own, page-locked host memory, and transfers.
 * All with the context current. Memory protected against access reaches the driver only where it is
 * registered; everything else is copied by this thread to or from a page-locked ring.
 */
#pragma once

#include "base.h"
#include "status.h"

/* Makes the pool, the rings and their events. FAILED: one line in `why`. */
enum gsh_status gsh_cuda_mem_open(char *why, size_t why_size);

/* As the vtable's slots in backend.h, with the caller's lock state of there. */
enum gsh_status gsh_cuda_mem_allocate(size_t size, uint64_t *address);
void gsh_cuda_mem_release(uint64_t address, size_t size);
/* Memory that is never released, and no part of what the limit is for. Without the DISPATCH lock. */
enum gsh_status gsh_cuda_mem_allocate_apart(size_t size, uint64_t *address);
enum gsh_status gsh_cuda_mem_upload(uint64_t dst, const void *src, size_t size, bool registered);
enum gsh_status gsh_cuda_mem_download(void *dst, uint64_t src, size_t size, bool registered);
enum gsh_status gsh_cuda_mem_clear(uint64_t address, size_t size);
enum gsh_status gsh_cuda_mem_copy(uint64_t dst, uint64_t src, size_t size);
enum gsh_status gsh_cuda_mem_register(void *base, size_t size);
void gsh_cuda_mem_unregister(void *base);

/* Waits for what the compute stream holds. Any thread. */
enum gsh_status gsh_cuda_mem_finish(void);
/* Page-locked memory of the driver's own, for a question about such memory; NULL: there is none yet. Any thread. */
const void *gsh_cuda_mem_page_locked(void);
/* See map_host in backend.h. */
void *gsh_cuda_mem_map_host(size_t size, uint64_t *device);

/* Device memory for the launch about to be submitted, free again for the next one and for whatever is allocated behind
 * it: one block that grows, kept while memory is not short. *address is 0 where size is 0. Under the DISPATCH lock. */
enum gsh_status gsh_cuda_mem_scratch(size_t size, uint64_t *address);

/* Bytes that allocate may still give and those it may give in all (GPUSHIM_MEM_LIMIT). No driver
 * call. */
void gsh_cuda_mem_budget(size_t *free_bytes, size_t *total_bytes);
/* Gives the pool's unused memory back to the driver, for other users of the GPU; the scratch's too. Under the DISPATCH
 * lock. */
void gsh_cuda_mem_trim(void);
/* The same, but for what is kept in front of the pool. Any thread. */
void gsh_cuda_mem_trim_pool(void);
/* See age in backend.h. */
bool gsh_cuda_mem_age(unsigned calls);
/* Bytes that any user of the GPU can have now; 0 where the driver does not tell. */
size_t gsh_cuda_mem_available(void);
