/* SPDX-License-Identifier: Apache-2.0
 *
 * SPMV of the backend "cuda" against the host's loops, to the bit: each dtype and index dtype, rows without numbers, of one length, of
 * any lengths, a very long one among short ones, and starts and columns of which no matrix consists; into its own initial values and
 * elsewhere. Skipped where no GPU is.
 */
#include "gpu_operands.h"
#include "host_ops.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT = GSH_SPMV_INPUTS, SIDES };

/* How many numbers rows have. BAD: starts descend and are out of bounds, and so are columns. DESCENDING: starts alone, within bounds. */
enum rows { EMPTY, EQUAL, RANDOM, ONE_LONG, DESCENDING, BAD, ROW_KINDS };

struct spmv {
    enum gsh_dtype dtype, index;
    enum rows kind;
    int64_t rows, width, length; /* length: of a row, on average or at most */
    bool is_in_place;
    int64_t count; /* of numbers */
    size_t bytes[SIDES];
    unsigned char *host[SIDES], *got[SIDES];
    uint64_t device[SIDES];
};

static int64_t random_below(int64_t bound)
{
    return (int64_t)((random_bits() >> 16) % (uint64_t)bound);
}

static void store_index(const struct spmv *spmv, unsigned side, int64_t place, int64_t value)
{
    if (spmv->index == GSH_INT32)
        ((int32_t *)(void *)spmv->host[side])[place] = (int32_t)value;
    else
        ((int64_t *)(void *)spmv->host[side])[place] = value;
}

static int64_t length_of(const struct spmv *spmv, int64_t row)
{
    switch (spmv->kind) {
    case EMPTY:
        return 0;
    case EQUAL:
        return spmv->length;
    case ONE_LONG:
        return row == spmv->rows / 2 ? 100 * spmv->length : random_below(spmv->length + 1);
    default:
        return random_below(2 * spmv->length + 1);
    }
}

/* Far out of bounds of each index dtype, or near. */
static int64_t bad_index(const struct spmv *spmv, int64_t bound)
{
    int64_t far = spmv->index == GSH_INT32 ? INT32_MAX : INT64_MAX;
    const int64_t choices[] = {-1, bound, bound + 7, far, -far, random_below(bound)};
    return choices[random_below(GSH_COUNT(choices))];
}

/* Starts in the host's memory of a size that they decide themselves. */
static void make_starts(struct spmv *spmv)
{
    const size_t size = gsh_dtype_size(spmv->index);
    int64_t *starts = calloc((size_t)spmv->rows + 1, sizeof(int64_t));
    for (int64_t row = 0; row < spmv->rows; row++)
        starts[row + 1] = starts[row] + length_of(spmv, row);
    spmv->count = GSH_MAX(starts[spmv->rows], 1);
    spmv->bytes[GSH_SPMV_STARTS] = size * (size_t)(spmv->rows + 1);
    spmv->host[GSH_SPMV_STARTS] = calloc(1, spmv->bytes[GSH_SPMV_STARTS]);
    for (int64_t row = 0; row <= spmv->rows; row++) {
        bool is_moved = spmv->kind >= DESCENDING && random_below(7) == 0;
        int64_t start = !is_moved           ? starts[row]
                        : spmv->kind == BAD ? bad_index(spmv, spmv->count)
                                            : random_below(spmv->count + 1);
        store_index(spmv, GSH_SPMV_STARTS, row, start);
    }
    free(starts);
}

static void make_columns(struct spmv *spmv)
{
    spmv->bytes[GSH_SPMV_COLUMNS] = gsh_dtype_size(spmv->index) * (size_t)spmv->count;
    spmv->host[GSH_SPMV_COLUMNS] = calloc(1, spmv->bytes[GSH_SPMV_COLUMNS]);
    for (int64_t i = 0; i < spmv->count; i++)
        store_index(spmv, GSH_SPMV_COLUMNS, i,
                    spmv->kind == BAD && random_below(5) == 0 ? bad_index(spmv, spmv->width)
                                                              : random_below(spmv->width));
}

/* Numbers from -1 to 1, some of them zeros of either sign, or for integers any bits. */
static void fill(const struct spmv *spmv, unsigned side)
{
    bool is_single = gsh_dtype_is_single(spmv->dtype);
    bool is_integer = (1u << spmv->dtype & (unsigned)GSH_SET_INTEGERS) != 0;
    size_t count = spmv->bytes[side] / (is_integer  ? 1
                                        : is_single ? sizeof(float)
                                                    : sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double value = (double)(random_bits() >> 40) / (double)(1 << 23) - 1;
        value *= random_below(10) == 0 ? 0 : 1;
        if (is_integer)
            spmv->host[side][i] = (unsigned char)(random_bits() >> 40);
        else if (is_single)
            ((float *)(void *)spmv->host[side])[i] = (float)value;
        else
            ((double *)(void *)spmv->host[side])[i] = value;
    }
}

static bool make(struct spmv *spmv)
{
    const size_t size = gsh_dtype_size(spmv->dtype);
    bool good = true;
    make_starts(spmv);
    make_columns(spmv);
    const int64_t counts[SIDES] = {[GSH_SPMV_NUMBERS] = spmv->count,
                                   [GSH_SPMV_VECTOR] = spmv->width,
                                   [GSH_SPMV_INITIAL] = spmv->rows,
                                   [OUTPUT] = spmv->rows};
    for (unsigned side = 0; side < SIDES; side++) {
        if (counts[side] > 0) {
            spmv->bytes[side] = size * (size_t)counts[side];
            spmv->host[side] = calloc(1, spmv->bytes[side]);
            fill(spmv, side);
        }
        spmv->got[side] = calloc(1, spmv->bytes[side]);
        good = CHECK_INT(dev->allocate(spmv->bytes[side], &spmv->device[side]), GSH_OK) && good;
    }
    return good;
}

static void drop(struct spmv *spmv)
{
    for (unsigned side = 0; side < SIDES; side++) {
        free(spmv->host[side]);
        free(spmv->got[side]);
        dev->release(spmv->device[side], spmv->bytes[side]);
    }
}

static struct gsh_launch launch_of(const struct spmv *spmv, const uint64_t *addresses)
{
    const int64_t size = (int64_t)gsh_dtype_size(spmv->dtype),
                  step = (int64_t)gsh_dtype_size(spmv->index);
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_SPMV,
        .loop = spmv->dtype,
        .nin = GSH_SPMV_INPUTS,
        .nout = 1,
        .ndim = 1,
        .shape = {spmv->rows},
        .spmv = {{{step, 2}, {step, spmv->count}, {size, spmv->count}, {size, spmv->width}}}};
    for (unsigned k = 0; k < SIDES; k++) {
        bool is_index = k <= GSH_SPMV_COLUMNS, is_row = k >= GSH_SPMV_INITIAL;
        unsigned side = k == OUTPUT && spmv->is_in_place ? GSH_SPMV_INITIAL : k;
        launch.operands[k] = (struct gsh_operand){.dtype = is_index ? spmv->index : spmv->dtype,
                                                  .address = addresses[side]};
        launch.strides[k][0] = k == GSH_SPMV_STARTS ? step : is_row ? size : 0;
    }
    gsh_launch_collapse(&launch);
    return launch;
}

static bool run_device(const struct spmv *spmv)
{
    struct gsh_launch launch = launch_of(spmv, spmv->device);
    return run_on_device(&launch, SIDES, spmv->device, spmv->host, spmv->got, spmv->bytes);
}

static void run_host(const struct spmv *spmv)
{
    uint64_t addresses[SIDES];
    for (unsigned side = 0; side < SIDES; side++)
        addresses[side] = (uint64_t)(uintptr_t)spmv->host[side];
    struct gsh_launch launch = launch_of(spmv, addresses);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

static void compare(struct spmv spmv)
{
    if (make(&spmv) && run_device(&spmv)) {
        run_host(&spmv);
        for (unsigned side = 0; side < SIDES; side++)
            if (!CHECK(memcmp(spmv.got[side], spmv.host[side], spmv.bytes[side]) == 0))
                printf("operand %u: %s %s, kind %d, %lld rows of %lld, in place %d\n", side,
                       gsh_dtype_name(spmv.dtype), gsh_dtype_name(spmv.index), (int)spmv.kind,
                       (long long)spmv.rows, (long long)spmv.length, spmv.is_in_place);
    }
    drop(&spmv);
}

static void test_sizes(enum gsh_dtype dtype, enum gsh_dtype index)
{
    static const int64_t sizes[][3] = {/* rows, columns, length */
                                       {1, 1, 1},     {1, 50, 5000}, {3, 7, 900},  {255, 100, 3},
                                       {256, 99, 16}, {700, 300, 8}, {300, 40, 30}};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++)
        for (int kind = 0; kind < ROW_KINDS; kind++)
            compare((struct spmv){.dtype = dtype,
                                  .index = index,
                                  .kind = (enum rows)kind,
                                  .rows = sizes[s][0],
                                  .width = sizes[s][1],
                                  .length = sizes[s][2],
                                  .is_in_place = ((int)s + kind) % 2 != 0});
}

static void test_all(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128,
                                            GSH_INT8,    GSH_INT16,   GSH_INT32,     GSH_INT64,
                                            GSH_UINT8,   GSH_UINT16,  GSH_UINT32,    GSH_UINT64};
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (int is_wide = 0; is_wide < 2; is_wide++)
            if (shard_takes_case())
                test_sizes(dtypes[d], is_wide ? GSH_INT64 : GSH_INT32);
}

/* Prints what a product of so many rows takes. */
static void time_spmv(enum gsh_dtype dtype, enum rows kind, int64_t rows, int64_t length)
{
    struct spmv spmv = {.dtype = dtype,
                        .index = GSH_INT32,
                        .kind = kind,
                        .rows = rows,
                        .width = 1000000,
                        .length = length};
    if (make(&spmv) && run_device(&spmv)) {
        struct gsh_launch launch = launch_of(&spmv, spmv.device);
        double seconds = seconds_of_launch(&launch);
        printf("%s, %lld rows of %s %lld: %.1f us, %.2f ns a number\n", gsh_dtype_name(dtype),
               (long long)rows, kind == EQUAL ? "each" : "about", (long long)length, seconds * 1e6,
               seconds * 1e9 / (double)spmv.count);
    }
    drop(&spmv);
}

static void time_all(void)
{
    static const int64_t sizes[][2] = {{1000000, 10}, {1000000, 16}, {3000000, 3},
                                       {100000, 100}, {10000, 1000}, {100, 100000}};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++)
        for (int kind = EQUAL; kind <= ONE_LONG; kind++) {
            time_spmv(GSH_FLOAT32, (enum rows)kind, sizes[s][0], sizes[s][1]);
            time_spmv(GSH_FLOAT64, (enum rows)kind, sizes[s][0], sizes[s][1]);
        }
}

int main(int argc, char **argv)
{
    return shard_main(argc, argv, test_all, time_all);
}
