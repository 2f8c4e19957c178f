/* SPDX-License-Identifier: Apache-2.0
 *
 * FFT launches of all layouts on a device whose transforms follow the definition and which refuses lines that are not as
 * fft_run.h promises them; on the host device, where FFTW is; and what is gathered, scattered and transformed how often.
 */
#include "backend.h"
#include "emu_fft.h"
#include "fft_cases.h"
#include "fft_host.h"
#include "host_ops.h"
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

static bool refuses_many; /* dimensions at once */

static int64_t byte_of(const struct gsh_fft_lines *lines, unsigned k, const int64_t *at,
                       int64_t transform)
{
    int64_t number = transform * lines->distance[k];
    for (int d = 0; d < lines->rank; d++)
        number += at[d] * lines->stride[k][d];
    bool is_real = lines->type == (k == 0 ? GSH_FFT_R2C : GSH_FFT_C2R);
    return number * (is_real ? 1 : 2) * (lines->is_single ? 4 : 8);
}

static enum gsh_dtype dtype_of(const struct gsh_fft_lines *lines, unsigned k)
{
    if (lines->type == (k == 0 ? GSH_FFT_R2C : GSH_FFT_C2R))
        return lines->is_single ? GSH_FLOAT32 : GSH_FLOAT64;
    return lines->is_single ? GSH_COMPLEX64 : GSH_COMPLEX128;
}

static void write_number(unsigned char *to, enum gsh_dtype dtype, const long double *parts)
{
    for (int part = 0; part < (gsh_dtype_kind(dtype) == 'c' ? 2 : 1); part++)
        if (dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64)
            ((float *)to)[part] = (float)parts[part];
        else
            ((double *)to)[part] = (double)parts[part];
}

/* By the definition. */
static void transform_one(const struct gsh_fft_lines *lines, int64_t number)
{
    struct gsh_fft fft = {.type = lines->type, .is_inverse = lines->is_inverse};
    int64_t extent[GSH_CORE_DIMS] = {1, 1, 1}, at[GSH_CORE_DIMS] = {0};
    for (int d = 0; d < lines->rank; d++) {
        fft.length[d] = lines->length[d];
        extent[d] = lines->numbers[0][d];
        fft.cores[1].extent[d] = lines->numbers[1][d];
    }
    struct fft_array array = fft_new_array(extent);
    do
        fft_read((const unsigned char *)lines->address[0] + byte_of(lines, 0, at, number),
                 dtype_of(lines, 0), fft_number(&array, at));
    while (fft_step(at, extent, GSH_CORE_DIMS));
    for (int64_t j = 0; lines->type == GSH_FFT_C2R && 2 * j <= lines->length[0];
         j += GSH_MAX(lines->length[0] / 2, 1))
        CHECK((2 * j != 0 && 2 * j != lines->length[0]) || array.numbers[2 * j + 1] == 0);
    for (int d = lines->rank; d-- > 0;)
        fft_along(&fft, d == lines->rank - 1 ? lines->type : GSH_FFT_C2C, d, &array);
    do
        write_number((unsigned char *)lines->address[1] + byte_of(lines, 1, at, number),
                     dtype_of(lines, 1), fft_number(&array, at));
    while (fft_step(at, array.extent, GSH_CORE_DIMS));
    free(array.numbers);
}

static void check_lines(const struct gsh_fft_lines *lines)
{
    size_t size = lines->is_single ? 8 : 16;
    CHECK(lines->rank == 1 || lines->type != GSH_FFT_C2R);
    for (unsigned k = 0; k < 2; k++) {
        CHECK(lines->distance[k] > 0 && lines->address[k] % size == 0);
        for (int d = 0; d < lines->rank; d++)
            CHECK(lines->stride[k][d] > 0);
        for (int d = 1; d < lines->rank; d++)
            CHECK(lines->stride[k][d - 1] % lines->stride[k][d] == 0 &&
                  lines->stride[k][d - 1] >= lines->stride[k][d] * lines->numbers[k][d]);
    }
}

static enum gsh_status transform(const struct gsh_fft_lines *lines, unsigned row)
{
    (void)row;
    if (lines->rank > 1 && refuses_many)
        return GSH_DECLINED;
    transforms++;
    last = *lines;
    check_lines(lines);
    for (int64_t i = 0; i < lines->count; i++)
        transform_one(lines, i);
    return GSH_OK;
}

static const struct gsh_fft_device device = {.allocate = allocate,
                                             .release = release,
                                             .clear = clear,
                                             .launch = launch_copy,
                                             .transform = transform};

static enum gsh_status run_defined(const struct gsh_launch *launch)
{
    return gsh_fft_run(&device, launch, 0);
}

static enum gsh_status run_on_host(const struct gsh_launch *launch)
{
    return gsh_emu_backend.run(launch, 0);
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
    CHECK(gsh_fft_run_supports(&made->launch));
    enum gsh_status status = run_case(made, run);
    CHECK(memcmp(before[0], made->memory[0], made->bytes[0]) == 0);
    /* real rows of odd length cannot be transformed one dimension after another where they lie */
    bool may_fail = refuses_many && made->launch.fft.type == GSH_FFT_R2C;
    CHECK(status == GSH_OK || (may_fail && status == GSH_FAILED));
    double error = status == GSH_OK ? fft_judge(made, before[1]) : 0;
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

/* complex128, C2C, over dimensions of (a, b, c) in C order, as many as `rank` from `first` on; the others are the batch. */
static struct fft_case make_cube(const int64_t *shape, int first, int rank)
{
    struct fft_case made = {.launch = {.kind = GSH_LAUNCH_FFT, .nin = 1, .nout = 1}};
    struct gsh_launch *launch = &made.launch;
    launch->loop = GSH_COMPLEX128;
    launch->fft = (struct gsh_fft){.rank = rank, .length = {1, 1, 1}, .factor = 1};
    for (unsigned k = 0; k < 2; k++) {
        struct gsh_core *core = &launch->fft.cores[k];
        int64_t step = 16;
        launch->operands[k].dtype = GSH_COMPLEX128;
        launch->ndim = 3 - rank;
        *core = (struct gsh_core){{1, 1, 1}, {0, 0, 0}};
        for (int d = 3, batch = launch->ndim; d-- > 0; step *= shape[d]) {
            if (d >= first && d < first + rank) {
                launch->fft.length[d - first] = core->extent[d - first] = shape[d];
                core->stride[d - first] = step;
                continue;
            }
            launch->shape[--batch] = shape[d];
            launch->strides[k][batch] = step;
        }
        fft_make_memory(&made, k);
    }
    return made;
}

static struct fft_case make_middle(int64_t outer, int64_t length, int64_t inner)
{
    return make_cube((int64_t[]){outer, length, inner}, 1, 1);
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
    CHECK(last.distance[0] == 8 && last.stride[0][0] == 1);
    made = make_middle(1, 8, 5);
    made.launch.fft.cores[0].extent[0] = 6;
    made.launch.fft.factor = 0.5;
    count_case(&made, 1, 1, 1); /* padded */
    made = make_middle(1, 8, 5);
    made.launch.strides[0][1] = 0;
    count_case(&made, 1, 1, 1); /* stretched */
    CHECK(last.distance[0] == 8 && last.stride[0][0] == 1);
}

/* Exchanges two dimensions of the transform, which says the same. */
static void turn(struct fft_case *made, int d, int e)
{
    struct gsh_fft *fft = &made->launch.fft, old = *fft;
    fft->length[d] = old.length[e];
    fft->length[e] = old.length[d];
    for (unsigned k = 0; k < 2; k++) {
        fft->cores[k].extent[d] = old.cores[k].extent[e];
        fft->cores[k].extent[e] = old.cores[k].extent[d];
        fft->cores[k].stride[d] = old.cores[k].stride[e];
        fft->cores[k].stride[e] = old.cores[k].stride[d];
    }
}

/* Halves the last dimension of the output. */
static void make_real(struct fft_case *made)
{
    struct gsh_launch *launch = &made->launch;
    int last_one = launch->fft.rank - 1;
    launch->fft.type = GSH_FFT_R2C;
    launch->operands[0].dtype = GSH_FLOAT64;
    launch->fft.cores[1].extent[last_one] = launch->fft.length[last_one] / 2 + 1;
    for (unsigned k = 0; k < 2; k++)
        do {
            free(made->memory[k]);
            fft_make_memory(made, k);
        } while ((launch->operands[k].address + (uint64_t)made->memory[k]) % 16 != 0);
}

static void test_several_dimensions(void)
{
    const int64_t shape[] = {4, 6, 5};
    struct fft_case made = make_cube(shape, 0, 3);
    CHECK(gsh_fft_run_fits(&made.launch));
    count_case(&made, 1, 0, 0);
    CHECK(last.rank == 3 && last.length[0] == 4 && last.length[2] == 5);
    made = make_cube(shape, 0, 3);
    turn(&made, 0, 2);
    CHECK(gsh_fft_run_fits(&made.launch));
    count_case(
        &made, 1, 2,
        2); /* the last bits are those that the order of dimensions gives, wherever they lie */
    CHECK(last.rank == 3 && last.length[0] == 5 && last.length[2] == 4);
    made = make_cube(shape, 0, 2);
    count_case(&made, 1, 0, 0); /* columns of planes */
    CHECK(last.rank == 2 && last.count == 5 && last.distance[0] == 1);
    made = make_cube(shape, 1, 2);
    made.launch.fft.factor = 0.5;
    count_case(&made, 1, 1, 0);
    CHECK(last.rank == 2 && last.count == 4 && last.distance[0] == 30);
    made = make_cube((int64_t[]){4, 1, 5}, 0, 3);
    count_case(&made, 1, 0, 0);
    CHECK(last.rank == 2); /* one point is no dimension */
    made = make_cube(shape, 0, 3);
    make_real(&made);
    CHECK(gsh_fft_run_fits(&made.launch));
    count_case(&made, 1, 0, 0);
    CHECK(last.rank == 3 && last.type == GSH_FFT_R2C);
    made = make_cube(shape, 0, 3);
    turn(&made, 0, 2);
    make_real(&made); /* the halved dimension is the outermost */
    CHECK(gsh_fft_run_fits(&made.launch));
    count_case(&made, 1, 2, 2);
    made = make_cube(shape, 0, 3);
    made.launch.fft.cores[0].extent[1] = 3;
    count_case(&made, 1, 1, 1); /* padded */
    made = make_cube(shape, 1, 2);
    made.launch.fft.type = GSH_FFT_C2R;
    CHECK(gsh_fft_run_fits(&made.launch));
    made.launch.shape[0] = 17;
    CHECK(!gsh_fft_run_fits(&made.launch));
    made.launch.fft.type = GSH_FFT_C2C;
    CHECK(gsh_fft_run_fits(&made.launch));
    fft_free(&made);
    refuses_many = true;
    made = make_cube(shape, 0, 3);
    count_case(&made, 6, 0, 0); /* the middle takes one transform for each of the outermost */
    made = make_cube(shape, 0, 2);
    make_real(&made);
    count_case(&made, 5, 0, 0);
    test_random(run_defined, 20);
    refuses_many = false;
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
    launch.fft.rank = 4;
    CHECK(!gsh_fft_run_supports(&launch));
    launch.fft.rank = 2;
    CHECK(gsh_fft_run_supports(&launch));
    launch.fft.length[1] = 2;
    CHECK(!gsh_fft_run_supports(&launch));
    launch = made.launch;
    launch.operands[1].dtype = GSH_COMPLEX64;
    CHECK(!gsh_fft_run_supports(&launch));
    launch = made.launch;
    launch.fft.cores[1].extent[0] = 7;
    CHECK(!gsh_fft_run_supports(&launch));
    launch = made.launch;
    launch.ndim = GSH_MAX_DIMS - 1;
    CHECK(!gsh_fft_run_supports(&launch));
    fft_free(&made);
}

int main(void)
{
    gsh_options_init();
    allocation_limit = ~0U;
    test_random(run_defined, 100);
    test_work();
    test_random(gsh_fft_host_run, 1024);
    test_several_dimensions();
    test_no_memory();
    test_supports();
    struct fft_case made = make_middle(3, 8, 5);
    bool has_library = gsh_emu_fft_supports(&made.launch);
    fft_free(&made);
    printf("host device: transforms by %s\n", gsh_emu_fft_name());
    if (has_library) {
        char why[64];
        CHECK(gsh_emu_backend.open(why, sizeof why) == GSH_OK);
        test_random(run_on_host, 1024);
    }
    return check_result();
}
