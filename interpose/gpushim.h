/* SPDX-License-Identifier: Apache-2.0
 *
 * What libgpushim.so offers to tools and benchmarks; programs need none of it. Look the functions
 * up with dlsym (or ctypes.CDLL(None)) in a process that was started with LD_PRELOAD=libgpushim.so.
 * All may be called from any thread, with or without Python's global lock, and in processes that
 * never loaded NumPy. See docs/user/api.md.
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

/* The version of the library, "MAJOR.MINOR.PATCH": a static string, which lives as long as the process and is not to be freed.
 * May also be called in a signal handler. */
const char *gpushim_version(void);

/* Waits until the device has finished everything that was submitted before. Moves no data. */
void gpushim_synchronize(void);

/* Where the byte at `address` is, as an enum gpushim_residency. Touches nothing: any address may be
 * asked about. */
int gpushim_residency(const void *address);

/* The GPU's address of the newest contents of the `size` bytes at `address`, which lie in one array: to be read there by other
 * users of CUDA, in the primary context of the first device, without a copy. They are there when this returns. Nobody
 * may write there. They stay as they are, whatever is written to the array afterwards, and their memory is kept, also
 * when the array is gone, until gpushim_device_release. 0: they are not, or not all, on a GPU; nothing is to be
 * released. */
unsigned long long gpushim_device_pointer(const void *address, size_t size);

/* Ends what gpushim_device_pointer began, once for each of its calls: all work that reads there has ended. Returns 0 where the
 * pointer is none of these, else 1. */
int gpushim_device_release(unsigned long long pointer);

/* Writes the report so far as JSON (keys: docs/user/report.md), cut to size - 1 characters and a NUL;
 * `size` may be 0. Returns the length of the whole text without the NUL. */
size_t gpushim_report_json(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
