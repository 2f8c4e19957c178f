# SPDX-License-Identifier: Apache-2.0
"""kernels/cuda/math/real_math.cuh, run on the CPU, against long doubles: how far exp and logarithms are off, and that sqrt,
division and the logarithms of powers of their base are exact.

Usage: python real_math_vs_long_double.py [MILLIONS]   (of arguments for each function; needs a C++ compiler as $CXX or c++)

The GPU's first guesses of 1 / x and 1 / sqrt(x) are not the same as any here: they are taken with each of some errors.
What namespace fast computes must have the same bits, or be a NaN where its caller looks for one.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import scan_emulation

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = r"""
static double guess_error;
static double rough_inverse(double x) { return upper_half((1 + guess_error) / upper_half(x)); }
static double rough_inverse_root(double x) { return upper_half((1 + guess_error) / sqrt(upper_half(x))); }
#define guess_inverse rough_inverse
#define guess_inverse_root rough_inverse_root
%s
#include <cstdio>
static u64 state;
static u64 random_bits() // splitmix64
{
    u64 z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
static double between(double low, double high) { return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53; }
static double any_positive() { return of_bits((u64)(random_bits() %% (0x7ff0000000000000ull - 1)) + 1); }
static double any_sign(double x) { return random_bits() & 1 ? x : -x; }
// Around the ends of the intervals in which a logarithm's argument is reduced.
static double edge()
{
    const double base = random_bits() & 1 ? 1.4142135623730951 : 1.0;
    return of_bits(bits_of(ldexp(base, (int)(random_bits() %% 110) - 55)) + random_bits() %% 65 - 32);
}
static double tiny() { return any_sign(ldexp(between(1, 2), -(int)(random_bits() %% 80))); }
static double exp_argument()
{
    switch (random_bits() %% 4) {
    case 0: return between(-746, 710);
    case 1: return tiny();
    case 2: return between(-1, 1);
    default: return any_sign(between(700, 760));
    }
}
static double log_argument()
{
    switch (random_bits() %% 4) {
    case 0: return any_positive();
    case 1: return 1 + tiny() / 4;
    case 2: return between(0.5, 2);
    default: return edge();
    }
}
static double log1p_argument()
{
    switch (random_bits() %% 5) {
    case 0: return any_positive();
    case 1: return tiny() / 1.0000001;
    case 2: return between(-1, 4);
    case 3: return -any_positive() > -1 ? -any_positive() : between(-1, -0.999);
    default: return edge() - 1;
    }
}
struct Function {
    const char *name;
    double (*argument)(), (*full)(double), (*swift)(double);
    long double (*exact)(long double);
    double bound, low, high; // in ulp; between low and high there is no need for the full one
};
static double swift_exp(double x) { return fast::gsh_exp(x); }
static double swift_log(double x) { return fast::gsh_log(x); }
static double swift_log1p(double x) { return fast::gsh_log1p(x); }
static const Function functions[] = {
    {"exp", exp_argument, exp_of, swift_exp, expl, 1.0, -1e308, 1e308},
    {"log", log_argument, log_of, swift_log, logl, 1.75, 2.3e-308, 4.4e307},
    {"log1p", log1p_argument, log1p_of, swift_log1p, log1pl, 1.75, -0.9999999999999999, 4.4e307},
    {"log2", log_argument, log2_of, log2_of, log2l, 1.25, 0, INFINITY},
    {"log10", log_argument, log10_of, log10_of, log10l, 1.0, 0, INFINITY}};
static double distance(double got, long double want)
{
    const double rounded = (double)want;
    if (rounded - rounded != 0 || want == 0)
        return got == rounded && signbit(got) == signbit(rounded) ? 0 : got != got && want != want ? 0 : INFINITY;
    int power;
    frexp(rounded, &power);
    return (double)(fabsl(got - want) / ldexpl(1, power - 53 > -1074 ? power - 53 : -1074));
}
static long check(const Function &f, double x, double &worst, double &where)
{
    const double full = f.full(x), swift = f.swift(x), off = distance(full, f.exact(x));
    const bool may_be_missing = !(x > f.low && x < f.high);
    if (off > worst) {
        worst = off;
        where = x;
    }
    if (bits_of(swift) == bits_of(full) || (swift != swift && (full != full || may_be_missing)))
        return off <= f.bound ? 0 : 1;
    printf("%%s(%%a): %%a, but fast %%a\n", f.name, x, full, swift);
    return 1;
}
static long check_function(const Function &f, long count)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, -1e-310,
        709.782712893384, 709.7827128933841, 710, 720, 1e300, -1e300, 707.9999999999999, 708, -708, -707.9999999999999, -745.1332191019411,
        -745.1332191019412, -746, -750, -752, 1.7976931348623157e308, -1.7976931348623157e308, -0.9999999999999999, -1.0000000000000002, 9007199254740992.0};
    double worst = 0, where = 0;
    long failures = 0;
    for (double x : special)
        failures += check(f, x, worst, where);
    for (long k = 0; k < count && failures < 10; k++)
        failures += check(f, f.argument(), worst, where);
    printf("%%s: %%.4f ulp at %%a, guesses off by %%g\n", f.name, worst, where, guess_error);
    return failures;
}
static long check_root(double x)
{
    const double want = sqrt(x), got = fast::gsh_sqrt(x);
    const bool may_be_missing = x != 0 && !(x >= 2e-291 && x < INFINITY);
    if (bits_of(got) == bits_of(want) || (got != got && may_be_missing))
        return 0;
    printf("sqrt(%%a): %%a, not %%a\n", x, got, want);
    return 1;
}
// Roots next to the middle between two numbers: (y^2 - c) / 2^54, y of 54 bits and odd, c small.
static long check_hard_roots(u64 c)
{
    u64 y = 1;
    for (int bit = 3; bit < 54; bit++) // y^2 = c mod 2^(bit + 1)
        if (((y * y - c) >> bit & 1) != 0)
            y += 1ull << (bit - 1);
    long failures = 0;
    const u64 roots[] = {y, 0 - y, y + (1ull << 53), (1ull << 53) - y};
    for (u64 root : roots) {
        const u64 wide = (root & ((1ull << 54) - 1)) | 1ull << 53;
        const __int128 square = (__int128)wide * wide - (i64)c;
        if (((u64)square & ((1ull << 54) - 1)) == 0 && (square >> 54) < (__int128)1 << 53)
            for (int power = -200; power <= 200; power += 100)
                failures += check_root(ldexp((double)(square >> 54), power));
    }
    return failures;
}
static long check_roots(long count)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, 1e-310, 2.3e-308, 1e-300, 2e-291, 1.7976931348623157e308, 4.0, 2.0};
    long failures = 0;
    for (double x : special)
        failures += check_root(x);
    for (long k = 0; k < count && failures < 10; k++)
        failures += check_root(k %% 2 ? any_positive() : between(1, 4));
    for (long k = 0; k < count / 100 && failures < 10; k++)
        failures += check_hard_roots((u64)(8 * (k %% 2 ? k : -k) + 1));
    printf("sqrt: %%s, guesses off by %%g\n", failures ? "wrong" : "exact", guess_error);
    return failures;
}
static long check_quotient(double a, double b)
{
    const double want = a / b, got = fast::gsh_over(a, b), size = fabs(want);
    const bool is_common = (a == 0 || (size > 2.3e-308 && size < 1.4e306 && fabs(a) >= 2.1e-292)) && fabs(b) >= 2.3e-308 && fabs(b) < 4.4e307;
    if (bits_of(got) == bits_of(want) || (got != got && !is_common))
        return 0;
    printf("%%a / %%a: %%a, not %%a\n", a, b, got, want);
    return 1;
}
static long check_quotients(long count)
{
    static const double special[] = {0.0, -0.0, 1.0, -3.0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310, 2.3e-308, 1e-300, 1.7976931348623157e308, 1e307};
    long failures = 0;
    for (double a : special)
        for (double b : special)
            failures += check_quotient(a, b);
    for (long k = 0; k < count && failures < 10; k++)
        failures += check_quotient(any_sign(k %% 3 ? between(1, 2) : any_positive()), any_sign(k %% 5 ? between(1, 2) : any_positive()));
    for (long k = 0; k < count && failures < 10; k++) { // quotients next to numbers, and to the middle between two
        const double b = between(1, 2), q = between(1, 2);
        failures += check_quotient(k %% 2 ? q * b : fma(q, b, b * 0x1p-53), b);
    }
    printf("divide: %%s, guesses off by %%g\n", failures ? "wrong" : "exact", guess_error);
    return failures;
}
static long check_powers()
{
    long failures = 0;
    for (int power = -1074; power < 1024; power++)
        failures += log2_of(ldexp(1, power)) != power;
    for (int power = -300; power <= 300; power++)
        failures += log10_of((double)powl(10, power)) != power;
    printf("log2, log10: %%ld powers wrong, guesses off by %%g\n", failures, guess_error);
    return failures;
}
int main(int, char **argv)
{
    const long count = atol(argv[1]);
    long failures = 0;
    guess_error = atof(argv[2]);
    state = (u64)atol(argv[3]);
    for (const Function &f : functions)
        failures += check_function(f, count);
    return failures + check_powers() + check_roots(count) + check_quotients(count) != 0;
}
"""


def main():
    count = int(float(sys.argv[1] if len(sys.argv) > 1 else 0.6) * 1e6)
    text = "\n".join((ROOT / "kernels" / "cuda" / name).read_text() for name in ("types.cuh", "math/real_math.cuh"))
    text = scan_emulation.without_ptx(text)
    with tempfile.TemporaryDirectory() as folder:
        program, source = pathlib.Path(folder, "real_math"), pathlib.Path(folder, "real_math.cpp")
        source.write_text(scan_emulation.CUDA + DRIVER % text)
        flags = "-std=c++17 -O2 -ffp-contract=off -mfma -mf16c".split()
        subprocess.run([*os.environ.get("CXX", "c++").split(), *flags, "-o", program, source], check=True)
        errors = (0, 2**-19, -2**-19)
        runs = [subprocess.run([program, str(count // len(errors)), str(error), str(seed)]) for seed, error in enumerate(errors)]
    return 1 if any(run.returncode for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
