/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend "cuda" on a real GPU, driven through its vtable alone: memory, transfers (registered
 * and not, under page protection, from several threads), kernels against the host's loops, matrix
 * products against a plain triple loop, the caller's CUDA context, and the kernel cache across
 * processes. `--shard K/N` runs a share of the cases. Skipped where no GPU is.
 * tests/gpu/test_cuda_speed.c measures.
 */
#include "open_gpu.h"
#include "options.h"
#include "shard.h"
#include "stats.h"

#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void fill_random(void *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)at)[i] = (unsigned char)(random_bits() >> 32);
}

static unsigned char *map_pages(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void test_memory(void)
{
    size_t free_before, free_after, total;
    uint64_t addresses[64];
    dev->memory(&free_before, &total);
    CHECK(free_before > 0 && free_before <= total);
    for (size_t i = 0; i < GSH_COUNT(addresses); i++) {
        CHECK(dev->allocate(1 + i * 4097, &addresses[i]) == GSH_OK);
        CHECK(addresses[i] % 256 == 0);
    }
    for (size_t i = 0; i < GSH_COUNT(addresses); i++)
        dev->release(addresses[i], 1 + i * 4097);
    dev->memory(&free_after, &total);
    CHECK_INT(free_after, free_before);
    uint64_t untouched = 7;
    CHECK(dev->allocate(total + 1, &untouched) == GSH_FAILED && untouched == 7);
    CHECK(dev->allocate((size_t)1 << 50, &untouched) == GSH_FAILED && untouched == 7);
    CHECK(dev->allocate(MIB, &untouched) == GSH_OK);
    dev->release(untouched, MIB);
    CHECK(dev->synchronize() == GSH_OK);
}

static void complement(unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)~at[i];
}

/* Up, across the device, and down again. The source changes as soon as upload returns; bytes beside
 * the destination stay. */
static void round_trip(unsigned char *src, unsigned char *dst, size_t size, size_t offset,
                       bool registered)
{
    uint64_t one = 0, two = 0;
    fill_random(src, GSH_MIN(size + 64, 4096));
    fill_random(src + size, 64);
    memset(dst, 0xa5, size + 128);
    CHECK(dev->allocate(size, &one) == GSH_OK);
    CHECK(dev->allocate(size, &two) == GSH_OK);
    CHECK(dev->upload(one, src + offset, size, registered) == GSH_OK);
    complement(src + offset, size);
    CHECK(dev->copy(two, one, size) == GSH_OK);
    CHECK(dev->download(dst + 64, two, size, registered) == GSH_OK);
    complement(src + offset, size);
    CHECK(memcmp(dst + 64, src + offset, size) == 0);
    bool clean = true;
    for (int i = 0; i < 64; i++)
        clean = clean && dst[i] == 0xa5 && dst[64 + size + (size_t)i] == 0xa5;
    CHECK(clean);
    dev->release(one, size);
    dev->release(two, size);
}

static void test_transfers(void)
{
    static const size_t sizes[] = {1,           3,        4096,         65535,
                                   65536,       65537,    1000003,      4 * MIB,
                                   4 * MIB + 1, 16 * MIB, 16 * MIB + 5, 33 * MIB + 7};
    size_t room = 34 * MIB;
    unsigned char *src = map_pages(room), *dst = map_pages(room);
    fill_random(src, MIB);
    for (size_t at = MIB; at < room; at += MIB) {
        memcpy(src + at, src, MIB);
        src[at]++; /* no two MiB alike */
    }
    for (size_t i = 0; i < GSH_COUNT(sizes); i++)
        for (size_t offset = 0; offset < 8; offset += 7)
            round_trip(src, dst, sizes[i], offset, false);
    CHECK(dev->register_host(src, room) == GSH_OK && dev->register_host(dst, room) == GSH_OK);
    for (size_t i = 0; i < GSH_COUNT(sizes); i++)
        for (size_t offset = 0; offset < 8; offset += 7)
            round_trip(src, dst, sizes[i], offset, true);
    dev->unregister_host(src, room);
    dev->unregister_host(dst, room);
    round_trip(src, dst, 5 * MIB, 1, false);
    munmap(src, room);
    munmap(dst, room);
}

/* Memory of the host that the device reaches is the device's memory too. */
static void test_mapped_memory(void)
{
    uint64_t device, there, number = 0;
    const uint64_t telling = UINT64_C(0x0123456789abcdef);
    uint64_t *host = dev->map_host(2 * sizeof *host, &device);
    if (!CHECK(host != NULL) || !CHECK(dev->allocate(sizeof number, &there) == GSH_OK))
        return;
    CHECK(dev->upload(device + sizeof *host, &telling, sizeof telling, false) == GSH_OK);
    CHECK(dev->synchronize() == GSH_OK);
    CHECK(host[0] == 0 && host[1] == telling);
    CHECK(dev->copy(there, device + sizeof *host, sizeof telling) == GSH_OK);
    CHECK(dev->download(&number, there, sizeof number, false) == GSH_OK && number == telling);
    CHECK(dev->download(&number, device, sizeof number, false) == GSH_OK && number == 0);
    dev->release(there, sizeof number);
}

/* Many small staged uploads at once: no slot is reused before its transfer is done. */
static void test_upload_burst(void)
{
    enum { COUNT = 1000, SIZE = 50000 };
    uint64_t device;
    unsigned char *host = malloc(SIZE);
    unsigned bad = 0;
    CHECK(dev->allocate((size_t)COUNT * SIZE, &device) == GSH_OK);
    for (size_t i = 0; i < COUNT; i++) {
        memset(host, (int)(i * 7 % 251), SIZE);
        CHECK(dev->upload(device + i * SIZE, host, SIZE, false) == GSH_OK);
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(dev->download(host, device + i * SIZE, SIZE, false) == GSH_OK);
        for (size_t b = 0; b < SIZE; b += 97)
            bad += host[b] != i * 7 % 251;
    }
    CHECK_INT(bad, 0);
    dev->release(device, (size_t)COUNT * SIZE);
    free(host);
}

static void test_protected_pages(void)
{
    static const size_t sizes[] = {8, 4096, 65536, MIB, 8 * MIB};
    size_t room = 8 * MIB;
    unsigned char *src = map_pages(room), *dst = map_pages(room), *plain = malloc(room);
    uint64_t device;
    CHECK(dev->ignores_protection);
    CHECK(dev->register_host(src, room) == GSH_OK && dev->register_host(dst, room) == GSH_OK);
    CHECK(dev->allocate(room, &device) == GSH_OK);
    for (size_t i = 0; i < GSH_COUNT(sizes); i++)
        for (int readable = 0; readable < 2; readable++) {
            fill_random(src, sizes[i]);
            memcpy(plain, src, sizes[i]);
            memset(dst, 0, sizes[i]);
            mprotect(src, room, PROT_READ);
            mprotect(dst, room, readable ? PROT_READ : PROT_NONE);
            CHECK(dev->upload(device, src, sizes[i], true) == GSH_OK);
            CHECK(dev->download(dst, device, sizes[i], true) == GSH_OK);
            if (readable) /* an unregistered source may be read-only */
                CHECK(dev->upload(device, src, sizes[i], false) == GSH_OK);
            mprotect(src, room, PROT_READ | PROT_WRITE);
            mprotect(dst, room, PROT_READ | PROT_WRITE);
            CHECK(memcmp(dst, plain, sizes[i]) == 0);
            CHECK(memcmp(src, plain, sizes[i]) == 0);
        }
    dev->unregister_host(src, room);
    dev->unregister_host(dst, room);
    dev->release(device, room);
    munmap(src, room);
    munmap(dst, room);
    free(plain);
}

struct downloader {
    pthread_t thread;
    uint64_t device;
    unsigned char *host;
    unsigned bad;
    unsigned char value;
    bool registered;
};

#define DOWNLOAD_BYTES (5 * MIB + 11)

static void *download_often(void *argument)
{
    struct downloader *self = argument;
    for (int i = 0; i < 40; i++) {
        memset(self->host, 0, DOWNLOAD_BYTES);
        self->bad += dev->download(self->host, self->device, i % 2 ? DOWNLOAD_BYTES : 999,
                                   self->registered) != GSH_OK;
        for (size_t b = 0; b < (i % 2 ? DOWNLOAD_BYTES : 999); b += 101)
            self->bad += self->host[b] != self->value;
    }
    return NULL;
}

/* Downloads in other threads beside uploads and copies in this one. */
static void test_threads(void)
{
    struct downloader threads[6];
    uint64_t scratch;
    unsigned char *host = malloc(DOWNLOAD_BYTES);
    CHECK(dev->allocate(DOWNLOAD_BYTES, &scratch) == GSH_OK);
    for (unsigned i = 0; i < GSH_COUNT(threads); i++) {
        struct downloader *self = &threads[i];
        *self = (struct downloader){.value = (unsigned char)(i + 1), .registered = i % 2};
        self->host = map_pages(DOWNLOAD_BYTES);
        memset(self->host, self->value, DOWNLOAD_BYTES);
        CHECK(dev->allocate(DOWNLOAD_BYTES, &self->device) == GSH_OK);
        CHECK(dev->upload(self->device, self->host, DOWNLOAD_BYTES, false) == GSH_OK);
        if (self->registered)
            CHECK(dev->register_host(self->host, DOWNLOAD_BYTES) == GSH_OK);
    }
    for (unsigned i = 0; i < GSH_COUNT(threads); i++)
        pthread_create(&threads[i].thread, NULL, download_often, &threads[i]);
    for (int i = 0; i < 60; i++) {
        CHECK(dev->upload(scratch, host, DOWNLOAD_BYTES, false) == GSH_OK);
        CHECK(dev->copy(scratch, threads[i % 6].device, DOWNLOAD_BYTES) == GSH_OK);
    }
    for (unsigned i = 0; i < GSH_COUNT(threads); i++) {
        struct downloader *self = &threads[i];
        pthread_join(self->thread, NULL);
        CHECK_INT(self->bad, 0);
        if (self->registered)
            dev->unregister_host(self->host, DOWNLOAD_BYTES);
        munmap(self->host, DOWNLOAD_BYTES);
        dev->release(self->device, DOWNLOAD_BYTES);
    }
    dev->release(scratch, DOWNLOAD_BYTES);
    free(host);
}

/* The context is current afterwards in a thread that had none, and only then. */
static void test_current_context(void)
{
    void *libcuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *before = NULL, *after = NULL;
    unsigned (*get_current)(void **) =
        (unsigned (*)(void **))(uintptr_t)dlsym(libcuda, "cuCtxGetCurrent");
    uint64_t address;
    if (!CHECK(get_current != NULL))
        return;
    CHECK(get_current(&before) == 0);
    CHECK(dev->allocate(100, &address) == GSH_OK);
    CHECK(dev->copy(address, address + 50, 50) == GSH_OK);
    dev->release(address, 100);
    CHECK(dev->synchronize() == GSH_OK);
    CHECK(get_current(&after) == 0 && after != NULL && (before == NULL || before == after));
}

/* Runs the launch on both sides from the same bytes. True where both ran; worst distance of the
 * outputs (guards and gaps included) in *worst, the host's output in *expected and the device's in
 * *actual where not NULL. */
static bool run_both(struct gsh_launch *launch, bool specials, uint64_t *worst)
{
    struct buffer buffers[GSH_MAX_OPERANDS] = {{0}};
    struct gsh_launch host = *launch;
    bool good = true;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        int64_t low, high;
        if (launch->operands[k].is_constant)
            continue;
        gsh_launch_extent(launch, k, &low, &high);
        good = make_buffer(dev, launch, k, specials && !gsh_launch_is_output(launch, k),
                           &buffers[k]) &&
               good;
        launch->operands[k].address = buffers[k].device + GUARD - (uint64_t)low;
        host.operands[k].address = (uint64_t)(uintptr_t)buffers[k].host + GUARD - (uint64_t)low;
    }
    gsh_launch_collapse(launch);
    gsh_launch_collapse(&host);
    CHECK(dev->supports(launch) == gsh_host_ops_supports(&host));
    good = good && CHECK_INT(dev->run(launch, 0), GSH_OK) &&
           CHECK_INT(gsh_host_ops_run(&host), GSH_OK);
    *worst = 0;
    for (unsigned k = launch->nin; good && k < launch->nin + launch->nout; k++) {
        struct buffer *out = &buffers[k];
        size_t bytes = out->size + 2 * GUARD;
        unsigned char *actual = malloc(bytes);
        good = CHECK(dev->download(actual, out->device, bytes, false) == GSH_OK);
        uint64_t distance = worst_distance(actual, out->host, bytes, launch->operands[k].dtype);
        *worst = GSH_MAX(*worst, distance);
        free(actual);
    }
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (!launch->operands[k].is_constant)
            drop_buffer(dev, &buffers[k]);
    return good;
}

enum layout {
    DENSE_LONG,
    DENSE,
    TRANSPOSED,
    BROADCAST,
    STEPS,
    CONSTANT,
    DEEP,
    MASKED,
    LAYOUT_COUNT
};

static struct gsh_launch lay_out(enum gsh_op op, enum gsh_dtype loop, enum layout layout)
{
    static const int64_t plane[] = {37, 53}, line[] = {100003}, deep[] = {3, 5, 2, 7, 4, 6};
    const struct gsh_op_info *info = gsh_op_info(op);
    int ndim = layout == DENSE_LONG ? 1 : layout == DEEP ? 6 : 2;
    struct gsh_launch launch = make_launch(GSH_LAUNCH_ELEMENTWISE, loop, info->nin, ndim,
                                           layout == DENSE_LONG ? line
                                           : layout == DEEP     ? deep
                                                                : plane);
    launch.op = op;
    for (unsigned k = 0; k < launch.nin; k++)
        set_dense(&launch, k, gsh_op_input_dtype(op, loop, k), layout == STEPS ? 2 : 1);
    launch.nout = info->nout;
    for (unsigned k = 0; k < launch.nout; k++)
        set_dense(&launch, launch.nin + k, gsh_launch_result_dtype(&launch, k),
                  layout == STEPS ? 3 : 1);
    if (layout == MASKED) {
        launch.has_mask = true;
        set_dense(&launch, launch.nin + launch.nout, GSH_BOOL, 1);
    }
    if (layout == TRANSPOSED)
        set_transposed(&launch, 0, launch.operands[0].dtype);
    if (layout == BROADCAST)
        launch.strides[launch.nin - 1][0] = 0;
    if (layout == STEPS)
        launch.strides[0][1] *= -1;
    if (layout == DEEP) /* dimensions that do not merge */
        for (int d = 0; d < ndim; d++)
            launch.strides[0][d] *= d % 2 ? -1 : 1;
    bool uses_index = info->flags & GSH_USES_INDEX;
    if (layout == CONSTANT || uses_index)
        for (unsigned k = uses_index ? 0 : launch.nin - 1; k < launch.nin; k++) {
            launch.operands[k].is_constant = true;
            fill_value(&launch.operands[k].constant, launch.operands[k].dtype, false);
            memset(launch.strides[k], 0, sizeof launch.strides[k]);
        }
    return launch;
}

/* Every layout of some ops, and of each other loop the dense one and another in turn: each is a kernel to compile. */
static bool is_tried(enum gsh_op op, int loop, enum layout layout)
{
    static const enum gsh_op all[] = {GSH_OP_ADD, GSH_OP_DIVMOD, GSH_OP_CLIP, GSH_OP_LDEXP};
    for (size_t i = 0; i < GSH_COUNT(all); i++)
        if (all[i] == op)
            return true;
    return layout == DENSE_LONG || (int)layout == 1 + ((int)op * 3 + loop) % (LAYOUT_COUNT - 1);
}

static void test_layout_within(enum gsh_op op, enum gsh_dtype loop, enum layout layout,
                               bool specials, uint64_t max_ulp)
{
    struct gsh_launch launch = lay_out(op, loop, layout);
    uint64_t worst = UINT64_MAX;
    bool ran = run_both(&launch, specials, &worst);
    if (!CHECK(ran && worst <= 2 * max_ulp)) /* each side may be off by max_ulp */
        printf("%s %s layout %d: %llu ulp\n", gsh_op_info(op)->name, gsh_dtype_name(loop),
               (int)layout, (unsigned long long)worst);
}

/* A complex power a**b is off by an ulp of its logarithm times |b log a|, and the signs of its infinite parts are
 * nobody's promise: moderate numbers within what that comes to, awkward ones roughly. */
static void test_complex_power(enum gsh_op op, enum gsh_dtype loop, enum layout layout)
{
    enum { MODERATE = 16, LARGE = 1 << 14 }; /* |b log a| */
    largest_part = 1;
    test_layout_within(op, loop, layout, false, gsh_op_max_ulp(op, loop) + MODERATE);
    largest_part = 10;
    has_one_infinity = true;
    test_layout_within(op, loop, layout, true, LARGE);
    has_one_infinity = false;
}

static void test_layout(enum gsh_op op, enum gsh_dtype loop, enum layout layout)
{
    bool is_power = op == GSH_OP_POWER || op == GSH_OP_FLOAT_POWER;
    if (is_power && gsh_dtype_kind(loop) == 'c') {
        test_complex_power(op, loop, layout);
        return;
    }
    bool is_open = (gsh_op_info(op)->flags & GSH_OPEN) != 0;
    bool cancels = op == GSH_OP_LOGADDEXP || op == GSH_OP_LOGADDEXP2 || op == GSH_OP_SPECIAL_KL_DIV;
    bool is_of_one = (gsh_op_info(op)->flags & GSH_OF_ONE) != 0;
    smallest_size = cancels ? 10 : is_of_one ? 1 : 0; /* of the inputs, or the row's unit */
    test_layout_within(op, loop, layout, !is_open || cancels, gsh_op_max_ulp(op, loop));
    smallest_size = 0;
}

static void test_elementwise(void)
{
    for (int op = 0; op < GSH_OP_COUNT; op++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++)
                if ((gsh_op_info((enum gsh_op)op)->dtypes >> loop & 1) &&
                    is_tried((enum gsh_op)op, loop, (enum layout)layout) && shard_takes_case())
                    test_layout((enum gsh_op)op, (enum gsh_dtype)loop, (enum layout)layout);
}

static void test_cast(enum gsh_dtype from, enum gsh_dtype to)
{
    static const int64_t shape[] = {5001};
    struct gsh_launch launch = make_launch(GSH_LAUNCH_ELEMENTWISE, from, 1, 1, shape);
    launch.op = GSH_OP_COPY;
    set_dense(&launch, 0, from, 1);
    set_dense(&launch, 1, to, 1);
    uint64_t worst = UINT64_MAX;
    if (!CHECK(run_both(&launch, true, &worst) && worst == 0))
        printf("cast %s to %s\n", gsh_dtype_name(from), gsh_dtype_name(to));
}

static void test_casts(void)
{
    for (int from = 0; from < GSH_DTYPE_COUNT; from++)
        for (int to = 0; to < GSH_DTYPE_COUNT; to++)
            if (shard_takes_case())
                test_cast((enum gsh_dtype)from, (enum gsh_dtype)to);
}

struct reduce_case {
    int ndim, nreduce;
    int64_t shape[3];
    bool transposed;
};

/* Float sums and products agree to a bound that grows with the terms' count, all else to the bit.
 */
static void test_reduction(enum gsh_reduction reduction, enum gsh_dtype loop,
                           const struct reduce_case *c)
{
    const struct gsh_reduction_info *info = gsh_reduction_info(reduction);
    bool is_inexact = gsh_dtype_kind(loop) == 'f' || gsh_dtype_kind(loop) == 'c';
    bool exact = info->max_ulp == 0 || !is_inexact;
    struct gsh_launch launch = make_launch(GSH_LAUNCH_REDUCE, loop, 1, c->ndim, c->shape);
    launch.reduction = reduction;
    launch.nreduce = c->nreduce;
    if (c->transposed)
        set_transposed(&launch, 0, loop);
    else
        set_dense(&launch, 0, loop, 1);
    int kept = c->ndim - c->nreduce;
    launch.ndim = kept; /* the output's strides are those of the kept dimensions */
    set_dense(&launch, 1, gsh_launch_result_dtype(&launch, 0), 1);
    launch.ndim = c->ndim;
    for (int d = kept; d < c->ndim; d++)
        launch.strides[1][d] = 0;
    uint64_t worst = UINT64_MAX;
    bool ran = run_both(&launch, exact, &worst);
    if (!CHECK(ran && worst <= (exact ? 0 : UINT64_C(1) << 20)))
        printf("%s %s %d of %d dimensions, shape %lld...: %llu ulp\n", info->name,
               gsh_dtype_name(loop), c->nreduce, c->ndim, (long long)c->shape[0],
               (unsigned long long)worst);
}

static void test_reduce(void)
{
    static const struct reduce_case cases[] = {
        {1, 1, {7}, false},         {1, 1, {1000003}, false},   {2, 1, {300, 1000}, false},
        {2, 1, {1000, 300}, true},  {2, 1, {3, 200001}, false}, {3, 1, {20, 30, 40}, false},
        {3, 2, {20, 30, 40}, true}, {2, 1, {100000, 3}, false},
    };
    static const struct reduce_case empty = {2, 1, {4, 0}, false};
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++) {
            if (!(gsh_reduction_info((enum gsh_reduction)r)->dtypes >> loop & 1) ||
                !shard_takes_case())
                continue;
            for (size_t i = 0; i < GSH_COUNT(cases); i++)
                test_reduction((enum gsh_reduction)r, (enum gsh_dtype)loop, &cases[i]);
            if (gsh_reduction_info((enum gsh_reduction)r)->neutral != GSH_NEUTRAL_FIRST)
                test_reduction((enum gsh_reduction)r, (enum gsh_dtype)loop, &empty);
        }
}

/* A sum near its true value (known by construction), and the same bits every time. */
static void test_sum_bits(void)
{
    enum { N = 10000019 };
    static const int64_t shape[] = {N};
    struct gsh_launch launch = make_launch(GSH_LAUNCH_REDUCE, GSH_FLOAT64, 1, 1, shape);
    uint64_t in = 0, out = 0;
    double *host = malloc(N * sizeof *host), first = 0, again;
    long double exact = 0;
    for (int i = 0; i < N; i++) {
        host[i] = random_unit();
        exact += host[i];
    }
    CHECK(dev->allocate(N * sizeof *host, &in) == GSH_OK && dev->allocate(8, &out) == GSH_OK);
    CHECK(dev->upload(in, host, N * sizeof *host, false) == GSH_OK);
    launch.reduction = GSH_REDUCE_SUM;
    launch.nreduce = 1;
    set_dense(&launch, 0, GSH_FLOAT64, 1);
    launch.operands[1].dtype = GSH_FLOAT64;
    launch.operands[0].address = in;
    launch.operands[1].address = out;
    for (int i = 0; i < 20; i++) {
        CHECK(dev->run(&launch, 0) == GSH_OK && dev->download(&again, out, 8, false) == GSH_OK);
        if (i == 0)
            first = again;
        CHECK(memcmp(&first, &again, 8) == 0);
    }
    CHECK(fabs((double)(first - exact)) < 32 * 0x1p-53 * N * 0.5);
    dev->release(in, N * sizeof *host);
    dev->release(out, 8);
    free(host);
}

#define EDGE 70 /* largest extent plus padding */
static double a64[EDGE * EDGE], b64[EDGE * EDGE], c64[EDGE * EDGE], r64[EDGE * EDGE];
static float a32[EDGE * EDGE], b32[EDGE * EDGE], c32[EDGE * EDGE], r32[EDGE * EDGE];
static uint64_t gemm_device[3];

/* Strides of a rows x columns matrix, `pad` elements between its lines. */
static void set_matrix(int64_t rows, int64_t columns, bool column_major, int64_t pad, int64_t *row,
                       int64_t *column)
{
    *row = column_major ? 1 : columns + pad;
    *column = column_major ? rows + pad : 1;
}

static double element(bool is_double, const double *x64, const float *x32, int64_t at)
{
    return is_double ? x64[at] : (double)x32[at];
}

/* Compares the whole of C's buffer: what the product does not own must be as it was. */
static unsigned count_wrong(const struct gsh_gemm *g, bool is_double)
{
    static bool owned[EDGE * EDGE];
    unsigned wrong = 0;
    double eps = is_double ? 0x1p-52 : 0x1p-23;
    memset(owned, 0, sizeof owned);
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            int64_t at = i * g->c_row + j * g->c_col;
            double sum = 0, size = 0;
            for (int64_t p = 0; p < g->k; p++) {
                double term = element(is_double, a64, a32, i * g->a_row + p * g->a_col) *
                              element(is_double, b64, b32, p * g->b_row + j * g->b_col);
                sum += term;
                size += fabs(term);
            }
            double alpha = creal(g->alpha), beta = creal(g->beta);
            double old = beta != 0 ? beta * element(is_double, c64, c32, at) : 0;
            double got = element(is_double, r64, r32, at);
            owned[at] = true;
            wrong +=
                !(fabs(got - (alpha * sum + old)) <= 4 * eps * (fabs(alpha) * size + fabs(old)));
        }
    for (size_t at = 0; at < EDGE * EDGE; at++)
        wrong += !owned[at] &&
                 (is_double ? memcmp(&r64[at], &c64[at], 8) : memcmp(&r32[at], &c32[at], 4));
    return wrong;
}

static void run_gemm(const struct gsh_gemm *g, bool is_double)
{
    enum gsh_dtype dtype = is_double ? GSH_FLOAT64 : GSH_FLOAT32;
    size_t bytes = is_double ? sizeof c64 : sizeof c32;
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_GEMM, .loop = dtype, .nin = 2, .nout = 1, .gemm = *g};
    for (int k = 0; k < 3; k++) {
        launch.operands[k].dtype = dtype;
        launch.operands[k].address = gemm_device[k];
    }
    CHECK(dev->upload(gemm_device[2], is_double ? (void *)c64 : (void *)c32, bytes, false) ==
          GSH_OK);
    bool good = CHECK(dev->supports(&launch)) && CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
                CHECK(dev->download(is_double ? (void *)r64 : (void *)r32, gemm_device[2], bytes,
                                    false) == GSH_OK);
    if (good && !CHECK_INT(count_wrong(g, is_double), 0))
        printf("gemm %s m %lld n %lld k %lld a %lld,%lld b %lld,%lld c %lld,%lld beta %g\n",
               is_double ? "f64" : "f32", (long long)g->m, (long long)g->n, (long long)g->k,
               (long long)g->a_row, (long long)g->a_col, (long long)g->b_row, (long long)g->b_col,
               (long long)g->c_row, (long long)g->c_col, creal(g->beta));
}

static void run_gemm_layouts(int64_t m, int64_t n, int64_t k)
{
    for (unsigned bits = 0; bits < 32; bits++) {
        int64_t pad = bits & 8 ? 3 : 0;
        bool scaled = bits & 16;
        struct gsh_gemm g = {
            .m = m, .n = n, .k = k, .alpha = scaled ? -1.5 : 1, .beta = scaled ? 2 : 0};
        set_matrix(m, k, bits & 1, pad, &g.a_row, &g.a_col);
        set_matrix(k, n, bits & 2, pad, &g.b_row, &g.b_col);
        set_matrix(m, n, bits & 4, pad, &g.c_row, &g.c_col);
        if (k == 0) /* as NumPy strides an empty array */
            g.a_row = g.a_col = g.b_row = g.b_col = 1;
        /* Beta 0 does not read C: NaN in it does not spread. */
        for (int i = 0; i < EDGE * EDGE; i++) {
            c64[i] = scaled ? random_unit() : NAN;
            c32[i] = scaled ? (float)random_unit() : NAN;
        }
        CHECK(dev->upload(gemm_device[0], a64, sizeof a64, false) == GSH_OK);
        CHECK(dev->upload(gemm_device[1], b64, sizeof b64, false) == GSH_OK);
        run_gemm(&g, true);
        CHECK(dev->upload(gemm_device[0], a32, sizeof a32, false) == GSH_OK);
        CHECK(dev->upload(gemm_device[1], b32, sizeof b32, false) == GSH_OK);
        run_gemm(&g, false);
    }
}

static void test_gemm(void)
{
    static const int64_t extents[] = {1, 2, 17, 64};
    for (int i = 0; i < EDGE * EDGE; i++) {
        a64[i] = random_unit(), b64[i] = random_unit();
        a32[i] = (float)a64[i], b32[i] = (float)b64[i];
    }
    for (int k = 0; k < 3; k++)
        CHECK(dev->allocate(sizeof a64, &gemm_device[k]) == GSH_OK);
    for (size_t m = 0; m < GSH_COUNT(extents); m++)
        for (size_t n = 0; n < GSH_COUNT(extents); n++) {
            run_gemm_layouts(extents[m], extents[n], 0);
            for (size_t k = 0; k < GSH_COUNT(extents); k++)
                run_gemm_layouts(extents[m], extents[n], extents[k]);
        }
    struct gsh_launch bad = {.kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64, .nin = 2, .nout = 1};
    bad.gemm = (struct gsh_gemm){4, 4, 4, 4, 1, 4, 1, 4, 1, 1, 0, false, false, GSH_GEMM_GE, 0};
    for (int k = 0; k < 3; k++)
        bad.operands[k].dtype = GSH_FLOAT64;
    CHECK(dev->supports(&bad));
    bad.operands[1].dtype = GSH_FLOAT32;
    CHECK(!dev->supports(&bad));
    for (int k = 0; k < 3; k++)
        dev->release(gemm_device[k], sizeof a64);
}

/* In a process of its own: some kernels, which only the first with this cache folder compiles. */
static int run_as_child(const char *which, const char *folder)
{
    char why[256];
    setenv("GPUSHIM_CACHE_DIR", folder, 1);
    gsh_options_init();
    if (CHECK_INT(dev->open(why, sizeof why), GSH_OK))
        for (int to = 0; to < GSH_DTYPE_COUNT; to++)
            test_cast(GSH_FLOAT64, (enum gsh_dtype)to);
    uint64_t compiled = gsh_stats_get(GSH_COUNTER_COMPILES);
    uint64_t found = gsh_stats_get(GSH_COUNTER_CACHE_HITS);
    if (strcmp(which, "first") == 0)
        CHECK(compiled > 0 && found == 0);
    else
        CHECK(compiled == 0 && found > 0);
    return check_result();
}

static void test_two_processes(void)
{
    static char self[] = "/proc/self/exe", first[] = "first", second[] = "second";
    char folder[] = "/tmp/gsh_gpu_cache_XXXXXX", command[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    for (int i = 0; i < 2; i++) {
        char *arguments[] = {self, i == 0 ? first : second, folder, NULL};
        pid_t child;
        int status = -1;
        if (CHECK_INT(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0))
            waitpid(child, &status, 0);
        CHECK_INT(status, 0);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_INT(system(command), 0);
}

static void test_all(void)
{
    static void (*const whole[])(void) = {
        test_memory,          test_transfers,    test_mapped_memory,   test_upload_burst,
        test_protected_pages, test_threads,      test_current_context, test_gemm,
        test_sum_bits,        test_two_processes};
    for (size_t i = 0; i < GSH_COUNT(whole); i++)
        if (shard_takes_case())
            whole[i]();
    test_elementwise();
    test_casts();
    test_reduce();
}

int main(int argc, char **argv)
{
    if (argc == 3 && (strcmp(argv[1], "first") == 0 || strcmp(argv[1], "second") == 0))
        return run_as_child(argv[1], argv[2]);
    if (argc > 1 && !shard_parse(argc, argv)) {
        printf("usage: %s [--shard K/N]\n", argv[0]);
        return 2;
    }
    int status = open_gpu();
    if (status != 0)
        return status;
    describe_gpu();
    test_all();
    CHECK(dev->synchronize() == GSH_OK);
    shard_print();
    printf("%llu kernels compiled, %llu from the disk cache\n",
           (unsigned long long)gsh_stats_get(GSH_COUNTER_COMPILES),
           (unsigned long long)gsh_stats_get(GSH_COUNTER_CACHE_HITS));
    return check_result();
}
