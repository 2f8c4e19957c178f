// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of elements in a group's kernel.
template <bool ALIGNED, class S, int N> FN void store_pack(const Pack<S, N> &pack, char *at)
{
    if constexpr (ALIGNED) {
        *(decltype(pack.word) *)at = pack.word;
    } else {
#pragma unroll
        for (int e = 0; e < N; e++)
            ((S *)at)[e] = pack.element[e];
    }
}
template <class S> FN S constant_of(const u64 *words)
{
    union { u64 words[2]; S stored; } constant = {{words[0], sizeof(S) > 8 ? words[1] : 0}};
    return constant.stored;
}
