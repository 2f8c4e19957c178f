// SPDX-License-Identifier: Apache-2.0
//
// How a group's kernel moves elements.
// The first stands in for those that do not exist, so that computing those does no harm.
template <class S, int N> FN void load_some(Pack<S, N> &pack, const char *at, int whole)
{
#pragma unroll
    for (int e = 0; e < N; e++)
        pack.element[e] = ((const S *)at)[e < whole ? e : 0];
}
template <bool ALIGNED, class S, int N> FN void store_pack(const Pack<S, N> &pack, char *at, int whole)
{
    if (ALIGNED && whole == N) {
        *(decltype(pack.word) *)at = pack.word;
        return;
    }
#pragma unroll
    for (int e = 0; e < N; e++)
        if (e < whole)
            ((S *)at)[e] = pack.element[e];
}
template <class S> FN S constant_of(const u64 *words)
{
    union { u64 words[2]; S stored; } constant = {{words[0], sizeof(S) > 8 ? words[1] : 0}};
    return constant.stored;
}
