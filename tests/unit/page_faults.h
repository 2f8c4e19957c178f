/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "check.h"

#include <sys/resource.h>

/* Page faults of the calling thread that needed no I/O (ru_minflt of getrusage(2)). */
static inline long count_page_faults(void)
{
    struct rusage usage;
    CHECK_INT(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt;
}
