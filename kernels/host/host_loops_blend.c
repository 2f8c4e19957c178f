/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice between two arrays, by size of element.
 */
#include "host_loops.h"

#include "host_convert.h"

/* A complex number is aligned as its parts are. */
typedef uint8_t bytes_1 __attribute__((may_alias));
typedef uint16_t bytes_2 __attribute__((may_alias));
typedef uint32_t bytes_4 __attribute__((may_alias));
typedef uint64_t bytes_8 __attribute__((may_alias, aligned(4)));
typedef struct __attribute__((may_alias)) {
    uint64_t words[2];
} bytes_16;

/* `promise`: that arrays are identical or do not overlap, for element sizes that compilers vectorise. */
#define BLEND(size, promise)                                                                       \
    static void blend_##size(void *out, const void *chosen, const void *other,                     \
                             const unsigned char *mask, int64_t n)                                 \
    {                                                                                              \
        const bytes_##size *a = chosen, *b = other;                                                \
        bytes_##size *z = out;                                                                     \
        promise for (int64_t j = 0; j < n; j++)                                                    \
        {                                                                                          \
            bytes_##size x = a[j], y = b[j];                                                       \
            z[j] = mask[j] != 0 ? x : y;                                                           \
        }                                                                                          \
    }
BLEND(1, GSH_INDEPENDENT)
BLEND(2, GSH_INDEPENDENT)
BLEND(4, GSH_INDEPENDENT)
BLEND(8, GSH_INDEPENDENT)
BLEND(16, )

void gsh_host_loops_blend(void *out, const void *chosen, const void *other,
                          const unsigned char *mask, int64_t n, size_t size)
{
    static void (*const blends[])(void *, const void *, const void *, const unsigned char *,
                                  int64_t) = {blend_1, blend_2, blend_4, blend_8, blend_16};
    blends[__builtin_ctzl(size)](out, chosen, other, mask, n);
}
