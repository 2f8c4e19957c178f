/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an array has a NaN or a number whose magnitude is not below a limit.
 */
#include "host_loops.h"

#include "host_convert.h"
#include "host_vector.h"

#include <math.h>

/* word: an integer as wide as T. Counts the other numbers, as sums compile to shorter dependency chains than
 * choices. */
#define HAS_SPECIAL(name, target, T, word, magnitude)                                              \
    target static bool name##_##T(const void *array, int64_t n, T limit)                           \
    {                                                                                              \
        const T *x = array;                                                                        \
        word below = 0;                                                                            \
        for (int64_t j = 0; j < n; j++)                                                            \
            below += magnitude(x[j]) < limit;                                                      \
        return below != (word)n;                                                                   \
    }
#define HAS_SPECIALS(name, target)                                                                 \
    HAS_SPECIAL(name, target, float, uint32_t, fabsf)                                              \
    HAS_SPECIAL(name, target, double, uint64_t, fabs)
HAS_SPECIALS(any, )
HAS_SPECIALS(wide, __attribute__((target("avx2"))))

bool gsh_host_loops_special_has(const void *array, enum gsh_dtype dtype, int64_t n, double limit)
{
    bool is_wide = gsh_host_vector_bits() >= 256;
    if (dtype == GSH_FLOAT64)
        return (is_wide ? wide_double : any_double)(array, n, limit);
    return (is_wide ? wide_float : any_float)(array, n, (float)limit);
}
