/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions' names follow the x86-64 vector ABI: _ZGV, a letter for the vectors, N (no mask), lanes, a v for each
 * argument, _ and C's name. A block's last elements are computed in a whole vector too, so that the same code
 * computes every element.
 */
#include "host_vector.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

enum number { ROW_OF_FLOATS, ROW_OF_DOUBLES, NUMBERS };

/* Runs a block by the function, which takes one or two arguments. */
typedef void mapper(const struct gsh_host_block *block, void (*function)(void));

/* The last elements of a block: the rest of the vector repeats the first of them. */
#define LOAD_PART(T, lanes, vector, from, count)                                                   \
    ({                                                                                             \
        T part_[lanes];                                                                            \
        vector loaded_;                                                                            \
        for (int64_t k_ = 0; k_ < (lanes); k_++)                                                   \
            part_[k_] = (from)[k_ < (count) ? k_ : 0];                                             \
        memcpy(&loaded_, part_, sizeof loaded_);                                                   \
        loaded_;                                                                                   \
    })

/* Loops over arrays of T by vectors of `lanes`, for processors with `features`. */
#define MAPPERS(features, bits, T, lanes, vector)                                                  \
    __attribute__((target(features))) static void map1_##bits##_##T(                               \
        const struct gsh_host_block *block, void (*function)(void))                                \
    {                                                                                              \
        vector (*f)(vector) = (vector(*)(vector))function;                                         \
        const T *x = block->in[0];                                                                 \
        T *z = block->out[0];                                                                      \
        int64_t j = 0, n = block->n;                                                               \
        for (; j + (lanes) <= n; j += (lanes)) {                                                   \
            vector a;                                                                              \
            memcpy(&a, x + j, sizeof a);                                                           \
            a = f(a);                                                                              \
            memcpy(z + j, &a, sizeof a);                                                           \
        }                                                                                          \
        if (j < n) {                                                                               \
            vector a = f(LOAD_PART(T, lanes, vector, x + j, n - j));                               \
            memcpy(z + j, &a, (size_t)(n - j) * sizeof(T));                                        \
        }                                                                                          \
    }                                                                                              \
    __attribute__((target(features))) static void map2_##bits##_##T(                               \
        const struct gsh_host_block *block, void (*function)(void))                                \
    {                                                                                              \
        vector (*f)(vector, vector) = (vector(*)(vector, vector))function;                         \
        const T *x = block->in[0], *y = block->in[1];                                              \
        T *z = block->out[0];                                                                      \
        int64_t j = 0, n = block->n;                                                               \
        for (; j + (lanes) <= n; j += (lanes)) {                                                   \
            vector a, b;                                                                           \
            memcpy(&a, x + j, sizeof a);                                                           \
            memcpy(&b, y + j, sizeof b);                                                           \
            a = f(a, b);                                                                           \
            memcpy(z + j, &a, sizeof a);                                                           \
        }                                                                                          \
        if (j < n) {                                                                               \
            vector a = f(LOAD_PART(T, lanes, vector, x + j, n - j),                                \
                         LOAD_PART(T, lanes, vector, y + j, n - j));                               \
            memcpy(z + j, &a, (size_t)(n - j) * sizeof(T));                                        \
        }                                                                                          \
    }
MAPPERS("sse4.1", 128, float, 4, __m128)
MAPPERS("sse4.1", 128, double, 2, __m128d)
#ifndef __clang__ /* 14 passes a second vector that is wider than the file's own target not where the ABI says */
MAPPERS("avx2", 256, float, 8, __m256)
MAPPERS("avx2", 256, double, 4, __m256d)
MAPPERS("avx512f", 512, float, 16, __m512)
MAPPERS("avx512f", 512, double, 8, __m512d)
#endif

/* Vectors that libmvec has functions for. */
static const struct width {
    unsigned bits;
    char letter;
    mapper *maps[NUMBERS][2]; /* by arguments - 1 */
} widths[] = {
#ifndef __clang__
    {512, 'e', {{map1_512_float, map2_512_float}, {map1_512_double, map2_512_double}}},
    {256, 'd', {{map1_256_float, map2_256_float}, {map1_256_double, map2_256_double}}},
#endif
    {128, 'b', {{map1_128_float, map2_128_float}, {map1_128_double, map2_128_double}}},
};

enum floats { FLOATS_OWN, FLOATS_BY_DOUBLES };

static const struct row {
    unsigned nin;
    const char *function;
    enum floats floats;
} rows[GSH_OP_COUNT] = {
#define X(op, nin, function, floats) [GSH_OP_##op] = {nin, function, FLOATS_##floats},
#include "host_vector.def"
#undef X
};

/* The vectors in use; functions[][] are NULL where there are none. */
static struct {
    const struct width *width;
    void (*functions[GSH_OP_COUNT][NUMBERS])(void);
} used;

static void run(enum gsh_op op, enum number number, const struct gsh_host_block *block)
{
    used.width->maps[number][rows[op].nin - 1](block, used.functions[op][number]);
}

/* Computes floats as doubles, for a function of one argument. */
static void run_by_doubles(enum gsh_op op, const struct gsh_host_block *block)
{
    const float *x = block->in[0];
    float *z = block->out[0];
    double wide[64];
    for (int64_t done = 0, n; done < block->n; done += n) {
        n = GSH_MIN(block->n - done, 64);
        struct gsh_host_block part = {.in = {wide}, .out = {wide}, .n = n};
        for (int64_t j = 0; j < n; j++)
            wide[j] = (double)x[done + j];
        run(op, ROW_OF_DOUBLES, &part);
        for (int64_t j = 0; j < n; j++)
            z[done + j] = (float)wide[j];
    }
}

#define X(op, ...)                                                                                 \
    static void floats_##op(const struct gsh_host_block *block)                                    \
    {                                                                                              \
        if (rows[GSH_OP_##op].floats == FLOATS_BY_DOUBLES)                                         \
            run_by_doubles(GSH_OP_##op, block);                                                    \
        else                                                                                       \
            run(GSH_OP_##op, ROW_OF_FLOATS, block);                                                \
    }                                                                                              \
    static void doubles_##op(const struct gsh_host_block *block)                                   \
    {                                                                                              \
        run(GSH_OP_##op, ROW_OF_DOUBLES, block);                                                   \
    }
#include "host_vector.def"
#undef X

gsh_host_loop *gsh_host_vector_find(enum gsh_op op, enum gsh_dtype loop)
{
    static gsh_host_loop *const loops[GSH_OP_COUNT][NUMBERS] = {
#define X(op, ...) [GSH_OP_##op] = {floats_##op, doubles_##op},
#include "host_vector.def"
#undef X
    };
    if (loop != GSH_FLOAT16 && loop != GSH_FLOAT32 && loop != GSH_FLOAT64)
        return NULL;
    enum number number = loop == GSH_FLOAT64 ? ROW_OF_DOUBLES : ROW_OF_FLOATS;
    enum number function = rows[op].floats == FLOATS_BY_DOUBLES ? ROW_OF_DOUBLES : number;
    bool has = used.functions[op][function] != NULL && gsh_op_has_loop(op, loop);
    return has ? loops[op][number] : NULL;
}

unsigned gsh_host_vector_bits(void)
{
    return used.width != NULL ? used.width->bits : 0;
}

static bool has_width(unsigned bits)
{
    __builtin_cpu_init();
    return bits == 512
               ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
           : bits == 256 ? __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                         : __builtin_cpu_supports("sse4.1");
}

static void (*find_function(void *library, const struct width *width, const struct row *row,
                            enum number number))(void)
{
    char name[64];
    unsigned lanes = width->bits / (number == ROW_OF_DOUBLES ? 64 : 32);
    snprintf(name, sizeof name, "_ZGV%cN%u%s_%s%s", width->letter, lanes,
             row->nin == 2 ? "vv" : "v", row->function, number == ROW_OF_DOUBLES ? "" : "f");
    void (*function)(void) = NULL;
    void *symbol = dlsym(library, name);
    memcpy(&function, &symbol, sizeof function);
    return function;
}

bool gsh_host_vector_use(unsigned bits)
{
    memset(&used, 0, sizeof used);
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        if (widths[k].bits == bits && has_width(bits))
            used.width = &widths[k];
    void *library = used.width != NULL ? dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int op = 0; library != NULL && op < GSH_OP_COUNT; op++)
        for (int number = 0; rows[op].nin != 0 && number < NUMBERS; number++)
            used.functions[op][number] =
                find_function(library, used.width, &rows[op], (enum number)number);
    return gsh_host_vector_bits() == bits;
}

void gsh_host_vector_init(void)
{
    for (size_t k = 0; k < sizeof widths / sizeof widths[0] && used.width == NULL; k++)
        gsh_host_vector_use(widths[k].bits);
}
