/* SPDX-License-Identifier: Apache-2.0
 *
 * Transforms lines of a power of two points by decimation in time, others as a convolution of such a length
 * (Bluestein's algorithm), in long double. The sine and cosine of every angle are computed, not derived from the last
 * one.
 */
#include "fft_host.h"

#include "host_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FULL_TURN 6.283185307179586476925286766559L

struct number {
    long double re, im;
};

static struct number multiply(struct number x, struct number y)
{
    return (struct number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* exp(sign 2 pi i part / whole) */
static struct number turn(int64_t part, int64_t whole, int sign)
{
    long double angle = FULL_TURN * ((long double)part / (long double)whole);
    return (struct number){cosl(angle), sign * sinl(angle)};
}

/* Puts the numbers into bit-reversed order. */
static void reverse(struct number *line, int64_t n)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; (j & bit) != 0; bit >>= 1)
            j ^= bit;
        j |= bit;
        if (i < j) {
            struct number kept = line[i];
            line[i] = line[j];
            line[j] = kept;
        }
    }
}

/* Transforms a power of two points in place. */
static void transform_power(struct number *line, int64_t n, int sign)
{
    reverse(line, n);
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t k = 0; k < half; k++) {
            struct number factor = turn(k, 2 * half, sign);
            for (int64_t i = k; i < n; i += 2 * half) {
                struct number x = line[i], y = multiply(line[i + half], factor);
                line[i] = (struct number){x.re + y.re, x.im + y.im};
                line[i + half] = (struct number){x.re - y.re, x.im - y.im};
            }
        }
}

/* exp(sign pi i j^2 / n), for Bluestein's identity (j - k)^2 = j^2 + k^2 - 2 j k. */
static struct number chirp(int64_t j, int64_t n, int sign)
{
    int64_t whole = 2 * n;
    return turn((int64_t)((__int128)j * j % whole), whole, sign);
}

static enum gsh_status transform_any(struct number *line, int64_t n, int sign)
{
    int64_t size = 1;
    while (size < 2 * n - 1)
        size *= 2;
    struct number *work = calloc((size_t)size * 2, sizeof *work), *kernel = work + size;
    if (work == NULL)
        return GSH_FAILED;
    for (int64_t j = 0; j < n; j++) {
        work[j] = multiply(line[j], chirp(j, n, sign));
        kernel[j] = kernel[j == 0 ? 0 : size - j] = chirp(j, n, -sign);
    }
    transform_power(work, size, -1);
    transform_power(kernel, size, -1);
    for (int64_t j = 0; j < size; j++)
        work[j] = multiply(work[j], kernel[j]);
    transform_power(work, size, 1);
    for (int64_t k = 0; k < n; k++) {
        struct number point = multiply(work[k], chirp(k, n, sign));
        line[k] = (struct number){point.re / (long double)size, point.im / (long double)size};
    }
    free(work);
    return GSH_OK;
}

/* ---- lines in memory ---- */

/* The offset of part `part` of number `number` from the address of side k, in floats or doubles. */
static size_t place_of(const struct gsh_fft_lines *lines, unsigned k, int64_t number, int part)
{
    bool is_real = lines->type == (k == 0 ? GSH_FFT_R2C : GSH_FFT_C2R);
    return (size_t)number * (is_real ? 1 : 2) + (size_t)part;
}

static double read_part(const struct gsh_fft_lines *lines, int64_t number, int part)
{
    size_t place = place_of(lines, 0, number, part);
    const void *from = (const void *)lines->address[0];
    return lines->is_single ? (double)((const float *)from)[place] : ((const double *)from)[place];
}

static void write_part(const struct gsh_fft_lines *lines, int64_t number, int part,
                       long double value)
{
    size_t place = place_of(lines, 1, number, part);
    void *to = (void *)lines->address[1];
    if (lines->is_single)
        ((float *)to)[place] = (float)value;
    else
        ((double *)to)[place] = (double)value;
}

/* Reads all points, also those stored only as their conjugates. */
static void read_line(const struct gsh_fft_lines *lines, int64_t index, struct number *line)
{
    int64_t n = lines->length[0], begin = index * lines->distance[0];
    for (int64_t j = 0; j < n; j++) {
        bool is_mirrored = j >= lines->numbers[0][0];
        int64_t number = begin + (is_mirrored ? n - j : j) * lines->stride[0][0];
        line[j].re = read_part(lines, number, 0);
        line[j].im = lines->type == GSH_FFT_R2C ? 0 : read_part(lines, number, 1);
        if (is_mirrored)
            line[j].im = -line[j].im;
    }
}

static void write_line(const struct gsh_fft_lines *lines, int64_t index, const struct number *line)
{
    for (int64_t k = 0; k < lines->numbers[1][0]; k++) {
        int64_t number = index * lines->distance[1] + k * lines->stride[1][0];
        write_part(lines, number, 0, line[k].re);
        if (lines->type != GSH_FFT_C2R)
            write_part(lines, number, 1, line[k].im);
    }
}

static enum gsh_status transform(const struct gsh_fft_lines *lines, unsigned row)
{
    (void)row;
    int64_t n = lines->length[0];
    int sign = lines->is_inverse ? 1 : -1;
    if (lines->rank > 1)
        return GSH_DECLINED;
    struct number *line = malloc((size_t)n * sizeof *line);
    enum gsh_status status = line != NULL ? GSH_OK : GSH_FAILED;
    for (int64_t index = 0; status == GSH_OK && index < lines->count; index++) {
        read_line(lines, index, line);
        if ((n & (n - 1)) == 0)
            transform_power(line, n, sign);
        else
            status = transform_any(line, n, sign);
        if (status == GSH_OK)
            write_line(lines, index, line);
    }
    free(line);
    return status;
}

/* ---- the device ---- */

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    *address = (uint64_t)malloc(size);
    return *address != 0 ? GSH_OK : GSH_FAILED;
}

static void release(uint64_t address, size_t size)
{
    (void)size;
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
    return gsh_host_ops_supports(launch) ? gsh_host_ops_run(launch) : GSH_FAILED;
}

enum gsh_status gsh_fft_host_run(const struct gsh_launch *launch)
{
    static const struct gsh_fft_device device = {
        .takes_any_place = true,
        .allocate = allocate,
        .release = release,
        .clear = clear,
        .launch = launch_copy,
        .transform = transform,
    };
    return gsh_fft_run(&device, launch, 0);
}
