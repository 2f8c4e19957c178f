/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches on host memory without a library: slow, for what a device refuses after it was recorded.
 */
#pragma once

#include "fft_run.h"

/* Host addresses. True for what gsh_fft_run_supports. FAILED: no memory. */
enum gsh_status gsh_fft_host_run(const struct gsh_launch *launch);
