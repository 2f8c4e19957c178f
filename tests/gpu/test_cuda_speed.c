/* SPDX-License-Identifier: Apache-2.0
 *
 * What the backend "cuda" costs on this GPU, one line a figure: launches, memory, transfers,
 * kernels and matrix products; medians where a single call is timed. Asserts that each measured
 * call worked, not how fast: docs and benchmarks hold machines to numbers. Skipped where no GPU is.
 */
#include "clock.h"
#include "gpu_launch.h"
#include "open_gpu.h"

#include <sys/mman.h>

#define REPEATS 21
#define GIB ((size_t)1 << 30)

static double seconds_since(uint64_t start)
{
    return (double)(gsh_clock_ns() - start) * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static struct gsh_launch flat(enum gsh_launch_kind kind, unsigned nin, int64_t n,
                              const uint64_t *buffers)
{
    struct gsh_launch launch = make_launch(kind, GSH_FLOAT64, nin, 1, &n);
    for (unsigned k = 0; k <= nin; k++) {
        set_dense(&launch, k, GSH_FLOAT64, 1);
        launch.operands[k].address = buffers[k];
    }
    return launch;
}

/* Seconds per run of many submitted back to back, the device's last one waited for. */
static double time_runs(const struct gsh_launch *launch, int runs)
{
    CHECK_INT(dev->run(launch, 0), GSH_OK);
    CHECK(dev->synchronize() == GSH_OK);
    uint64_t start = gsh_clock_ns();
    for (int i = 0; i < runs; i++)
        if (dev->run(launch, 0) != GSH_OK)
            return NAN;
    CHECK(dev->synchronize() == GSH_OK);
    return seconds_since(start) / runs;
}

static void time_launches(const uint64_t *buffers)
{
    struct gsh_launch add = flat(GSH_LAUNCH_ELEMENTWISE, 2, 1000, buffers);
    add.op = GSH_OP_ADD;
    uint64_t start = gsh_clock_ns();
    CHECK_INT(dev->run(&add, 0), GSH_OK);
    printf("first launch, kernel not compiled before: %.1f ms\n", seconds_since(start) * 1e3);
    add.op = GSH_OP_MULTIPLY;
    start = gsh_clock_ns();
    CHECK_INT(dev->run(&add, 0), GSH_OK);
    printf("first launch of a second kernel: %.1f ms\n", seconds_since(start) * 1e3);
    CHECK(dev->synchronize() == GSH_OK);
    uint64_t submitted = gsh_clock_ns();
    for (int i = 0; i < 500; i++)
        CHECK(dev->run(&add, 0) == GSH_OK);
    printf("launch, submission alone: %.2f us\n", seconds_since(submitted) / 500 * 1e6);
    printf("launch, 1000 in a row: %.2f us\n", time_runs(&add, 1000) * 1e6);
    double values[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        start = gsh_clock_ns();
        CHECK(dev->run(&add, 0) == GSH_OK && dev->synchronize() == GSH_OK);
        values[i] = seconds_since(start);
    }
    printf("launch and synchronize: %.2f us\n", median(values, REPEATS) * 1e6);
    start = gsh_clock_ns();
    unsigned supported = 0;
    for (int i = 0; i < 1000; i++)
        supported += dev->supports(&add);
    printf("supports: %.3f us\n", seconds_since(start) / 1000 * 1e6);
    CHECK_INT(supported, 1000);
}

static void time_memory(void)
{
    static const size_t sizes[] = {4096, (size_t)64 << 20};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++) {
        uint64_t address, start = 0;
        for (int i = -20; i < 500; i++) {
            if (i == 0)
                start = gsh_clock_ns();
            CHECK(dev->allocate(sizes[s], &address) == GSH_OK);
            dev->release(address, sizes[s]);
        }
        printf("allocate and release %zu KiB: %.2f us\n", sizes[s] >> 10,
               seconds_since(start) / 500 * 1e6);
    }
}

static void time_kernels(const uint64_t *buffers)
{
    static const int64_t counts[] = {1000000, 10000000, 100000000};
    for (size_t i = 0; i < GSH_COUNT(counts); i++) {
        double n = (double)counts[i], t;
        struct gsh_launch add = flat(GSH_LAUNCH_ELEMENTWISE, 2, counts[i], buffers);
        add.op = GSH_OP_ADD;
        t = time_runs(&add, 50);
        printf("add f64 %.0e: %.4f ms, %.0f GB/s\n", n, t * 1e3, 24 * n / t * 1e-9);
        add.op = GSH_OP_EXP;
        add.nin = 1;
        t = time_runs(&add, 50);
        printf("exp f64 %.0e: %.4f ms, %.0f GB/s\n", n, t * 1e3, 16 * n / t * 1e-9);
        struct gsh_launch sum = flat(GSH_LAUNCH_REDUCE, 1, counts[i], buffers);
        sum.reduction = GSH_REDUCE_SUM;
        sum.nreduce = 1;
        sum.strides[1][0] = 0;
        t = time_runs(&sum, 50);
        printf("sum f64 %.0e: %.4f ms, %.0f GB/s\n", n, t * 1e3, 8 * n / t * 1e-9);
        const int64_t shape[] = {1000, counts[i] / 1000};
        struct gsh_launch copy = make_launch(GSH_LAUNCH_ELEMENTWISE, GSH_FLOAT64, 1, 2, shape);
        copy.op = GSH_OP_COPY;
        set_transposed(&copy, 0, GSH_FLOAT64);
        set_dense(&copy, 1, GSH_FLOAT64, 1);
        copy.operands[0].address = buffers[0];
        copy.operands[1].address = buffers[1];
        t = time_runs(&copy, 50);
        printf("transposing copy f64 %.0e: %.4f ms, %.0f GB/s\n", n, t * 1e3, 16 * n / t * 1e-9);
    }
}

static void time_products(const uint64_t *buffers)
{
    static const int64_t extents[] = {1, 512, 2048, 8192};
    for (int loop = GSH_FLOAT32; loop <= GSH_FLOAT64; loop++)
        for (size_t i = 0; i < GSH_COUNT(extents); i++) {
            int64_t n = extents[i];
            struct gsh_launch gemm = {
                .kind = GSH_LAUNCH_GEMM, .loop = (enum gsh_dtype)loop, .nin = 2, .nout = 1};
            for (int k = 0; k < 3; k++) {
                gemm.operands[k].dtype = (enum gsh_dtype)loop;
                gemm.operands[k].address = buffers[k];
            }
            /* 1: a matrix of 8192 columns times a vector */
            gemm.gemm = (struct gsh_gemm){n == 1 ? 8192 : n,
                                          n,
                                          n == 1 ? 8192 : n,
                                          n == 1 ? 8192 : n,
                                          1,
                                          n,
                                          1,
                                          n,
                                          1,
                                          1,
                                          0,
                                          false,
                                          false,
                                          GSH_GEMM_GE,
                                          0};
            uint64_t start = gsh_clock_ns();
            CHECK_INT(dev->run(&gemm, 0), GSH_OK);
            double submit = seconds_since(start);
            double t = time_runs(&gemm, n == 8192 ? 5 : 50);
            printf("product %s %lld: %.4f ms, %.1f TFLOP/s (first call %.1f ms)\n",
                   gsh_dtype_name((enum gsh_dtype)loop), (long long)n, t * 1e3,
                   2.0 * (double)gemm.gemm.m * (double)n * (double)gemm.gemm.k / t * 1e-12,
                   submit * 1e3);
        }
}

static void time_transfers(uint64_t device, unsigned char *host, bool registered)
{
    static const size_t sizes[] = {8, 4096, 65536, 1 << 20, 2 << 20, 8 << 20, GIB};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++) {
        double up[REPEATS], down[REPEATS];
        size_t repeats = sizes[s] == GIB ? 5 : REPEATS;
        for (size_t i = 0; i < repeats; i++) {
            uint64_t start = gsh_clock_ns();
            CHECK(dev->upload(device, host, sizes[s], registered) == GSH_OK);
            up[i] = seconds_since(start);
            CHECK(dev->synchronize() == GSH_OK);
            start = gsh_clock_ns();
            CHECK(dev->download(host, device, sizes[s], registered) == GSH_OK);
            down[i] = seconds_since(start);
        }
        double u = median(up, repeats), d = median(down, repeats);
        printf("%s %zu bytes: upload %.1f us, %.1f GB/s; download %.1f us, %.1f GB/s\n",
               registered ? "registered" : "pageable", sizes[s], u * 1e6,
               (double)sizes[s] / u * 1e-9, d * 1e6, (double)sizes[s] / d * 1e-9);
    }
}

int main(void)
{
    uint64_t buffers[3];
    size_t bytes = 800000000;
    uint64_t start = gsh_clock_ns();
    int status = open_gpu();
    if (status != 0)
        return status;
    printf("open: %.0f ms\n", seconds_since(start) * 1e3);
    for (int k = 0; k < 3; k++)
        if (!CHECK(dev->allocate(GSH_MAX(bytes, GIB), &buffers[k]) == GSH_OK))
            return check_result();
    time_launches(buffers);
    time_memory();
    time_kernels(buffers);
    time_products(buffers);
    unsigned char *host =
        mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(host, GIB, MADV_HUGEPAGE);
    memset(host, 1, GIB);
    time_transfers(buffers[0], host, false);
    start = gsh_clock_ns();
    CHECK(dev->register_host(host, GIB) == GSH_OK);
    printf("register 1 GiB: %.1f ms\n", seconds_since(start) * 1e3);
    time_transfers(buffers[0], host, true);
    start = gsh_clock_ns();
    dev->unregister_host(host, GIB);
    printf("unregister 1 GiB: %.1f ms\n", seconds_since(start) * 1e3);
    return check_result();
}
