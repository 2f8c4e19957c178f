/* SPDX-License-Identifier: Apache-2.0
 *
 * Where calls run by size, with the rates of the measured GPU: one letter for each size. "d": the device; "h": the CPU, because
 * the operands are device_array; ".": the CPU, because the device would be slower.
 */
#include "backend.h"
#include "cost_model.h"
#include "lapack.h"
#include "live.h"
#include "price.h"

#define COUNT ((int64_t)1 << 22)
#define FEWEST 4 /* elements of each operand */

static double *host_array, *device_array, *unmanaged;

static void set_operands(struct gsh_call *call, const double *in, double *out, bool is_fresh)
{
    struct gsh_launch *launch = &call->launch;
    call->row = gsh_stats_row("test", "dd->d");
    for (unsigned k = 0; k < launch->nin + launch->nout; k++)
        launch->operands[k].address = (uint64_t)(k < launch->nin ? in : out);
    for (unsigned j = 0; j < launch->nout; j++)
        call->fresh[j] = is_fresh;
}

static struct gsh_launch add(int64_t side)
{
    return live_call(GSH_OP_ADD, host_array, host_array, 0, host_array, side * side).launch;
}

static struct gsh_launch exponential(int64_t side)
{
    return live_call(GSH_OP_EXP, host_array, NULL, 0, host_array, side * side).launch;
}

static struct gsh_launch sum(int64_t side)
{
    return live_sum(host_array, side, side, host_array).launch;
}

static struct gsh_launch multiply(int64_t side, enum gsh_dtype loop)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_GEMM, .loop = loop, .nin = 2, .nout = 1};
    launch.gemm = (struct gsh_gemm){side, side, side, side,  1,     side,        1, side,
                                    1,    1,    0,    false, false, GSH_GEMM_GE, 0};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k].dtype = loop;
    return launch;
}

static struct gsh_launch multiply_double(int64_t side)
{
    return multiply(side, GSH_FLOAT64);
}

static struct gsh_launch multiply_single(int64_t side)
{
    return multiply(side, GSH_FLOAT32);
}

static struct gsh_launch multiply_integer(int64_t side)
{
    return multiply(side, GSH_INT64);
}

static struct gsh_launch decompose(enum gsh_lapack_routine routine, int64_t side)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(routine);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_LAPACK,
                                .loop = GSH_FLOAT64,
                                .nin = info->nin,
                                .nout = info->nout,
                                .lapack = {.routine = routine}};
    for (unsigned k = 0; k < info->nin + info->nout; k++) {
        launch.operands[k].dtype = GSH_FLOAT64;
        launch.lapack.cores[k] = (struct gsh_core){{side, side, 1}, {8 * side, 8, 0}};
    }
    return launch;
}

static struct gsh_launch cholesky(int64_t side)
{
    return decompose(GSH_LAPACK_CHOLESKY_LO, side);
}

static struct gsh_launch eigenvalues(int64_t side)
{
    return decompose(GSH_LAPACK_EIG, side);
}

static struct gsh_launch transform(int64_t side)
{
    int64_t length = GSH_MAX(side * side / 2, 1); /* complex numbers, in the room of doubles */
    struct gsh_launch launch = {.kind = GSH_LAUNCH_FFT,
                                .loop = GSH_COMPLEX128,
                                .nin = 1,
                                .nout = 1,
                                .fft = {.rank = 1, .length = {length}, .factor = 1}};
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k].dtype = GSH_COMPLEX128;
        launch.fft.cores[k] = (struct gsh_core){{length, 1, 1}, {16, 0, 0}};
    }
    return launch;
}

static char letter_of(const struct gsh_call *call)
{
    switch (gsh_price_call(call, NULL).reason) {
    case GSH_REASON_NONE:
        return 'd';
    case GSH_REASON_DATA_ON_HOST:
        return 'h';
    case GSH_REASON_TOO_SMALL:
    case GSH_REASON_NO_GAIN:
        return '.';
    default:
        return '?';
    }
}

/* The letters of all sizes: inputs device_array, and a new output where `out` is NULL. */
static void check(struct gsh_launch make(int64_t side), double *in, double *out,
                  const char *expected, const char *what)
{
    char letters[16] = "";
    unsigned count = 0;
    for (int64_t elements = FEWEST, side = 2; elements <= COUNT; elements *= 4, side *= 2) {
        struct gsh_call call = {.launch = make(side)};
        if (!gsh_arena_contains(in))
            *in += 1; /* bytes that the device has not had (recent_uploads.h) */
        set_operands(&call, in, out != NULL ? out : host_array, out == NULL);
        letters[count++] = letter_of(&call);
    }
    if (!CHECK_STR(letters, expected))
        printf("%s\n", what);
}

/* Of operands that only the host has, with a new output; that only the device has, likewise; and of malloc's memory, with an
 * output device_array. The first size is of 4 elements, each next one of four times as many. */
static const struct {
    const char *what;
    struct gsh_launch (*make)(int64_t side);
    const char *on_host, *on_device, *unmanaged;
} rows[] = {
    {"add", add, "......hhddd", "ddddddddddd", "..........."},
    {"exp", exponential, ".....hhhddd", "ddddddddddd", "..........."},
    {"sum", sum, "......hhhdd", "ddddddddddd", ".......hhhh"},
    {"product, float64", multiply_double, "......hhddd", "ddddddddddd", "..........h"},
    {"product, float32", multiply_single, "......hhddd", "ddddddddddd", "..........h"},
    {"product, int64", multiply_integer, "...hhdddddd", "ddddddddddd", "....hdddddd"},
    {"cholesky", cholesky, "........ddd", "ddddddddddd", ".........hd"},
    {"eig", eigenvalues, ".........dd", ".........dd", ".........dd"},
    {"fft", transform, "....hhddddd", "ddddddddddd", "......hdddd"},
};

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    if (!live_start())
        return CHECK_SKIP;
    gsh_device_start(true);
    host_array = live_doubles(COUNT, GSH_ARENA_HOST);
    device_array = live_doubles(COUNT, GSH_ARENA_DEVICE);
    unmanaged = calloc(2 * COUNT, sizeof(double));
    struct gsh_call write = live_call(GSH_OP_ADD, NULL, NULL, 1, device_array, COUNT);
    write.fresh[0] = true;
    enum gsh_reason why = GSH_REASON_NONE;
    CHECK_INT(gsh_dispatch_run(&write, &why), GSH_OK);
    gsh_dispatch_synchronize();
    struct gsh_backend backend = *gsh_backend_get();
    backend.rates = gsh_cuda_backend.rates;
    backend.calibrates_host = false;
    gsh_backend_replace(&backend);
    for (unsigned i = 0; i < GSH_COUNT(rows); i++) {
        check(rows[i].make, host_array, NULL, rows[i].on_host, rows[i].what);
        check(rows[i].make, device_array, NULL, rows[i].on_device, rows[i].what);
        check(rows[i].make, unmanaged, unmanaged + COUNT, rows[i].unmanaged, rows[i].what);
    }
    free(unmanaged);
    gsh_arena_free(host_array);
    gsh_arena_free(device_array);
    return live_end();
}
