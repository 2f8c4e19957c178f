/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points of BLAS and LAPACK with their dependencies, included in a test program, which
 * then takes the place of the library. The "caller's own library" has no BLAS until one is opened.
 * The test sets the state that a Python process would provide.
 */
#pragma once

#include "dispatch.h"
#include "host_calibration.h"

#include <dlfcn.h>
#include <pthread.h>

static int device_runs,
    cancellable; /* calls that reached the device's side; times that one could be cancelled there, or on its way */
static bool is_inside;  /* a hook has declined the enclosing call */
static int refused_run; /* the run so many calls from now fails; 0: none */

static void look_for_cancellation(void)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, NULL);
    cancellable += state == PTHREAD_CANCEL_ENABLE;
}

static enum gsh_status observed_run(const struct gsh_call *call, enum gsh_reason *why)
{
    look_for_cancellation();
    device_runs++;
    if (refused_run > 0 && --refused_run == 0) {
        *why = GSH_REASON_MEMORY;
        return GSH_DECLINED;
    }
    return gsh_dispatch_run(call, why);
}

static bool stays_here; /* calls are left to the CPU, and priced at a second */

static enum gsh_reason observed_decide(const struct gsh_call *call)
{
    look_for_cancellation();
    enum gsh_reason reason = gsh_dispatch_decide(call);
    if (!stays_here)
        return reason;
    const struct gsh_verdict verdict = {.modelled = 1};
    gsh_host_calibration_expect(&call->launch, call->row, &verdict, GSH_REASON_TOO_SMALL);
    return GSH_REASON_TOO_SMALL;
}

static int fetches;

static void observed_fetch(const struct gsh_call *call)
{
    look_for_cancellation();
    fetches++;
    gsh_dispatch_fetch(call);
}

#define gsh_dispatch_fetch observed_fetch
#define gsh_dispatch_run observed_run
#define gsh_dispatch_decide observed_decide
#include "blas_entry.c" // NOLINT(bugprone-suspicious-include)
#undef gsh_dispatch_fetch
#undef gsh_dispatch_run
#undef gsh_dispatch_decide
#include "blas_launch.c"       // NOLINT(bugprone-suspicious-include)
#include "blas_product.c"      // NOLINT(bugprone-suspicious-include)
#include "blas_structured.c"   // NOLINT(bugprone-suspicious-include)
#include "blas_triangle.c"     // NOLINT(bugprone-suspicious-include)
#include "blas_update.c"       // NOLINT(bugprone-suspicious-include)
#include "blas_vector.c"       // NOLINT(bugprone-suspicious-include)
#include "lapack_eigen.c"      // NOLINT(bugprone-suspicious-include)
#include "lapack_indefinite.c" // NOLINT(bugprone-suspicious-include)
#include "lapack_inverse.c"    // NOLINT(bugprone-suspicious-include)
#include "lapack_launch.c"     // NOLINT(bugprone-suspicious-include)
#include "lapack_singular.c"   // NOLINT(bugprone-suspicious-include)
#include "lapack_solve.c"      // NOLINT(bugprone-suspicious-include)
#include "mangling.c"          // NOLINT(bugprone-suspicious-include)

bool gsh_numpy_output_host_is_inside(void)
{
    return is_inside;
}

void *gsh_libc_dlopen_open(const char *path, int flags)
{
    return dlopen(path, flags);
}
