/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "blas_threads.h"

#include "environment.h"
#include "lock.h"
#include "one_time_cost.h"

#include <stdatomic.h>

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_BLAS_THREADS);
enum { LIBRARIES = 4 }; /* NumPy's BLAS, SciPy's, others that wheels bring */

/* Under the lock. */
static struct library {
    struct gsh_blas_threads blas;
    int usual, lowered; /* numbers of threads; 0: the number is not lowered */
} libraries[LIBRARIES];
static unsigned library_count;
static unsigned cores_of_process; /* as `lower` was told last */
static atomic_bool is_used;
static _Atomic unsigned ours; /* threads between lower and restore; written under the lock */

void gsh_blas_threads_sleep_soon(void)
{
    gsh_environment_set_default("OPENBLAS_THREAD_TIMEOUT", "20");
}

static void lower_locked(struct library *library)
{
    int count = library->blas.get();
    int fewer = gsh_one_time_cost_blas_threads(count, cores_of_process);
    if (library->lowered != 0 || fewer == count)
        return;
    library->usual = count;
    library->lowered = fewer;
    library->blas.set(fewer);
}

static bool is_registered_locked(const struct gsh_blas_threads *functions)
{
    bool is_known = false;
    for (unsigned i = 0; i < library_count; i++)
        is_known |= libraries[i].blas.get == functions->get;
    return is_known;
}

void gsh_blas_threads_register(const struct gsh_blas_threads *functions)
{
    GSH_LOCKED(&lock);
    if (library_count == LIBRARIES || is_registered_locked(functions))
        return;
    struct library *library = &libraries[library_count++];
    library->blas = *functions;
    if (ours != 0)
        lower_locked(library);
}

void gsh_blas_threads_lower(unsigned cores)
{
    GSH_LOCKED(&lock);
    ours++;
    cores_of_process = cores;
    for (unsigned i = 0; i < library_count; i++)
        lower_locked(&libraries[i]);
}

static void restore_locked(void)
{
    for (unsigned i = 0; i < library_count; i++) {
        struct library *library = &libraries[i];
        if (library->lowered != 0 && library->blas.get() == library->lowered)
            library->blas.set(library->usual);
        library->lowered = 0;
    }
}

void gsh_blas_threads_restore(void)
{
    GSH_LOCKED(&lock);
    if (--ours == 0)
        restore_locked();
}

void gsh_blas_threads_note_use(void)
{
    atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

bool gsh_blas_threads_are_used(void)
{
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}

bool gsh_blas_threads_are_beside_ours(void)
{
    return atomic_load_explicit(&ours, memory_order_relaxed) != 0;
}

void gsh_blas_threads_prepare_fork(void)
{
    gsh_lock_acquire(&lock);
    restore_locked();
}

void gsh_blas_threads_leave_fork(void)
{
    gsh_lock_release(&lock);
}

void gsh_blas_threads_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&lock);
    for (unsigned i = 0; i < library_count; i++)
        libraries[i].lowered = 0;
    ours = 0;
}
