/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory from a stream-ordered pool of our own, page-locked host memory, and transfers. All with the context
 * current. The driver can access protected host memory only where it is registered; other memory is copied by this
 * thread to or from a page-locked ring.
 */
#pragma once

#include "base.h"
#include "status.h"

/* Creates the pool, the rings and their events. FAILED: one line in `why`. */
enum gsh_status gsh_cuda_mem_open(char *why, size_t why_size);

/* See the vtable's slots in backend.h, also for the caller's locks. */
enum gsh_status gsh_cuda_mem_allocate(size_t size, uint64_t *address);
void gsh_cuda_mem_release(uint64_t address, size_t size);
/* Memory that is never released and does not count towards the limit. Without the DISPATCH lock. */
enum gsh_status gsh_cuda_mem_allocate_apart(size_t size, uint64_t *address);
enum gsh_status gsh_cuda_mem_upload(uint64_t dst, const void *src, size_t size, bool registered);
enum gsh_status gsh_cuda_mem_download(void *dst, uint64_t src, size_t size, bool registered);
enum gsh_status gsh_cuda_mem_clear(uint64_t address, size_t size);
enum gsh_status gsh_cuda_mem_copy(uint64_t dst, uint64_t src, size_t size);
enum gsh_status gsh_cuda_mem_register(void *base, size_t size);
void gsh_cuda_mem_unregister(void *base);

/* Waits for all work of the compute stream. Any thread. */
enum gsh_status gsh_cuda_mem_finish(void);
/* Some page-locked memory of the driver's, to query properties of such memory; NULL: there is none yet. Any thread. */
const void *gsh_cuda_mem_page_locked(void);
/* See map_host in backend.h. */
void *gsh_cuda_mem_map_host(size_t size, uint64_t *device);

/* Device memory for the launch about to be submitted. The next launch, and allocations after it, may use it again: it
 * is one block that grows, kept while memory is not short. *address is 0 where size is 0. Under the DISPATCH lock. */
enum gsh_status gsh_cuda_mem_scratch(size_t size, uint64_t *address);

/* Bytes that can still be allocated, and the limit of all (GPUSHIM_MEM_LIMIT). No driver call. */
void gsh_cuda_mem_budget(size_t *free_bytes, size_t *total_bytes);
/* Gives the pool's unused memory and the scratch block back to the driver, for other users of the GPU. Under the
 * DISPATCH lock. */
void gsh_cuda_mem_trim(void);
/* The same without the scratch block and the cached pieces. Any thread. */
void gsh_cuda_mem_trim_pool(void);
/* See age in backend.h. */
bool gsh_cuda_mem_age(unsigned calls);
/* Bytes free for any user of the GPU; 0 where the driver does not report it. */
size_t gsh_cuda_mem_available(void);
