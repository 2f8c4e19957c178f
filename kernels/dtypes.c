/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in dtypes.def.
 */
#include "dtypes.h"

struct dtype_info {
    size_t size;
    char kind, numpy_char;
    int type_num;
    const char *label, *cuda_type, *cuda_stored;
    unsigned ulps;
};

static const struct dtype_info dtypes[GSH_DTYPE_COUNT] = {
#define X(name, c_type, c_stored, cuda_type, cuda_stored, kind, numpy_char, type_num, label, ulps) \
    {sizeof(c_stored), kind, numpy_char, type_num, label, cuda_type, cuda_stored, ulps},
#include "dtypes.def"
#undef X
};

size_t gsh_dtype_size(enum gsh_dtype dtype)
{
    return dtypes[dtype].size;
}

char gsh_dtype_kind(enum gsh_dtype dtype)
{
    return dtypes[dtype].kind;
}

char gsh_dtype_numpy_char(enum gsh_dtype dtype)
{
    return dtypes[dtype].numpy_char;
}

const char *gsh_dtype_name(enum gsh_dtype dtype)
{
    return dtypes[dtype].label;
}

const char *gsh_dtype_cuda_type(enum gsh_dtype dtype)
{
    return dtypes[dtype].cuda_type;
}

const char *gsh_dtype_cuda_stored(enum gsh_dtype dtype)
{
    return dtypes[dtype].cuda_stored;
}

unsigned gsh_dtype_ulps_shift(enum gsh_dtype dtype)
{
    return dtypes[dtype].ulps;
}

int gsh_dtype_numpy_type(enum gsh_dtype dtype)
{
    return dtypes[dtype].type_num;
}

static bool is_inexact(enum gsh_dtype dtype)
{
    return dtypes[dtype].kind == 'f' || dtypes[dtype].kind == 'c';
}

/* The size of the dtype's real number. */
static size_t part_size(enum gsh_dtype dtype)
{
    return dtypes[dtype].size / (dtypes[dtype].kind == 'c' ? 2 : 1);
}

bool gsh_dtype_cast_may_fail(enum gsh_dtype from, enum gsh_dtype to)
{
    char kind = dtypes[to].kind;
    if (kind == 'i' || kind == 'u')
        return is_inexact(from);
    if (is_inexact(from))
        return kind != 'b' && part_size(to) < part_size(from);
    return to == GSH_FLOAT16 && dtypes[from].size > 1;
}
