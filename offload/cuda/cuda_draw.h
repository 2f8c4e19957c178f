/* SPDX-License-Identifier: Apache-2.0
 *
 * DRAW launches on the GPU. Under the DISPATCH lock, with the context current.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* Submits the draw, which has a kernel. Where pieces are left out it waits until the number of pieces is known, and computes the few
 * values that hang on the C library. *launch->draw.end is then the stream behind the draw. DECLINED: the values are not NumPy's. */
enum gsh_status gsh_cuda_draw_run(const struct gsh_launch *launch, unsigned row);
