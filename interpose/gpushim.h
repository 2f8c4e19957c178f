/* SPDX-License-Identifier: Apache-2.0
 *
 * What libgpushim.so offers to tools and benchmarks; programs need none of it. Look the functions
 * up with dlsym (or ctypes.CDLL(None)) in a process that was started with LD_PRELOAD=libgpushim.so.
 * All may be called from any thread, with or without Python's global lock, and in processes that
 * never loaded NumPy. See docs/api.md.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the newest copy of a byte is. */
enum gpushim_residency {
    GPUSHIM_FOREIGN = 0, /* memory that gpushim does not manage */
    GPUSHIM_HOST = 1,    /* host memory only */
    GPUSHIM_SHARED = 2,  /* valid on both sides */
    GPUSHIM_DEVICE = 3   /* the device only: reading it on the host fetches it */
};

/* Waits until the device has finished everything that was submitted before. Moves no data. */
void gpushim_synchronize(void);

/* Where the byte at `address` is, as an enum gpushim_residency. Touches nothing: any address may be
 * asked about. */
int gpushim_residency(const void *address);

/* Writes the report so far as JSON (keys: docs/report.md), cut to size - 1 characters and a NUL;
 * `size` may be 0. Returns the length of the whole text without the NUL. */
size_t gpushim_report_json(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
