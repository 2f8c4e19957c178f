/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_version_probe.h"

#include "host_casts.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define LOWEST ((double _Complex) - HUGE_VAL) /* in integer loops: the lowest value */

/* A call, and the first output of the device's loop. Numbers are cast to the loop's dtypes. */
struct probe {
    enum gsh_op op;
    unsigned dtypes; /* GSH_SET_*: the loops that it tests */
    double _Complex inputs[2];
    double _Complex result;
};

static const struct probe probes[] = {
    {GSH_OP_SIGN, GSH_SET_COMPLEX, {I}, I},                      /* NumPy 1: 1 */
    {GSH_OP_POWER, GSH_SET_COMPLEX, {0, 1 + I}, 0},              /* before 1.26: NaN */
    {GSH_OP_FLOAT_POWER, GSH_SET_COMPLEX, {0, 1 + I}, 0},        /* likewise */
    {GSH_OP_NEXTAFTER, 1u << GSH_FLOAT16, {0, -0.0}, -0.0},      /* up to 2.0 at least: 0 */
    {GSH_OP_FLOOR_DIVIDE, GSH_SET_SIGNED, {LOWEST, -1}, LOWEST}, /* 1.22: 0 */
    {GSH_OP_DIVMOD, GSH_SET_SIGNED, {LOWEST, -1}, LOWEST},       /* likewise */
};

static void set_number(union gsh_scalar *scalar, enum gsh_dtype dtype, double _Complex number)
{
    *scalar = (union gsh_scalar){.words = {0}};
    if (gsh_dtype_kind(dtype) == 'i' && creal(number) == -HUGE_VAL)
        ((unsigned char *)scalar)[gsh_dtype_size(dtype) - 1] = 0x80;
    else
        gsh_host_casts_run(scalar, dtype, 0, &number, GSH_COMPLEX128, 0, 1);
}

static bool agrees(const struct gsh_numpy_loop *loop, const struct probe *probe)
{
    static const int64_t count = 1, steps[GSH_MAX_OPERANDS] = {0};
    union gsh_scalar numbers[GSH_MAX_OPERANDS] = {{.words = {0}}}, expected;
    char *args[GSH_MAX_OPERANDS];
    unsigned nin = gsh_op_info(loop->op)->nin;
    enum gsh_dtype dtype = loop->operands[nin];
    for (unsigned k = 0; k < loop->count; k++) {
        args[k] = (char *)&numbers[k];
        if (k < nin)
            set_number(&numbers[k], loop->operands[k], probe->inputs[k]);
    }
    loop->function(args, &count, steps, loop->data);
    set_number(&expected, dtype, probe->result);
    return memcmp(&numbers[nin], &expected, gsh_dtype_size(dtype)) == 0;
}

bool gsh_numpy_version_probe_agrees(const struct gsh_numpy_loop *loop)
{
    for (size_t i = 0; i < GSH_COUNT(probes); i++)
        if (probes[i].op == loop->op && (probes[i].dtypes >> loop->dtype & 1) != 0 &&
            !agrees(loop, &probes[i]))
            return false;
    return true;
}

bool gsh_numpy_version_probe_takes_root(const struct gsh_numpy_loop *loop)
{
    static const int64_t count = 1;
    const int64_t size = (int64_t)gsh_dtype_size(loop->dtype), steps[] = {size, 0, size};
    union gsh_scalar numbers[3] = {{.words = {0}}}, root;
    char *args[] = {(char *)&numbers[0], (char *)&numbers[1], (char *)&numbers[2]};
    set_number(&numbers[0], loop->dtype, -0.0);
    set_number(&numbers[1], loop->dtype, 0.5);
    set_number(&root, loop->dtype, -0.0); /* the power is 0 */
    loop->function(args, &count, steps, loop->data);
    return memcmp(&numbers[2], &root, (size_t)size) == 0;
}
