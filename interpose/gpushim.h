/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that libgpushim.so exports for tools and benchmarks. Programs do not need them.
 * Look them up with dlsym (or ctypes.CDLL(None)) in a process started with
 * LD_PRELOAD=libgpushim.so. All may be called from any thread, with or without Python's global
 * lock, and in processes that never loaded NumPy. See docs/user/api.md.
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
    GPUSHIM_DEVICE = 3   /* device only: a read on the host fetches it */
};

/* The version of the library, "MAJOR.MINOR.PATCH": a static string, which lives as long as the process and is not to be freed.
 * May also be called in a signal handler. */
const char *gpushim_version(void);

/* Whether calls of NumPy in this process may run on a device: 1 from the import of NumPy on, where it was recognised and there is a
 * device that was not retired, started or not. 0 else, and in a forked child. */
int gpushim_active(void);

/* Waits until the device has finished all work submitted so far. Moves no data. */
void gpushim_synchronize(void);

/* From gpushim_disable on, calls of NumPy that the calling thread makes run in NumPy's own code on the CPU, until gpushim_enable has
 * been called as often in that thread. Other threads' calls are not affected. gpushim_active is 0 in the thread meanwhile. A forked
 * child inherits the state of the thread that forked. gpushim_enable without gpushim_disable does nothing. */
void gpushim_disable(void);
void gpushim_enable(void);

/* A result that the program drops before the device was needed is not computed. `keep` not 0: it is, from now on, in the whole
 * process, if no other call reads it; for benchmarks, which drop the result of what they measure. 0: as at the start. */
void gpushim_keep_results(int keep);

/* Sends the `size` bytes at `address`, which lie in one array, to the device, as far as it does not have them, so that the following
 * calls find them there. Starts the device where it has not been, and waits for that. Returns 1 once the bytes have been read: the
 * program may use the array in any way. 0: they are not all there, because gpushim is not active, the memory is not gpushim's
 * (gpushim_residency), or the device has no room; nothing else has changed. */
int gpushim_prefetch(const void *address, size_t size);

/* Where the byte at `address` is, as an enum gpushim_residency. Any address is valid; it is not
 * dereferenced. */
int gpushim_residency(const void *address);

/* The device address of a snapshot of the `size` bytes at `address`, which lie in one array. Other
 * users of CUDA may read it, without a copy, in the primary context of the device in use. The
 * contents are complete on return. Nobody may write to it. Later writes to the array do not change
 * the snapshot, and its memory stays allocated until gpushim_device_release, even if the array is
 * freed. 0: the bytes are not, or not all, on a GPU; there is nothing to release. */
unsigned long long gpushim_device_pointer(const void *address, size_t size);

/* Releases a pointer from gpushim_device_pointer, once for each call of it. All work that reads
 * from the pointer must have ended. Returns 1, or 0 if the pointer is unknown. */
int gpushim_device_release(unsigned long long pointer);

/* Writes what the doctor says of the device, CUDA's libraries and their paths, as it is now: lines of a label, two or more blanks and
 * a value, cut to size - 1 characters and a NUL. Returns the length of the whole. Any thread. */
size_t gpushim_describe_device(char *buffer, size_t size);
/* Writes the report so far as JSON (keys: docs/user/report.md), truncated to size - 1 characters and a
 * NUL; `size` may be 0. Returns the length of the whole text without the NUL. */
size_t gpushim_report_json(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
