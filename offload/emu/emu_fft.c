/* SPDX-License-Identifier: Apache-2.0
 *
 * FFTW's guru interface, declared by hand (fftw.org/doc/64_002dbit-Guru-Interface.html). Plans are estimated and
 * accept memory of any alignment, so that a repeated call gives the same bits.
 */
#include "emu_fft.h"

#include "critical.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#define FFTW_FLAGS ((1U << 1) | (1U << 4) | (1U << 6)) /* UNALIGNED, PRESERVE_INPUT, ESTIMATE */
#define FFTW_FORWARD (-1)
#define FFTW_BACKWARD 1

struct dimension { /* fftw_iodim64 */
    ptrdiff_t n, in, out;
};

typedef void *plan_complex(int rank, const struct dimension *dimensions, int batch_rank,
                           const struct dimension *batch, void *in, void *out, int sign,
                           unsigned flags);
typedef void *plan_real(int rank, const struct dimension *dimensions, int batch_rank,
                        const struct dimension *batch, void *in, void *out, unsigned flags);

static struct {
    plan_complex *c2c;
    plan_real *r2c, *c2r;
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
} libraries[2]; /* double, single */

static bool is_ready;
/* False where the function is missing. */
static bool find(void *handle, unsigned single, const char *function, void **pointer)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "fftw%s_%s", single ? "f" : "", function);
    *pointer = dlsym(handle, symbol);
    return *pointer != NULL;
}

static bool open_one(unsigned single)
{
    void *handle = dlopen(single ? "libfftw3f.so.3" : "libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return false;
    return find(handle, single, "plan_guru64_dft", (void **)&libraries[single].c2c) &&
           find(handle, single, "plan_guru64_dft_r2c", (void **)&libraries[single].r2c) &&
           find(handle, single, "plan_guru64_dft_c2r", (void **)&libraries[single].c2r) &&
           find(handle, single, "execute", (void **)&libraries[single].execute) &&
           find(handle, single, "destroy_plan", (void **)&libraries[single].destroy);
}

static void open_both(void)
{
    is_ready = open_one(1) && open_one(0);
}

static bool open_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    gsh_critical_enter(); /* other threads wait for the one that opens the libraries */
    pthread_once(&once, open_both);
    gsh_critical_leave();
    return is_ready;
}

const char *gsh_emu_fft_name(void)
{
    return open_once() ? "FFTW" : "nothing (no libfftw3.so.3 and libfftw3f.so.3)";
}

bool gsh_emu_fft_supports(const struct gsh_launch *launch)
{
    return gsh_fft_run_supports(launch) && open_once();
}

static void *make_plan(const struct gsh_fft_lines *lines)
{
    struct dimension line[GSH_CORE_DIMS];
    const struct dimension batch = {lines->count, lines->distance[0], lines->distance[1]};
    void *in = (void *)lines->address[0], *out = (void *)lines->address[1];
    for (int d = 0; d < lines->rank; d++)
        line[d] = (struct dimension){lines->length[d], lines->stride[0][d], lines->stride[1][d]};
    switch (lines->type) {
    case GSH_FFT_R2C:
        return libraries[lines->is_single].r2c(lines->rank, line, 1, &batch, in, out, FFTW_FLAGS);
    case GSH_FFT_C2R:
        return libraries[lines->is_single].c2r(lines->rank, line, 1, &batch, in, out, FFTW_FLAGS);
    case GSH_FFT_C2C:
        break;
    }
    return libraries[lines->is_single].c2c(lines->rank, line, 1, &batch, in, out,
                                           lines->is_inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                                           FFTW_FLAGS);
}

enum gsh_status gsh_emu_fft_transform(const struct gsh_fft_lines *lines, unsigned row)
{
    (void)row;
    void *plan = make_plan(lines);
    if (plan == NULL)
        return GSH_DECLINED;
    libraries[lines->is_single].execute(plan);
    libraries[lines->is_single].destroy(plan);
    return GSH_OK;
}
