/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms by cuFFT, loaded when the first one runs. With the context current.
 */
#pragma once

#include "fft_run.h"

/* True where the launch is one that gsh_fft_run takes and cuFFT is there, or was not yet asked for. Pure. */
bool gsh_cuda_fft_supports(const struct gsh_launch *launch);
/* Submits an FFT launch, charging its device time to the stats row. FAILED also where cuFFT is not there, or has no plan for
 * it. DISPATCH lock held. */
enum gsh_status gsh_cuda_fft_run(const struct gsh_launch *launch, unsigned row);
