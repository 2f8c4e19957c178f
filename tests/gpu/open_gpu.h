/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU that a test program is for.
 */
#pragma once

#include "backend.h"
#include "check.h"
#include "options.h"

#include <stdio.h>

static const struct gsh_backend *const dev = &gsh_cuda_backend;

/* Reads the options and opens it. Not 0: the program's exit status, which a printed line explains. */
static inline int open_gpu(void)
{
    char why[256] = "";
    gsh_options_init();
    if (dev->open(why, sizeof why) == GSH_OK)
        return 0;
    printf("%s: %s\n", dev->is_present() ? "failed" : "skip: no GPU", why);
    return dev->is_present() ? 1 : CHECK_SKIP;
}

/* Prints what the report says about it. */
static inline void describe_gpu(void)
{
    char text[4096];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    dev->describe(&fmt);
    fputs(text, stdout);
}
