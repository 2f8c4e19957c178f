// SPDX-License-Identifier: Apache-2.0
//
// What the functions of scipy.special share. The files special_*.cuh are one text for two compilers: C for the CPU
// (kernels/host/host_math_special.h) and CUDA C++ (kernels/codegen/source_text.c). They compute in double, with SciPy's
// formulas and in its order of operations, so that results are near SciPy's also where those are far from the exact ones.
// Formulas and coefficients are those of the Cephes Mathematical Library (S. L. Moshier, netlib.org/cephes) as SciPy's
// library xsf evaluates them (SciPy 1.17); code is our own. A text includes the files whose functions it names.
#ifndef SPECIAL
#define SPECIAL static __device__ __noinline__
#define SPECIAL_INF of_bits(Bits<double>::infinite)
#define SPECIAL_NAN of_bits(Bits<double>::infinite | Bits<double>::quiet)
#define SPECIAL_UNROLL _Pragma("unroll")
#define SPECIAL_INLINE FN
#define SPECIAL_TABLE static __device__ const
#endif
#define SPECIAL_COUNT(table) (int)(sizeof(table) / sizeof(*(table)))
// The polynomial of these coefficients, that of the highest power first.
#define special_polynomial(x, table) special_horner(x, table, SPECIAL_COUNT(table))
SPECIAL_INLINE double special_horner(double x, const double *table, int count)
{
    double sum = table[0];
    SPECIAL_UNROLL
    for (int i = 1; i < count; i++)
        sum = sum * x + table[i];
    return sum;
}
// The series of Chebyshev polynomials T_i(x / 2) with these coefficients, that of the highest degree first; half the last one.
#define special_chebyshev(x, table) special_clenshaw(x, table, SPECIAL_COUNT(table))
SPECIAL_INLINE double special_clenshaw(double x, const double *table, int count)
{
    double sum = table[0], before = 0.0, last = 0.0;
    SPECIAL_UNROLL
    for (int i = 1; i < count; i++) {
        last = before;
        before = sum;
        sum = x * before - last + table[i];
    }
    return 0.5 * (sum - last);
}
// sin(pi x), x >= 0.
SPECIAL_INLINE double special_sine_of_pi(double x)
{
    const double pi = 3.14159265358979323846, rest = fmod(x, 2.0);
    return rest < 0.5 ? sin(pi * rest) : rest > 1.5 ? sin(pi * (rest - 2.0)) : -sin(pi * (rest - 1.0));
}
