// SPDX-License-Identifier: Apache-2.0
//
// Values of any size passed between the lanes of a warp.
template <class V> union Words {
    V whole;
    u32 word[(sizeof(V) + 3) / 4];
};
template <class V> FN V shuffle_down(V x, u32 by, u32 width)
{
    Words<V> words;
    words.whole = x;
#pragma unroll
    for (int w = 0; w < (int)(sizeof(words.word) / 4); w++)
        words.word[w] = __shfl_down_sync(~0u, words.word[w], by, width);
    return words.whole;
}
template <class V> FN V shuffle_up(V x, u32 by, u32 width)
{
    Words<V> words;
    words.whole = x;
#pragma unroll
    for (int w = 0; w < (int)(sizeof(words.word) / 4); w++)
        words.word[w] = __shfl_up_sync(~0u, words.word[w], by, width);
    return words.whole;
}
