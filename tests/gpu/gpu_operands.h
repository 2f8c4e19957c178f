/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests whose operands lie in arrays of addresses, one for each side of a launch: in the host's memory and on the device.
 */
#pragma once

#include "clock.h"
#include "open_gpu.h"

/* Uploads all sides, runs the launch, and downloads them to `got`. */
static inline bool run_on_device(const struct gsh_launch *launch, int sides, const uint64_t *device,
                                 unsigned char *const *host, unsigned char *const *got,
                                 const size_t *bytes)
{
    bool good = true;
    for (int side = 0; side < sides && good; side++)
        good = CHECK_INT(dev->upload(device[side], host[side], bytes[side], false), GSH_OK);
    good = good && CHECK(dev->supports(launch)) && CHECK_INT(dev->run(launch, 0), GSH_OK);
    for (int side = 0; side < sides && good; side++)
        good = CHECK_INT(dev->download(got[side], device[side], bytes[side], false), GSH_OK);
    return good;
}

/* Seconds of a launch: the mean of some, after a first one. */
static inline double seconds_of_launch(const struct gsh_launch *launch)
{
    enum { RUNS = 20 };
    CHECK_INT(dev->run(launch, 0), GSH_OK);
    CHECK_INT(dev->synchronize(), GSH_OK);
    uint64_t begin = gsh_clock_ns();
    for (int i = 0; i < RUNS; i++)
        CHECK_INT(dev->run(launch, 0), GSH_OK);
    CHECK_INT(dev->synchronize(), GSH_OK);
    return (double)(gsh_clock_ns() - begin) * 1e-9 / RUNS;
}
