/* SPDX-License-Identifier: Apache-2.0
 *
 * The chosen device's life: not started, starting in a background thread, ready, or retired.
 */
#pragma once

#include "base.h"
#include "fmt.h"
#include "status.h"

enum gsh_device_state {
    GSH_DEVICE_IDLE,
    GSH_DEVICE_STARTING,
    GSH_DEVICE_READY,
    GSH_DEVICE_RETIRED
};

enum gsh_device_state gsh_device_get_state(void);
/* `callback` is called by the start thread when the device is open, before calls are accepted; set before the first start. */
void gsh_device_on_ready(void (*callback)(void));
/* Starts the device in the background (once); `wait` returns only when it is ready or retired. */
void gsh_device_start(bool wait);
/* Where the device is being started, waits until the present step of that has ended, at most 10 s, and likewise for
 * threads of the device's own: a process that ends meanwhile would take the driver down under them. A start that ends so counts as
 * none, and no other one begins (program_end.h). */
void gsh_device_stop_threads(void);
/* No more calls are accepted; what it still holds can be fetched while it answers. One line on
 * stderr. */
void gsh_device_retire(const char *why);
/* What gsh_device_retire was told last, or that the start failed; NULL: neither was so. */
const char *gsh_device_why_retired(void);
/* The same without a word. */
void gsh_device_retire_silently(void);
/* In a forked child: retired, silently. */
void gsh_device_reset_after_fork(void);
