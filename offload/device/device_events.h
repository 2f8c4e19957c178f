/* SPDX-License-Identifier: Apache-2.0
 *
 * What device.c tells the layers above it: a table of functions that is defined once, at link time (offload/events.c). All
 * members are there. A program that links nothing above device/ defines a table of its own.
 */
#pragma once

#include "status.h"

struct gsh_device_events {
    /* The device is about to be started, once, by the thread that asks for it, which holds no lock. FAILED: it is not
     * started, and is retired. */
    enum gsh_status (*starting)(void);
    /* The process ends, and with it the device: what works for arrays beside the program has ended on return. Any thread
     * that holds no lock. */
    void (*stopping)(void);
};

extern const struct gsh_device_events gsh_device_events;
