/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans on the CPU, in NumPy's order: each output is the previous one joined with its input, rounded to the loop's
 * dtype. Where many rows lie side by side, up to COLUMNS of them advance together, by one vector operation for each
 * step; otherwise each row is processed alone, in blocks.
 */
#include "host_scan.h"

#include "host_casts.h"
#include "host_fp_check.h"
#include "host_half.h"

#include <string.h>

#define COLUMNS 128
#define FEWEST_COLUMNS 8

struct scan {
    const struct gsh_launch *launch;
    gsh_host_loop *join;
    enum gsh_dtype array; /* of the loop's arrays */
    int64_t size;         /* of an element of them */
    int64_t length, in_step, out_step;
    bool checks_errors;
    struct gsh_host_fp_check check;
    struct gsh_host_buffer in, out[2];
};

bool gsh_host_scan_supports(const struct gsh_launch *launch)
{
    return launch->nin == 1 && launch->nout == 1 && launch->ndim > 0 && !launch->has_mask &&
           !launch->has_initial && !launch->operands[0].is_constant &&
           gsh_reduction_has_loop(launch->reduction, launch->loop) &&
           gsh_reduction_info(launch->reduction)->result != GSH_RESULT_INDEX;
}

static void load(struct scan *scan, char *to, const char *from, int64_t stride, int64_t n)
{
    enum gsh_dtype loop = scan->launch->loop, dtype = scan->launch->operands[0].dtype;
    gsh_host_casts_load(to, loop, from, dtype, stride, n);
    if (scan->checks_errors && dtype != loop) {
        scan->check.nin = 1;
        scan->check.samples[0] = (struct gsh_host_sample){from, stride, dtype, dtype};
        gsh_host_fp_check_cast(&scan->check, loop, from, dtype, stride, n);
    }
}

static void store(const struct scan *scan, const char *results, char *to, int64_t stride, int64_t n)
{
    gsh_host_casts_store(to, scan->launch->operands[1].dtype, stride, results, scan->launch->loop,
                         n);
}

/* FLOAT16 outputs are rounded before they are joined with the next. */
static void round_halves(const struct scan *scan, char *results, int64_t n)
{
    float *values = (void *)results;
    if (scan->launch->loop == GSH_FLOAT16)
        for (int64_t i = 0; i < n; i++)
            values[i] = gsh_half_to_float(gsh_half_of_float(values[i]));
}

/* out = join(before, in), n times in parallel. */
static void join(const struct scan *scan, const char *before, const char *in, char *out, int64_t n)
{
    struct gsh_host_block block = {.in = {before, in}, .out = {out}, .n = n};
    scan->join(&block);
    round_halves(scan, out, n);
}

/* Checks n joins for errors. */
static void check_errors(struct scan *scan, const char *before, const char *in, char *out,
                         int64_t n)
{
    struct gsh_host_block block = {.in = {before, in}, .out = {out}, .n = n};
    if (scan->checks_errors && n > 0)
        gsh_host_fp_check_block(&scan->check, &block);
}

static void scan_row(struct scan *scan, const char *input, char *output)
{
    char *in = scan->in.bytes, *out = scan->out[0].bytes;
    char before[GSH_HOST_ELEMENT_BYTES];
    int64_t size = scan->size;
    for (int64_t done = 0; done < scan->length; done += GSH_HOST_BLOCK) {
        int64_t n = GSH_MIN(scan->length - done, GSH_HOST_BLOCK);
        load(scan, in, input + done * scan->in_step, scan->in_step, n);
        if (done == 0)
            memcpy(out, in, (size_t)size);
        else
            join(scan, before, in, out, 1);
        for (int64_t i = 1; i < n; i++)
            join(scan, out + (i - 1) * size, in + i * size, out + i * size, 1);
        check_errors(scan, before, in, out, done > 0);
        check_errors(scan, out, in + size, out + size, n - 1);
        memcpy(before, out + (n - 1) * size, (size_t)size);
        store(scan, out, output + done * scan->out_step, scan->out_step, n);
    }
}

/* Scans `width` rows at a time, whose elements are in_next and out_next bytes apart. */
static void scan_columns(struct scan *scan, const char *input, int64_t in_next, char *output,
                         int64_t out_next, int64_t width)
{
    char *in = scan->in.bytes;
    for (int64_t i = 0; i < scan->length; i++) {
        char *out = scan->out[i % 2].bytes, *before = scan->out[(i + 1) % 2].bytes;
        load(scan, i == 0 ? out : in, input + i * scan->in_step, in_next, width);
        if (i > 0) {
            join(scan, before, in, out, width);
            check_errors(scan, before, in, out, width);
        }
        store(scan, out, output + i * scan->out_step, out_next, width);
    }
}

/* Scans the rows along the innermost of the other dimensions. */
static void scan_inner(struct scan *scan, const char *input, char *output)
{
    const struct gsh_launch *launch = scan->launch;
    int inner = launch->ndim - 2;
    int64_t rows = inner >= 0 ? launch->shape[inner] : 1;
    int64_t in_next = inner >= 0 ? launch->strides[0][inner] : 0;
    int64_t out_next = inner >= 0 ? launch->strides[1][inner] : 0;
    bool columns = rows >= FEWEST_COLUMNS;
    int64_t width = columns ? COLUMNS : 1;
    for (int64_t row = 0; row < rows; row += width) {
        const char *from = input + row * in_next;
        char *to = output + row * out_next;
        if (columns)
            scan_columns(scan, from, in_next, to, out_next, GSH_MIN(rows - row, COLUMNS));
        else
            scan_row(scan, from, to);
    }
}

void gsh_host_scan_run(const struct gsh_launch *launch)
{
    enum gsh_op combine = gsh_reduction_info(launch->reduction)->combine;
    int last = launch->ndim - 1;
    struct scan scan; /* large: only the scalar members are set */
    scan.launch = launch;
    scan.join = gsh_host_loops_find(combine, launch->loop);
    scan.checks_errors =
        gsh_host_fp_check_begin(&scan.check, &launch->errors, combine, launch->loop, true);
    scan.array = gsh_host_loops_dtype(launch->loop);
    scan.size = (int64_t)gsh_dtype_size(scan.array);
    scan.length = launch->shape[last];
    scan.in_step = launch->strides[0][last];
    scan.out_step = launch->strides[1][last];
    const char *input = (const char *)(uintptr_t)launch->operands[0].address;
    char *output = (char *)(uintptr_t)launch->operands[1].address;
    int64_t index[GSH_MAX_DIMS] = {0};
    for (int d = 0; d >= 0;) {
        scan_inner(&scan, input, output);
        for (d = last - 2; d >= 0; d--) { /* steps to the next row of the outer dimensions */
            bool wraps = ++index[d] == launch->shape[d];
            int64_t step = wraps ? 1 - launch->shape[d] : 1;
            input += step * launch->strides[0][d];
            output += step * launch->strides[1][d];
            if (!wraps)
                break;
            index[d] = 0;
        }
    }
}
