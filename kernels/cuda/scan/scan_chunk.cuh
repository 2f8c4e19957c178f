// SPDX-License-Identifier: Apache-2.0
//
// RANGE_CHECKED: the first pass's description of a chunk besides its total, and how the chunk counts after a value.
enum Found { FOUND_ZERO = 1, FOUND_INFINITE = 2, FOUND_NAN = 4, LEFT_RANGE = 8 };

struct Chunk {
    i32 low, high;   // sizes of its partial products
    i32 least, most; // upper words of its elements, as integers
    u32 found;
    FN void begin()
    {
        low = INFINITE_SIZE;
        high = -INFINITE_SIZE;
        least = 0x7fffffff;
        most = -1 - least;
        found = 0;
    }
    FN void widen(const Chunk &other)
    {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
        least = other.least < least ? other.least : least;
        most = other.most > most ? other.most : most;
        found |= other.found;
    }
    FN void note_inputs(const Lane &mine)
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            const i32 upper = upper_of(mine.x[i]);
            if (i < mine.count) {
                least = upper < least ? upper : least;
                most = upper > most ? upper : most;
            }
        }
    }
    // `inputs`: the lane's elements
    FN void note_products(const Lane &mine, const A *inputs)
    {
        low = mine.range.low < low ? mine.range.low : low;
        high = mine.range.high > high ? mine.range.high : high;
        if (mine.count == 0 || mine.range.is_safe())
            return;
        found |= LEFT_RANGE;
        if (is_positive())
            return; // all elements so far are positive
#pragma unroll 1
        for (int i = 0; i < mine.count; i++) {
            const A x = inputs[i];
            found |= gsh_isnan(x) ? FOUND_NAN : !gsh_isfinite(x) ? FOUND_INFINITE : is_zero(x) ? FOUND_ZERO : 0;
        }
    }
    // True: no element is 0, negative, infinite or NaN. False: one may be.
    FN bool is_positive() const { return least > 0 && most < UNIT_SIZE + INFINITE_SIZE; }
    // True: every element leaves a value that is not absorbing as it is. False: one may change it.
    FN bool stays(A value) const
    {
        return least >= 0 && is_same(gsh_join(value, lowest_of(least, A())), value) &&
               is_same(gsh_join(value, highest_of(most, A())), value);
    }
    // True: every output is the value before the chunk. False: one may differ.
    FN bool repeats(A carry) const { return is_absorbing(carry) ? is_positive() && !gsh_isnan(carry) : stays(carry); }
    static FN float lowest_of(i32 upper, float) { return of_bits((u32)upper); }
    static FN float highest_of(i32 upper, float) { return of_bits((u32)upper); }
    static FN double lowest_of(i32 upper, double) { return of_bits((u64)(u32)upper << 32); }
    static FN double highest_of(i32 upper, double) { return of_bits((u64)(u32)upper << 32 | 0xffffffffu); }
    template <class F> static FN Complex<F> lowest_of(i32, Complex<F>) { return Complex<F>(); }
    template <class F> static FN Complex<F> highest_of(i32, Complex<F>) { return Complex<F>(); }
    FN bool makes_nan(A absorbing) const
    {
        return gsh_isnan(absorbing) || (found & FOUND_NAN) || (found & (is_zero(absorbing) ? FOUND_INFINITE : FOUND_ZERO));
    }
    // Whether the chunk's total counts as one factor after a value of size `by`.
    FN bool fits(i32 by) const
    {
        return found == 0 && is_in_range(low) && is_in_range(high) && is_in_range(low + by) && is_in_range(high + by);
    }
    // The factor for which the chunk counts in mode SIGNS or STAYS, as for elements.
    FN A counted(A whole, A carry, Mode mode, bool &spoils) const
    {
        if (mode == STAYS) {
            spoils = spoils || !stays(carry);
            return sign_of(A());
        }
        const bool is_nan = makes_nan(carry);
        spoils = spoils || (!is_nan && gsh_isnan(whole)); // its sign is not that of the factors
        return is_nan ? nan_of(A()) : sign_of(whole);
    }
};
static_assert(sizeof(Chunk) == CHUNK_BYTES, "as the plan counts");

// All threads of the block; only the first one's result is valid. Overwrites `staged`.
FN Chunk chunk_of_block(Shared &shared, const Chunk &mine)
{
    constexpr u32 STEP = 16;
    Chunk *const all = (Chunk *)shared.staged;
    static_assert(sizeof(Chunk) * BLOCK <= sizeof(shared.staged), "");
    Chunk whole = mine;
    for (u32 count = BLOCK; count > 1; count /= STEP) {
        if (threadIdx.x < count)
            all[threadIdx.x] = whole;
        __syncthreads();
        for (u32 k = count / STEP; k < count && threadIdx.x < count / STEP; k += count / STEP)
            whole.widen(all[k + threadIdx.x]);
        __syncthreads();
    }
    return whole;
}
