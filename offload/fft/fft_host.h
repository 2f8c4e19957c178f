/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches on host memory without a library: slow, for the host fallback.
 */
#pragma once

#include "fft_run.h"

/* Runs a launch with host addresses that gsh_fft_run_supports accepts. FAILED: no memory. */
enum gsh_status gsh_fft_host_run(const struct gsh_launch *launch);
