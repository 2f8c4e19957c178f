/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches of all layouts on a device whose transforms follow the definition and which refuses lines that are not as
 * fft_run.h promises them; on the host device, where FFTW is; and what is gathered, scattered and transformed how often.
 */
#include "backend.h"
#include "fft_cases.h"
#include "fft_run.h"
#include "host_ops.h"
#include "hostemu_fft.h"
#include "options.h"

static unsigned transforms, copies, allocations;
static struct gsh_fft_lines last; /* transformed */
static unsigned allocation_limit; /* how many succeed */

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    if (allocation_limit == allocations)
        return GSH_FAILED;
    allocations++;
    void *memory = malloc(size);
    memset(memory, 0xff, size);
    *address = (uint64_t)memory;
    return GSH_OK;
}

static unsigned releases;

static void release(uint64_t address, size_t size)
{
    (void)size;
    releases++;
    free((void *)address);
}

static enum gsh_status clear(uint64_t address, size_t size)
{
    memset((void *)address, 0, size);
    return GSH_OK;
}

static enum gsh_status launch_copy(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    copies++;
    return gsh_host_ops_supports(launch) ? gsh_host_ops_run(launch) : GSH_DECLINED;
}

/* The definition, in double: accurate enough for what is tested here. */
static void transform_line(const struct gsh_fft_lines *lines, const unsigned char *in,
                           unsigned char *out)
{
    bool real_in = lines->type == GSH_FFT_R2C, real_out = lines->type == GSH_FFT_C2R;
    int in_parts = real_in ? 1 : 2, out_parts = real_out ? 1 : 2;
    int64_t n = lines->length, half = n / 2;
    double sign = lines->is_inverse ? 1 : -1;
    for (int64_t k = 0; k < lines->numbers[1]; k++) {
        long double sum[2] = {0, 0};
        for (int64_t j = 0; j < n; j++) {
            int64_t from = real_out && j > half ? n - j : j;
            int64_t at = from * lines->stride[0] * in_parts;
            long double re = lines->is_single ? (long double)((const float *)in)[at]
                                              : (long double)((const double *)in)[at];
            long double im = 0;
            if (!real_in)
                im = lines->is_single ? (long double)((const float *)in)[at + 1]
                                      : (long double)((const double *)in)[at + 1];
            im = from != j ? -im : im;
            long double turn = sign * 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
            sum[0] += re * cosl(turn) - im * sinl(turn);
            sum[1] += re * sinl(turn) + im * cosl(turn);
        }
        int64_t at = k * lines->stride[1] * out_parts;
        CHECK(!real_out || fabsl(sum[1]) < 1e-2L * (1 + fabsl(sum[0]))); /* imaginary parts are 0 */
        for (int part = 0; part < out_parts; part++)
            if (lines->is_single)
                ((float *)out)[at + part] = (float)sum[part];
            else
                ((double *)out)[at + part] = (double)sum[part];
    }
}

static enum gsh_status transform(const struct gsh_fft_lines *lines, unsigned row)
{
    (void)row;
    transforms++;
    last = *lines;
    size_t real = lines->is_single ? sizeof(float) : sizeof(double);
    size_t size[2] = {(lines->type == GSH_FFT_R2C ? 1 : 2) * real,
                      (lines->type == GSH_FFT_C2R ? 1 : 2) * real};
    for (unsigned k = 0; k < 2; k++)
        CHECK(lines->stride[k] > 0 && lines->distance[k] > 0 &&
              lines->address[k] % (2 * real) == 0);
    for (int64_t i = 0; i < lines->count; i++)
        transform_line(
            lines,
            (const unsigned char *)lines->address[0] + (size_t)(i * lines->distance[0]) * size[0],
            (unsigned char *)lines->address[1] + (size_t)(i * lines->distance[1]) * size[1]);
    return GSH_OK;
}

static const struct gsh_fft_device device = {allocate, release, clear, launch_copy, transform};

static enum gsh_status run_defined(const struct gsh_launch *launch)
{
    return gsh_fft_run(&device, launch, 0);
}

static enum gsh_status run_on_host(const struct gsh_launch *launch)
{
    return gsh_hostemu_backend.run(launch, 0);
}

/* Runs the case on host memory; the addresses become real ones for that. */
static enum gsh_status run_case(const struct fft_case *made,
                                enum gsh_status (*run)(const struct gsh_launch *))
{
    struct gsh_launch launch = made->launch;
    for (unsigned k = 0; k < 2; k++)
        launch.operands[k].address += (uint64_t)made->memory[k];
    gsh_launch_collapse(&launch);
    return run(&launch);
}

static void check_case(struct fft_case *made, enum gsh_status (*run)(const struct gsh_launch *))
{
    unsigned char *before[2];
    for (unsigned k = 0; k < 2; k++) {
        before[k] = malloc(made->bytes[k]);
        memcpy(before[k], made->memory[k], made->bytes[k]);
    }
    CHECK(gsh_fft_supports(&made->launch));
    CHECK(run_case(made, run) == GSH_OK);
    CHECK(memcmp(before[0], made->memory[0], made->bytes[0]) == 0);
    double error = fft_judge(made, before[1]);
    if (!CHECK(error <= 1))
        fft_print(&made->launch, error);
    CHECK_INT(allocations, releases);
    free(before[0]);
    free(before[1]);
    fft_free(made);
}

static void test_random(enum gsh_status (*run)(const struct gsh_launch *), int64_t longest)
{
    for (size_t i = 0; i < GSH_COUNT(fft_lengths); i++)
        for (int repeat = 0; repeat < 12 && fft_lengths[i] <= longest; repeat++) {
            struct fft_case made = fft_make(fft_lengths[i], repeat < 3);
            check_case(&made, run);
        }
}

/* What one case took. */
static void count_case(struct fft_case *made, unsigned wants_transforms, unsigned wants_copies,
                       unsigned wants_allocations)
{
    transforms = copies = allocations = releases = 0;
    check_case(made, run_defined);
    CHECK_INT(transforms, wants_transforms);
    CHECK_INT(copies, wants_copies);
    CHECK_INT(allocations, wants_allocations);
}

/* complex128, C2C, `length` points along the middle of (outer, length, inner) in C order. */
static struct fft_case make_middle(int64_t outer, int64_t length, int64_t inner)
{
    struct fft_case made;
    do {
        made = fft_make(length, true);
        if (made.launch.fft.type != GSH_FFT_C2C || made.launch.loop != GSH_COMPLEX128)
            fft_free(&made);
    } while (made.launch.fft.type != GSH_FFT_C2C || made.launch.loop != GSH_COMPLEX128);
    made.launch.fft.factor = 1;
    made.launch.ndim = 2;
    for (unsigned k = 0; k < 2; k++) {
        made.launch.shape[0] = outer;
        made.launch.shape[1] = inner;
        made.launch.strides[k][0] = 16 * length * inner;
        made.launch.strides[k][1] = 16;
        made.launch.fft.cores[k].stride[0] = 16 * inner;
        free(made.memory[k]);
        fft_make_memory(&made, k);
    }
    return made;
}

static void test_work(void)
{
    struct fft_case made = make_middle(1, 8, 5);
    count_case(&made, 1, 0, 0); /* columns */
    made = make_middle(4, 8, 1);
    made.launch.fft.factor = 0.5;
    count_case(&made, 1, 1, 0); /* rows; the factor in place */
    made = make_middle(3, 8, 5);
    count_case(&made, 3, 0, 0);
    made = make_middle(5, 8, 3);
    count_case(&made, 3, 0, 0);
    made = make_middle(16, 8, 17);
    count_case(&made, 16, 0, 0);
    made = make_middle(17, 8, 18);
    made.launch.fft.factor = 0.5;
    count_case(&made, 1, 2, 2); /* too many: by way of workspaces, the factor with the first copy */
    CHECK(last.distance[0] == 1 &&
          last.distance[1] == 1); /* which are interleaved as the operands */
    made = make_middle(5, 8, 1);
    made.launch.fft.cores[0].extent[0] = 6;
    count_case(&made, 1, 1, 1);
    CHECK(last.distance[0] == 8 && last.stride[0] == 1);
    made = make_middle(1, 8, 5);
    made.launch.fft.cores[0].extent[0] = 6;
    made.launch.fft.factor = 0.5;
    count_case(&made, 1, 1, 1); /* padded */
    made = make_middle(1, 8, 5);
    made.launch.strides[0][1] = 0;
    count_case(&made, 1, 1, 1); /* stretched */
    CHECK(last.distance[0] == 8 && last.stride[0] == 1);
}

static void test_no_memory(void)
{
    for (allocation_limit = 0; allocation_limit < 2; allocation_limit++) {
        struct fft_case made = make_middle(17, 8, 18);
        unsigned char *before = malloc(made.bytes[1]);
        memcpy(before, made.memory[1], made.bytes[1]);
        transforms = allocations = releases = 0;
        CHECK(run_case(&made, run_defined) == GSH_FAILED);
        CHECK(memcmp(before, made.memory[1], made.bytes[1]) == 0);
        CHECK_INT(releases, allocation_limit);
        CHECK_INT(transforms, 0);
        free(before);
        fft_free(&made);
    }
    allocation_limit = ~0U;
}

static void test_supports(void)
{
    struct fft_case made = make_middle(3, 8, 5);
    struct gsh_launch launch = made.launch;
    launch.fft.rank = 2;
    CHECK(!gsh_fft_supports(&launch));
    launch = made.launch;
    launch.operands[1].dtype = GSH_COMPLEX64;
    CHECK(!gsh_fft_supports(&launch));
    launch = made.launch;
    launch.fft.cores[1].extent[0] = 7;
    CHECK(!gsh_fft_supports(&launch));
    launch = made.launch;
    launch.ndim = GSH_MAX_DIMS - 1;
    CHECK(!gsh_fft_supports(&launch));
    fft_free(&made);
}

int main(void)
{
    gsh_options_init();
    allocation_limit = ~0U;
    test_random(run_defined, 100);
    test_work();
    test_no_memory();
    test_supports();
    struct fft_case made = make_middle(3, 8, 5);
    bool has_library = gsh_hostemu_fft_supports(&made.launch);
    fft_free(&made);
    printf("host device: transforms by %s\n", gsh_hostemu_fft_name());
    if (has_library) {
        char why[64];
        CHECK(gsh_hostemu_backend.open(why, sizeof why) == GSH_OK);
        test_random(run_on_host, 1024);
    }
    return check_result();
}
