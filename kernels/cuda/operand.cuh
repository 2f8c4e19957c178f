// SPDX-License-Identifier: Apache-2.0
//
// How the elementwise kernel reads an operand. Its elements are S and are cast to L, both as in memory. N neighbours
// are read at once, U times. Where only `whole` of them exist, the first replaces the others, so that computing them
// does no harm. ALIGNED: elements are aligned to their size (else complex ones to the size of their parts).
template <class S, class L, int N, int U> struct Array {
    const char *base;
    Pack<S, N> held[U];
    FN Array(const u64 *slot) : base((const char *)slot[0]) {}
    FN void load(int u, i64 offset, int whole)
    {
        if (NDIM == 0 && whole < N) {
#pragma unroll
            for (int e = 0; e < N; e++)
                held[u].element[e] = ((const S *)(base + offset))[e < whole ? e : 0];
        } else {
            load_pack<ALIGNED || (N > 1)>(held[u], base + offset);
        }
    }
    FN typename ValueOf<L>::type get(int u, int e) const { return value(Convert<L, S>::of(held[u].element[e])); }
};
template <class S, class L, int N, int U> struct Row { // the same element along the last dimension
    const char *base;
    Pack<S, 1> held[U];
    FN Row(const u64 *slot) : base((const char *)slot[0]) {}
    FN void load(int u, i64 offset, int) { load_pack<ALIGNED>(held[u], base + offset); }
    FN typename ValueOf<L>::type get(int u, int) const { return value(Convert<L, S>::of(held[u].element[0])); }
};
template <class S, class L> struct Scalar { // an array whose strides are all 0
    typename ValueOf<L>::type same;
    FN Scalar(const u64 *slot) : same(value(Convert<L, S>::of(*(const S *)slot[0]))) {}
    FN void load(int, i64, int) {}
    FN typename ValueOf<L>::type get(int, int) const { return same; }
};
template <class S, class L> struct Constant {
    typename ValueOf<L>::type same;
    FN Constant(const u64 *slot)
    {
        union { u64 words[2]; S stored; } constant = {{slot[0], slot[1]}};
        same = value(Convert<L, S>::of(constant.stored));
    }
    FN void load(int, i64, int) {}
    FN typename ValueOf<L>::type get(int, int) const { return same; }
};
struct Absent { // an input that the op does not have
    FN Absent(const u64 *) {}
    FN void load(int, i64, int) {}
    FN None get(int, int) const { return None(); }
};
struct All { // no mask
    FN All(const u64 *) {}
    FN void load(int, i64, int) {}
    FN bool get(int, int) const { return true; }
};
