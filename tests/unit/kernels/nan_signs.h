/* SPDX-License-Identifier: Apache-2.0
 *
 * NaNs without their signs, for comparisons of bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Clears the sign of each NaN among the real numbers of this many bytes. */
static inline void clear_signs(char *numbers, size_t count, size_t size)
{
    const uint64_t infinite = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, numbers + i * size, size);
        bits &= (bits & ~sign) > infinite ? ~sign : ~UINT64_C(0);
        memcpy(numbers + i * size, &bits, size);
    }
}
