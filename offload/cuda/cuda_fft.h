/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms by cuFFT, which is loaded when the first one runs. With the context current.
 */
#pragma once

#include "fft_run.h"

/* True where gsh_fft_run supports the launch and cuFFT is available, or was not looked for yet. Pure. */
bool gsh_cuda_fft_supports(const struct gsh_launch *launch);
/* Submits an FFT launch, charging its device time to the stats row. FAILED also where cuFFT is missing, or makes no
 * plan for it. DISPATCH lock held. */
enum gsh_status gsh_cuda_fft_run(const struct gsh_launch *launch, unsigned row);
