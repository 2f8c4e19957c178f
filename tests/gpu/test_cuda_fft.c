/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches on a GPU: random ones of all types, lengths and layouts against the definition; inputs keep their bytes, a
 * repeated run gives the same bits, and more plans than are kept at once. `--shard K/N` runs a share of the cases, `speed`
 * measures. Skipped where no GPU is.
 */
#include "fft_cases.h"
#include "open_gpu.h"
#include "shard.h"

#include <time.h>

static double worst[2]; /* errors of single and double transforms */

/* Uploads both operands, runs the launch, downloads into `got`. False: it did not run. */
static bool run_on_device(const struct fft_case *made, unsigned char *const *got)
{
    struct gsh_launch launch = made->launch;
    uint64_t memory[2] = {0, 0};
    bool runs = true;
    for (unsigned k = 0; k < 2; k++) {
        runs &= dev->allocate(made->bytes[k], &memory[k]) == GSH_OK;
        if (runs)
            runs &= dev->upload(memory[k], made->memory[k], made->bytes[k], false) == GSH_OK;
        launch.operands[k].address += memory[k];
    }
    gsh_launch_collapse(&launch);
    runs = runs && CHECK(dev->supports(&launch)) && CHECK(dev->run(&launch, 0) == GSH_OK);
    for (unsigned k = 0; k < 2; k++) {
        if (runs)
            runs &= CHECK(dev->download(got[k], memory[k], made->bytes[k], false) == GSH_OK);
        if (memory[k] != 0)
            dev->release(memory[k], made->bytes[k]);
    }
    return runs;
}

static void check_case(struct fft_case *made)
{
    unsigned char *got[2] = {malloc(made->bytes[0]), malloc(made->bytes[1])};
    unsigned char *again[2] = {malloc(made->bytes[0]), malloc(made->bytes[1])};
    if (run_on_device(made, got) && run_on_device(made, again)) {
        bool is_single = made->launch.loop == GSH_COMPLEX64;
        CHECK(memcmp(got[0], made->memory[0], made->bytes[0]) == 0);
        CHECK(memcmp(got[1], again[1], made->bytes[1]) == 0);
        unsigned char *before = made->memory[1];
        made->memory[1] = got[1];
        double error = fft_judge(made, before);
        made->memory[1] = before;
        worst[!is_single] = error > worst[!is_single] ? error : worst[!is_single];
        if (!CHECK(error <= 1))
            fft_print(&made->launch, error);
    }
    for (unsigned k = 0; k < 2; k++) {
        free(got[k]);
        free(again[k]);
    }
}

static void test_random(void)
{
    for (size_t i = 0; i < GSH_COUNT(fft_lengths); i++)
        for (int repeat = 0; repeat < 40; repeat++) {
            bool runs = shard_takes_case();
            fft_random_state = UINT64_C(88172645463325252) + 1000 * i + (uint64_t)repeat;
            (void)fft_random(1);
            struct fft_case made = fft_make(fft_lengths[i], repeat < 6);
            if (runs)
                check_case(&made);
            fft_free(&made);
        }
}

/* ---- speed ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Lines of complex128 along the middle of (outer, length, inner) in C order, on `memory`. */
static void measure(int64_t outer, int64_t length, int64_t inner, double factor,
                    const uint64_t *memory)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_FFT, .loop = GSH_COMPLEX128, .nin = 1, .nout = 1, .ndim = 2};
    launch.shape[0] = outer;
    launch.shape[1] = inner;
    launch.fft = (struct gsh_fft){.rank = 1, .length = {length, 1, 1}, .factor = factor};
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_COMPLEX128, .address = memory[k]};
        launch.strides[k][0] = 16 * length * inner;
        launch.strides[k][1] = 16;
        launch.fft.cores[k] =
            (struct gsh_core){.extent = {length, 1, 1}, .stride = {16 * inner, 0, 0}};
    }
    gsh_launch_collapse(&launch);
    double best = 1;
    for (int repeat = 0; repeat < 20; repeat++) {
        double begin = seconds();
        CHECK(dev->run(&launch, 0) == GSH_OK);
        CHECK(dev->finish() == GSH_OK);
        best = fmin(best, seconds() - begin);
    }
    printf("c128 (%lld, %lld, %lld) over the middle, factor %g: %.1f us, %.0f GB/s\n",
           (long long)outer, (long long)length, (long long)inner, factor, best * 1e6,
           32e-9 * (double)(outer * length * inner) / best);
}

static void test_speed(void)
{
    uint64_t memory[2];
    for (unsigned k = 0; k < 2; k++) {
        if (!CHECK(dev->allocate((size_t)1 << 29, &memory[k]) == GSH_OK))
            return;
        dev->clear(memory[k], (size_t)1 << 29);
    }
    for (int shift = 10; shift <= 24; shift += 2)
        measure(1, INT64_C(1) << shift, 1, 1, memory);
    measure(1, 1 << 24, 1, 0.5, memory);
    measure(1000, 4096, 1, 1, memory);
    measure(4096, 4096, 1, 1, memory);
    measure(1, 4096, 4096, 1, memory);
    measure(4, 256, 16384, 1, memory);
    measure(16, 256, 4096, 1, memory);
    measure(256, 256, 256, 1, memory);
    measure(1, 256, 65536, 1, memory);
}

int main(int argc, char **argv)
{
    bool is_speed = argc == 2 && strcmp(argv[1], "speed") == 0;
    if (argc > 1 && !is_speed && !shard_parse(argc, argv)) {
        printf("usage: %s [--shard K/N | speed]\n", argv[0]);
        return 2;
    }
    int status = open_gpu();
    if (status != 0)
        return status;
    if (is_speed)
        test_speed();
    else
        test_random();
    CHECK(dev->synchronize() == GSH_OK);
    describe_gpu();
    if (!is_speed) {
        printf("largest error in eps log2(2 n): %.3f single, %.3f double\n", worst[0], worst[1]);
        shard_print();
    }
    return check_result();
}
