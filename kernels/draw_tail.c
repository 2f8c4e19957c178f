/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy 2.4: numpy/random/src/distributions/distributions.c, random_standard_normal, standard_exponential_unlikely and the same
 * for float.
 */
#include "draw_tail.h"

#include "ziggurat.h"

#include <math.h>
#include <string.h>

#define SIGN (UINT64_C(1) << 63)

static double form(const struct gsh_random_draw *draw, double x)
{
    switch (draw->form) {
    case GSH_RANDOM_STANDARD:
        break;
    case GSH_RANDOM_SCALED:
        return draw->scale * x;
    case GSH_RANDOM_SHIFTED:
        return draw->shift + draw->scale * x;
    case GSH_RANDOM_EXP:
        return exp(draw->shift + draw->scale * x);
    }
    return x;
}

static double wide_tail(bool is_normal, uint64_t bits)
{
    double u = (double)(bits & ~SIGN) * (1.0 / 9007199254740992.0);
    if (!is_normal)
        return GSH_ZIGGURAT_EXPONENTIAL_R - log1p(-u);
    double x = GSH_ZIGGURAT_NORMAL_R + -GSH_ZIGGURAT_NORMAL_INVERSE_R * log1p(-u);
    return (bits & SIGN) != 0 ? -x : x;
}

static float single_tail(bool is_normal, uint64_t bits)
{
    float u = (float)(bits & ~SIGN) * (1.0f / 16777216.0f);
    if (!is_normal)
        return (float)GSH_ZIGGURAT_EXPONENTIAL_R - log1pf(-u);
    float x = (float)GSH_ZIGGURAT_NORMAL_R + -(float)GSH_ZIGGURAT_NORMAL_INVERSE_R * log1pf(-u);
    return (bits & SIGN) != 0 ? -x : x;
}

void gsh_draw_tail_store(const struct gsh_random_draw *draw, enum gsh_dtype dtype, uint64_t bits,
                         void *values, int64_t index)
{
    bool is_normal = draw->distribution == GSH_RANDOM_NORMAL;
    if (dtype == GSH_FLOAT32)
        ((float *)values)[index] = single_tail(is_normal, bits);
    else
        ((double *)values)[index] = form(draw, wide_tail(is_normal, bits));
}

void gsh_draw_tail_store_exp(uint64_t bits, double *values, int64_t index)
{
    double argument;
    memcpy(&argument, &bits, sizeof argument);
    values[index] = exp(argument);
}
