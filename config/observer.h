/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is told of each call and transfer: the forecast's lines (interpose/python/python_advice.h). Set once, before there are other
 * threads. Calls tell it where the report is wanted; without an observer that is one comparison.
 */
#pragma once

#include "base.h"

struct gsh_observer {
    /* So many calls were left to the CPU, where they took `ns`; `reason` is an index into the report's names. GIL or not. */
    void (*host_call)(unsigned row, unsigned reason, unsigned calls, uint64_t ns);
    /* The device is to get the calling thread's next call, which would take the CPU so many nanoseconds by the cost model. GIL or
     * not; no lock is held. */
    void (*accepted)(uint64_t host_ns);
    /* A call was given to the device. GIL or not, under any lock of rank BACKEND or lower. */
    void (*device_call)(unsigned row);
    /* Bytes were moved, which takes a GPU so many nanoseconds. Any thread, under any lock of rank BACKEND or lower. */
    void (*moved)(bool is_download, size_t bytes, uint64_t ns);
};

/* NULL: nobody. */
extern const struct gsh_observer *gsh_observer;
