/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A loop's body is the case that nearly all values take; the others are functions of their own.
 */
#include "host_random_values.h"

#include "ziggurat.h"

#include <math.h>
#include <string.h>

#define LOOP(name)                                                                                 \
    int64_t name(const struct gsh_random_draw *draw, struct gsh_host_random_words *words,          \
                 void *values, int64_t most)

/* ---- one word a value ---- */

static inline double unit_double(uint64_t word)
{
    return (double)(int64_t)(word >> 11) * (1.0 / 9007199254740992.0);
}

static inline float unit_float(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * (1.0F / 16777216.0F);
}

/* How many values of a word each the loop makes. */
static inline int64_t count_fixed(struct gsh_host_random_words *words, int64_t most)
{
    int64_t count = GSH_MIN(most, words->until - words->position);
    words->position += count;
    return count;
}

#define FIXED_LOOP(name, unit, type, value)                                                        \
    static LOOP(name)                                                                              \
    {                                                                                              \
        const unit *word = (const unit *)words->units + words->position;                           \
        type *result = values;                                                                     \
        int64_t count = count_fixed(words, most);                                                  \
        (void)draw;                                                                                \
        for (int64_t i = 0; i < count; i++)                                                        \
            result[i] = (type)(value);                                                             \
        return count;                                                                              \
    }
FIXED_LOOP(uniform_double, uint64_t, double, unit_double(word[i]))
FIXED_LOOP(uniform_float, uint32_t, float, unit_float(word[i]))
FIXED_LOOP(all_64_of_64, uint64_t, uint64_t, draw->low + word[i])
FIXED_LOOP(all_64_of_32, uint32_t, uint64_t, draw->low + word[i])
FIXED_LOOP(all_32, uint32_t, uint32_t, draw->low + word[i])
FIXED_LOOP(all_16, uint16_t, uint16_t, draw->low + word[i])
FIXED_LOOP(all_8, uint8_t, uint8_t, draw->low + word[i])
/* Ranges of a power of two: no word is left out. */
FIXED_LOOP(power_64_of_64, uint64_t, uint64_t,
           draw->low + (uint64_t)((unsigned __int128)word[i] * (draw->range + 1) >> 64))
FIXED_LOOP(power_64_of_32, uint32_t, uint64_t, draw->low + (word[i] * (draw->range + 1) >> 32))
FIXED_LOOP(power_32, uint32_t, uint32_t, draw->low + (word[i] * (draw->range + 1) >> 32))
FIXED_LOOP(power_16, uint16_t, uint16_t, draw->low + (word[i] * (draw->range + 1) >> 16))
FIXED_LOOP(power_8, uint8_t, uint8_t, draw->low + (word[i] * (draw->range + 1) >> 8))

static LOOP(all_bits)
{
    const uint8_t *bytes = words->units;
    uint8_t *result = values;
    int64_t first = words->position, count = count_fixed(words, most);
    (void)draw;
    for (int64_t i = 0; i < count; i++)
        result[i] = bytes[(first + i) >> 3] >> ((first + i) & 7) & 1;
    return count;
}

/* ---- integers by Lemire's method ---- */

/* Words whose product's lower part is below 2^bits modulo the number of values are left out. Without a branch, which would often be
 * mispredicted; the last value ends with a word that is not left out. */
#define LEMIRE_LOOP(name, unit, product, bits, type)                                               \
    static LOOP(name)                                                                              \
    {                                                                                              \
        const unit *word = words->units;                                                           \
        const unit values_of_range = (unit)(draw->range + 1);                                      \
        const unit threshold = (unit)((unit)(~draw->range) % values_of_range);                     \
        type *result = values;                                                                     \
        int64_t position = words->position, made = 0;                                              \
        bool is_taken = true;                                                                      \
        while (made < most && (position < words->until || !is_taken)) {                            \
            if (position >= words->limit)                                                          \
                return -1;                                                                         \
            product m = (product)word[position++] * values_of_range;                               \
            is_taken = (unit)m >= threshold;                                                       \
            result[made] = (type)(draw->low + (uint64_t)(m >> (bits)));                            \
            made += is_taken;                                                                      \
        }                                                                                          \
        words->position = position;                                                                \
        return made;                                                                               \
    }
LEMIRE_LOOP(lemire_64_of_64, uint64_t, unsigned __int128, 64, uint64_t)
LEMIRE_LOOP(lemire_64_of_32, uint32_t, uint64_t, 32, uint64_t)
LEMIRE_LOOP(lemire_32, uint32_t, uint64_t, 32, uint32_t)
LEMIRE_LOOP(lemire_16, uint16_t, uint32_t, 16, uint16_t)
LEMIRE_LOOP(lemire_8, uint8_t, uint32_t, 8, uint8_t)

/* ---- ziggurats ---- */

/* The tail and the edges of the layers, in both widths. A function: the value that begins with the word at `position` was not
 * taken at once; makes it, and moves the position behind it. False: there are too few words. */
#define NORMAL_RARE(name, unit, type, table, next, log1p_of, R, INVERSE_R)                         \
    static __attribute__((noinline)) bool name##_tail(                                             \
        const unit *word, int64_t *position, int64_t limit, bool is_negative, type *value)         \
    {                                                                                              \
        for (; *position + 2 <= limit;) {                                                          \
            type x = -(INVERSE_R)*log1p_of(-next(word[*position]));                                \
            type y = -log1p_of(-next(word[*position + 1]));                                        \
            *position += 2;                                                                        \
            if (!(y + y > x * x))                                                                  \
                continue;                                                                          \
            *value = is_negative ? -((R) + x) : (R) + x;                                           \
            return true;                                                                           \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
    static inline bool name##_is_below(unsigned layer, unit word, type x)                          \
    {                                                                                              \
        return (table.height[layer - 1] - table.height[layer]) * next(word) +                      \
                   table.height[layer] <                                                           \
               exp(-0.5 * x * x);                                                                  \
    }

NORMAL_RARE(normal_double, uint64_t, double, gsh_ziggurat_normal, unit_double, log1p,
            GSH_ZIGGURAT_NORMAL_R, GSH_ZIGGURAT_NORMAL_INVERSE_R)
NORMAL_RARE(normal_float, uint32_t, float, gsh_ziggurat_normal_single, unit_float, log1pf,
            (float)GSH_ZIGGURAT_NORMAL_R, (float)GSH_ZIGGURAT_NORMAL_INVERSE_R)

/* x, negative where bit 8 of the word says so. Without a branch, which every other value would mispredict. */
static inline double normal_double_signed(double x, uint64_t r)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits |= (r & 0x100) << 55;
    memcpy(&x, &bits, sizeof(bits));
    return x;
}

static inline float normal_float_signed(float x, uint32_t r)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits |= (r & 0x100) << 23;
    memcpy(&x, &bits, sizeof(bits));
    return x;
}

/* `steps`, of the word `r`; the layer is its last 8 bits, the sign the one above them. The tail's sign is a bit of the steps. */
#define NORMAL_LOOP(name, unit, whole, type, table, steps)                                         \
    static LOOP(name)                                                                              \
    {                                                                                              \
        const unit *word = words->units;                                                           \
        type *result = values;                                                                     \
        int64_t position = words->position, made = 0;                                              \
        (void)draw;                                                                                \
        while (made < most && position < words->until) {                                           \
            bool is_made = false;                                                                  \
            while (!is_made) {                                                                     \
                if (position >= words->limit)                                                      \
                    return -1;                                                                     \
                const unit r = word[position++], count = (steps);                                  \
                const unsigned layer = r & 0xff;                                                   \
                type x = (type)(whole)count * table.width[layer];                                  \
                x = name##_signed(x, r);                                                           \
                is_made = count < table.steepness[layer];                                          \
                if (GSH_UNLIKELY(!is_made)) {                                                      \
                    if (layer == 0                                                                 \
                            ? !name##_tail(word, &position, words->limit, count >> 8 & 1, &x)      \
                            : position >= words->limit)                                            \
                        return -1;                                                                 \
                    is_made = layer == 0 || name##_is_below(layer, word[position++], x);           \
                }                                                                                  \
                result[made] = x;                                                                  \
            }                                                                                      \
            made++;                                                                                \
        }                                                                                          \
        words->position = position;                                                                \
        return made;                                                                               \
    }
NORMAL_LOOP(normal_double, uint64_t, int64_t, double, gsh_ziggurat_normal, r >> 9 & 0xfffffffffffff)
NORMAL_LOOP(normal_float, uint32_t, int32_t, float, gsh_ziggurat_normal_single, r >> 9 & 0x7fffff)

#define EXPONENTIAL_LOOP(name, unit, whole, type, table, shift, next, log1p_of, exp_of, R)         \
    static LOOP(name)                                                                              \
    {                                                                                              \
        const unit *word = words->units;                                                           \
        type *result = values;                                                                     \
        int64_t position = words->position, made = 0;                                              \
        (void)draw;                                                                                \
        while (made < most && position < words->until) {                                           \
            bool is_made = false;                                                                  \
            while (!is_made) {                                                                     \
                if (position >= words->limit)                                                      \
                    return -1;                                                                     \
                const unit r = word[position++] >> (shift), count = r >> 8;                        \
                const unsigned layer = r & 0xff;                                                   \
                type x = (type)(whole)count * table.width[layer];                                  \
                is_made = count < table.steepness[layer];                                          \
                if (GSH_UNLIKELY(!is_made)) {                                                      \
                    if (position >= words->limit)                                                  \
                        return -1;                                                                 \
                    type u = next(word[position++]);                                               \
                    if (layer == 0)                                                                \
                        x = (R)-log1p_of(-u);                                                      \
                    is_made = layer == 0 || (table.height[layer - 1] - table.height[layer]) * u +  \
                                                    table.height[layer] <                          \
                                                exp_of(-x);                                        \
                }                                                                                  \
                result[made] = x;                                                                  \
            }                                                                                      \
            made++;                                                                                \
        }                                                                                          \
        words->position = position;                                                                \
        return made;                                                                               \
    }
EXPONENTIAL_LOOP(exponential_double, uint64_t, int64_t, double, gsh_ziggurat_exponential, 3,
                 unit_double, log1p, exp, GSH_ZIGGURAT_EXPONENTIAL_R)
EXPONENTIAL_LOOP(exponential_float, uint32_t, int32_t, float, gsh_ziggurat_exponential_single, 1,
                 unit_float, log1pf, expf, (float)GSH_ZIGGURAT_EXPONENTIAL_R)

/* ---- recipes ---- */

/* Words of a value: of the distribution's width, on average. */
#define NORMAL_WORDS 1.025
#define EXPONENTIAL_WORDS 1.035

static bool find_float(const struct gsh_random_draw *draw, bool is_single,
                       struct gsh_host_random_recipe *recipe)
{
    static gsh_host_random_loop *const loops[][2] = {
        [GSH_RANDOM_UNIFORM] = {uniform_double, uniform_float},
        [GSH_RANDOM_NORMAL] = {normal_double, normal_float},
        [GSH_RANDOM_EXPONENTIAL] = {exponential_double, exponential_float}};
    static const double words[] = {1, NORMAL_WORDS, EXPONENTIAL_WORDS};
    if (draw->distribution == GSH_RANDOM_BOUNDED ||
        (is_single && draw->form != GSH_RANDOM_STANDARD))
        return false;
    *recipe = (struct gsh_host_random_recipe){.loop = loops[draw->distribution][is_single],
                                              .bits = is_single ? 32 : 64,
                                              .words = words[draw->distribution],
                                              .is_fixed = draw->distribution == GSH_RANDOM_UNIFORM};
    return true;
}

/* Loops for words of so many bits: every word is a value as it is; the range is a power of two; any other range. */
struct integer_loops {
    size_t size; /* of the dtype */
    unsigned bits;
    gsh_host_random_loop *all, *power, *any;
};

static const struct integer_loops *find_integer_loops(size_t size, uint64_t range)
{
    static const struct integer_loops loops[] = {
        {8, 64, all_64_of_64, power_64_of_64, lemire_64_of_64},
        {8, 32, all_64_of_32, power_64_of_32, lemire_64_of_32},
        {4, 32, all_32, power_32, lemire_32},
        {2, 16, all_16, power_16, lemire_16},
        {1, 8, all_8, power_8, lemire_8}};
    unsigned bits = size == 8 && range <= UINT32_MAX ? 32 : (unsigned)size * 8;
    for (size_t i = 0; i < GSH_COUNT(loops); i++)
        if (loops[i].size == size && loops[i].bits == bits)
            return &loops[i];
    return NULL;
}

static bool find_integer(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                         struct gsh_host_random_recipe *recipe)
{
    const struct integer_loops *loops = find_integer_loops(gsh_dtype_size(dtype), draw->range);
    if (loops == NULL || draw->distribution != GSH_RANDOM_BOUNDED || draw->is_masked ||
        draw->form != GSH_RANDOM_STANDARD || draw->range == 0)
        return false;
    uint64_t greatest = UINT64_MAX >> (64 - loops->bits), values = draw->range + 1;
    bool is_all = draw->range == greatest;
    double words = ldexp(1, (int)loops->bits);
    *recipe = (struct gsh_host_random_recipe){.bits = loops->bits, .words = 1, .is_fixed = true};
    if (draw->range > greatest)
        return false;
    if (!is_all && (values & (values - 1)) != 0) {
        double left_out = (double)((greatest - draw->range) % values);
        recipe->words = words / (words - left_out);
        recipe->is_fixed = false;
    }
    recipe->loop = is_all ? loops->all : recipe->is_fixed ? loops->power : loops->any;
    return true;
}

bool gsh_host_random_values_find(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                                 struct gsh_host_random_recipe *recipe)
{
    if (dtype == GSH_FLOAT32 || dtype == GSH_FLOAT64)
        return find_float(draw, dtype == GSH_FLOAT32, recipe);
    if (GSH_SET_INTEGERS & 1U << dtype)
        return find_integer(draw, dtype, recipe);
    if (dtype != GSH_BOOL || draw->range != 1 || draw->distribution != GSH_RANDOM_BOUNDED)
        return false;
    *recipe =
        (struct gsh_host_random_recipe){.loop = all_bits, .bits = 1, .words = 1, .is_fixed = true};
    return true;
}

void gsh_host_random_values_transform(const struct gsh_random_draw *draw, const double *values,
                                      double *result, int64_t count)
{
    double shift = draw->shift, scale = draw->scale;
    for (int64_t i = 0; i < count && draw->form == GSH_RANDOM_SCALED; i++)
        result[i] = scale * values[i];
    for (int64_t i = 0; i < count && draw->form == GSH_RANDOM_SHIFTED; i++)
        result[i] = shift + scale * values[i];
    for (int64_t i = 0; i < count && draw->form == GSH_RANDOM_EXP; i++)
        result[i] = exp(shift + scale * values[i]);
}
