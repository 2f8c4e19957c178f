/* SPDX-License-Identifier: Apache-2.0
 *
 * A device behind a table of functions. Two implement it: `cuda` and `emu` (the device "host":
 * CPU cores, its memory a second host range). No CUDA type appears here.
 *
 * Order: allocate, release, upload, clear, copy, run and run_group behave as one in-order queue (they may be
 * asynchronous). One thread calls them at a time, "under the DISPATCH lock": the one that holds it while no launch is in flight, or,
 * for run and run_group, the one whose launch is in flight (dispatch_lock.h). download and memory may be called by any thread at any
 * time, also beside them: download sees everything submitted before it was called. No host pointer passed
 * here is protected against access, but for download's `dst` and upload's `src` when `registered`
 * is set and `ignores_protection` is true, and upload's `src`, which may be read-only.
 */
#pragma once

#include "cost_model.h"
#include "fmt.h"
#include "group.h"
#include "launch.h"
#include "status.h"

typedef bool gsh_can_split(const void *item);

/* How much of a start is done ahead of it. */
enum gsh_warm_up {
    GSH_WARM_UP_DRIVER, /* the driver is opened (cuInit) */
    GSH_WARM_UP_CONTEXT /* ... and what the process has on the device is made */
};

struct gsh_backend {
    const char *name; /* "cuda", "host" */
    const struct gsh_rates
        *rates; /* what calls and transfers cost beside this device's usual host */

    /* Makes of these rates those of the device that was opened, as far as it is another than they were measured on.
     * NULL: they stay. */
    void (*rate)(struct gsh_rates *rates);

    /* mandatory */

    /* Starts the device; may take a second. Called once, by the start thread, without locks.
     * FAILED: unusable, one line says why in `why`. */
    enum gsh_status (*open)(char *why, size_t why_size);
    /* `size` > 0 bytes, 256-byte aligned, contents undefined. FAILED: no memory; nothing changed.
     * Waits for what was submitted only where memory is short. */
    enum gsh_status (*allocate)(size_t size, uint64_t *address);
    /* Gives memory back once the work submitted so far has run. Does not block. */
    void (*release)(uint64_t address, size_t size);
    /* Returns once `src` has been read completely (its owner may then change it). */
    enum gsh_status (*upload)(uint64_t dst, const void *src, size_t size, bool registered);
    /* Returns once `dst` holds the bytes. */
    enum gsh_status (*download)(void *dst, uint64_t src, size_t size, bool registered);
    /* Bytes of 0. */
    enum gsh_status (*clear)(uint64_t address, size_t size);
    /* Inside the device; the ranges do not overlap. */
    enum gsh_status (*copy)(uint64_t dst, uint64_t src, size_t size);
    /* True where `run` has an implementation for the launch's op, dtypes and layout. Pure. */
    bool (*supports)(const struct gsh_launch *launch);
    /* Submits the launch (device addresses inside; collapsed). `row` is the stats row charged with
     * the device time where gsh_stats_report_is_wanted(). FAILED: nothing was written. DECLINED, LAPACK only, for which run waits
     * until it has ended: a matrix was singular or the like; the outputs hold anything. */
    enum gsh_status (*run)(const struct gsh_launch *launch, unsigned row);
    /* The same for a group (collapsed, device addresses). DECLINED: its nodes are to be run one by one. A device that
     * must compile first may do so in the background and decline meanwhile where can_split(item), which it asks at most
     * once, says that the nodes need nothing compiled. */
    enum gsh_status (*run_group)(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item);
    /* Waits for what run and run_group have submitted so far. FAILED: the device is lost. Any thread, at any time. */
    enum gsh_status (*finish)(void);
    /* Waits for everything submitted. FAILED: the device is lost. Any thread, no lock needed. */
    enum gsh_status (*synchronize)(void);
    /* Whether nothing of what it holds can be had any more. NULL: it is never lost. Any thread. */
    bool (*is_lost)(void);
    /* Bytes of device memory that allocate may still give, and may give in all (option MEM_LIMIT). */
    void (*memory)(size_t *free_bytes, size_t *total_bytes);
    /* Gives what was released back to all users of the device, once what was submitted has run. Under the DISPATCH lock. */
    void (*trim)(void);
    /* Called several times a second while memory is released: gives back what has not been used for so many calls, as trim,
     * but waits for nothing. True where there is some left. Under the DISPATCH lock. */
    bool (*age)(unsigned calls);
    /* Bytes of device memory that any user of the device can have now. Under the DISPATCH lock. */
    size_t (*available)(void);
    /* Several lines on device, driver and libraries with versions and paths; works before open too.
     */
    void (*describe)(struct gsh_fmt *fmt);

    /* (optional), NULL: not supported */

    /* True where something suggests that open would succeed; cheap, touches no driver. NULL:
     * always. */
    bool (*is_present)(void);
    /* Does so much of open ahead of it, which may be called meanwhile; calls `is_loaded` once the driver's library is loaded. Needs
     * nothing of Python's. Called at most once, by a thread of its own, without locks. NULL: nothing takes long. */
    void (*warm_up)(enum gsh_warm_up depth, void (*is_loaded)(void));
    /* True where `run` would wait for no compilation; an address may be 0 where there is no memory yet. Under the DISPATCH lock. NULL:
     * it never compiles. */
    bool (*runs_at_once)(const struct gsh_launch *launch);
    /* As runs_at_once; what is to be compiled, a thread of the device's own begins to compile. Also true where that has failed,
     * and where the launch can run by other code meanwhile. */
    bool (*build)(const struct gsh_launch *launch);
    /* Seconds by which the launch is held up because a library must be opened first; 0 from then on. Pure. NULL: always 0. */
    double (*load_seconds)(const struct gsh_launch *launch);
    /* Where `load_seconds` is more than 0: has that library opened by a thread of the device's own. Any thread. */
    void (*begin_loading)(const struct gsh_launch *launch);
    /* Seconds that the first run of the launch's routine in this process takes beyond its work, for the library loads code then.
     * Pure. NULL: always 0. */
    double (*first_run_seconds)(const struct gsh_launch *launch);
    /* The process ends: returns once no thread of the device's own works for it, and starts none from here on. Any thread. */
    void (*stop_threads)(void);
    /* Page-locks [base, base + size), which is readable and writable now, for transfers at full
     * rate. Any thread. */
    enum gsh_status (*register_host)(void *base, size_t size);
    void (*unregister_host)(void *base, size_t size);
    /* Zeroed memory for the process's lifetime that kernels write and the host reads while they run: its host address,
     * and in *device the address kernels use. NULL: none. Under the DISPATCH lock. NULL slot: host addresses are
     * device addresses. */
    void *(*map_host)(size_t size, uint64_t *device);
    /* `run` and `run_group` return before the work is done. */
    bool runs_behind;
    /* `run` of LAPACK may call Python: NumPy's own loops do that where they find no memory. */
    bool calls_python;
    /* `rates` are of a CPU as it is: prices are corrected by what calls take there (host_calibration.h). */
    bool calibrates_host;
    /* Transfers to registered pages ignore page protection. (CUDA's driver reads small sources itself.) */
    bool ignores_protection;
};

extern const struct gsh_backend gsh_emu_backend;
extern const struct gsh_backend gsh_cuda_backend;

/* The backend chosen by gsh_backend_choose, or NULL: none. */
const struct gsh_backend *gsh_backend_get(void);
/* Its rates: those of the device that was opened, before that `rates`. Any thread, once there is a backend. */
const struct gsh_rates *gsh_backend_rates(void);
/* Once the device is open, and before calls go to it. */
void gsh_backend_rate(void);
/* Whether there are signs of its device, which is not opened. */
bool gsh_backend_is_present(const struct gsh_backend *backend);
/* Carries out GPUSHIM_DEVICE: cuda and host name a backend; auto is cuda where is_present, else
 * none. */
void gsh_backend_choose(void);
/* Puts another in its place: for tests, of what devices do that fail. */
void gsh_backend_replace(const struct gsh_backend *backend);
