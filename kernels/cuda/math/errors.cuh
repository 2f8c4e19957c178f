// SPDX-License-Identifier: Apache-2.0
//
// Floating-point errors. An element that meets one stores its inputs in the sink (kernels/launch.h), once for each
// kind and launch. Reports are rare and live in functions of their own; the kernel pays one test of each result.
enum { POLE, OVERFLOWED, INVALID };                        // enum gsh_error_kind
enum { MAY_POLE = 1, MAY_OVERFLOW = 2, MAY_INVALID = 4 }; // enum gsh_op_flags

FN u64 *claim_error(const Sink &sink, int kind)
{
    u64 *const claim = (u64 *)sink.claims + kind;
    if (*(volatile u64 *)claim == sink.sequence || atomicExch(claim, sink.sequence) == sink.sequence)
        return nullptr;
    return (u64 *)sink.found + 7 * kind;
}
template <class S> FN void leave_input(u64 *at, S stored)
{
    union { u64 words[2]; S stored; } input = {{0, 0}};
    input.stored = stored;
    ((volatile u64 *)at)[0] = input.words[0];
    ((volatile u64 *)at)[1] = input.words[1];
}
FN void leave_input(u64 *, None) {}
template <class A, class B, class C> FN void leave_error(const Sink &sink, int kind, A a, B b, C c)
{
    u64 *const found = claim_error(sink, kind);
    if (!found)
        return;
    leave_input(found + 1, a);
    leave_input(found + 3, b);
    leave_input(found + 5, c);
    __threadfence_system();
    *(volatile u64 *)found = sink.sequence;
}
template <class A, class B, class C> __device__ __noinline__ void report_error(Sink sink, int kind, A a, B b, C c)
{
    leave_error(sink, kind, a, b, c);
}

template <class S> struct Facts { // of an input
    static FN bool nan(S x) { return gsh_isnan(value(x)); }
    static FN bool finite(S x) { return gsh_isfinite(value(x)); }
    static FN bool zero(S x) { return value(Cast<Bool>::of(value(x))) == false; }
};
template <> struct Facts<None> {
    static FN bool nan(None) { return false; }
    static FN bool finite(None) { return true; }
    static FN bool zero(None) { return false; }
};
// The kinds of error that a non-finite result means, given what the op may do. For a complex result, of both parts.
template <int MAY, class R, class A, class B, class C>
__device__ __noinline__ void judge(Sink sink, R r, A a, B b, C c)
{
    const bool zero = Facts<A>::zero(a) || Facts<B>::zero(b) || Facts<C>::zero(c);
    u32 kinds = 0;
    if ((MAY & MAY_INVALID) && gsh_isnan(r) && !Facts<A>::nan(a) && !Facts<B>::nan(b) && !Facts<C>::nan(c))
        kinds = 1u << INVALID;
    if ((MAY & (MAY_POLE | MAY_OVERFLOW)) && gsh_isinf(r) && Facts<A>::finite(a) && Facts<B>::finite(b) && Facts<C>::finite(c))
        kinds |= 1u << ((MAY & MAY_POLE) && (zero || !(MAY & MAY_OVERFLOW)) ? POLE : OVERFLOWED);
#pragma unroll 1
    for (int kind = 0; kinds != 0; kind++, kinds >>= 1)
        if (kinds & 1)
            leave_error(sink, kind, a, b, c);
}
// Checks r, the result rounded to the output's type. a, b, c: the stored inputs.
template <int MAY, class R, class A, class B, class C> FN void check_result(const Sink &sink, R r, A a, B b, C c)
{
    if (MAY != 0 && !gsh_isfinite(r))
        judge<MAY>(sink, r, a, b, c);
}
template <class I> FN void check_division(const Sink &sink, int may, I a, I b)
{
    if (b == 0)
        report_error(sink, POLE, a, b, None());
    else if ((may & MAY_OVERFLOW) && is_signed<I> && a == lowest_integer<I> && b == (I)-1)
        report_error(sink, OVERFLOWED, a, b, None());
}
template <class I> FN void check_reciprocal(const Sink &sink, I a)
{
    if (a == 0) {
        report_error(sink, POLE, a, None(), None());
        report_error(sink, INVALID, a, None(), None());
    }
}
// A joined value of a reduction or scan as S, the sink's type. A value too large for float16 becomes the largest
// float16.
template <class S, class V> FN S sample_of(V x)
{
    if constexpr (sizeof(S) == 2)
        if (gsh_isfinite(x) && gsh_abs(x) > 65504.0f)
            return Cast<S>::of(x > 0 ? 65504.0f : -65504.0f);
    return Cast<S>::of(x);
}
template <class S, int MAY, class V> __device__ __noinline__ void judge_join(Sink sink, V a, V b, V r)
{
    const bool invalid = gsh_isnan(r);
    // an infinity or a NaN stays in every later join: only the join that made it is reported
    if (invalid ? (MAY & MAY_INVALID) && !gsh_isnan(a) && !gsh_isnan(b)
                : (MAY & MAY_OVERFLOW) && gsh_isfinite(a) && gsh_isfinite(b))
        leave_error(sink, invalid ? INVALID : OVERFLOWED, sample_of<S>(a), sample_of<S>(b), None());
}
template <class S, int MAY, class V> FN void check_join(const Sink &sink, V a, V b, V r)
{
    if (MAY != 0 && !gsh_isfinite(r))
        judge_join<S, MAY>(sink, a, b, r);
}
// Checks whether the rounding of a reduction's total to float16 overflows.
template <class R, class V> FN void check_rounding(const Sink &sink, V total)
{
    if constexpr (sizeof(R) == 2) {
        if (gsh_isfinite(total) && !gsh_isfinite(value(Cast<R>::of(total))))
            report_error(sink, OVERFLOWED, sample_of<R>(total), sample_of<R>(total), None());
    }
}

template <class S> struct Kind { static constexpr int integer = 1; };
template <> struct Kind<Bool> { static constexpr int integer = 0; };
template <> struct Kind<Half> { static constexpr int integer = 0; };
template <> struct Kind<float> { static constexpr int integer = 0; };
template <> struct Kind<double> { static constexpr int integer = 0; };
template <class F> struct Kind<Complex<F>> { static constexpr int integer = 0; };
template <class V> FN V real_part(V x) { return x; }
template <class F> FN F real_part(Complex<F> x) { return x.re; }
template <class V> FN i32 imaginary_part(V) { return 0; }
template <class F> FN F imaginary_part(Complex<F> x) { return x.im; }
// Whether x is out of range for the conversion instruction to To.
template <class To, class V> FN bool is_beyond(V x)
{
    constexpr double half = sizeof(To) == 8 ? 9223372036854775808.0 : 2147483648.0;
    constexpr double top = sizeof(To) >= 4 && !is_signed<To> ? 2 * half : half;
    return !((double)x < top && (sizeof(To) == 8 ? (double)x >= -half : (double)x > -half - 1));
}
// Checks the cast of x to y, both as in memory. a, b, c: the inputs to report.
template <class To, class From, class A, class B, class C>
FN void check_cast(const Sink &sink, From x, To y, A a, B b, C c)
{
    if constexpr (Kind<From>::integer == 0 && Kind<To>::integer != 0) {
        if (is_beyond<To>(real_part(value(x))))
            report_error(sink, INVALID, a, b, c);
    } else {
        const auto before = value(x);
        const auto after = value(y);
        if ((gsh_isfinite(real_part(before)) && !gsh_isfinite(real_part(after))) ||
            (gsh_isfinite(imaginary_part(before)) && !gsh_isfinite(imaginary_part(after))))
            report_error(sink, OVERFLOWED, a, b, c);
    }
}
