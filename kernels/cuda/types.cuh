// SPDX-License-Identifier: Apache-2.0
//
// Names of types, and floating-point numbers as bits. All files of this folder are text for NVRTC (C++17,
// --fmad=false), assembled by kernels/codegen/source_text.c. The gsh_ helpers compute the same as those of
// host_math.h, to the bit where their row of ops.def says so. Where the GPU's instructions differ from x86-64's (NaN
// results, floats out of an integer's range), an extra test corrects the result; memory-bound kernels do not become
// slower.
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
#define FN __device__ __forceinline__
// Functions take the kernel's arguments in place, without a copy, where the compiler and the GPU can.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107 && __CUDA_ARCH__ >= 700
#define IN_PLACE __grid_constant__
#else
#define IN_PLACE
#endif
#define INFINITE __int_as_float(0x7f800000)
struct Bool { u8 byte; }; // in memory, where a bool may be any byte
struct Half { u16 bits; }; // in memory; computed with as float
template <class F> struct Complex;
struct None {};
struct Sink { u64 claims, found, sequence; }; // struct gsh_error_sink

FN u32 bits_of(float x) { return (u32)__float_as_int(x); }
FN u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
FN float of_bits(u32 x) { return __int_as_float((int)x); }
FN double of_bits(u64 x) { return __longlong_as_double((i64)x); }
template <class F> struct Bits; // of a float's layout
template <> struct Bits<float> {
    typedef u32 Word;
    static constexpr u32 sign = 0x80000000u, infinite = 0x7f800000u, quiet = 0x400000u;
    static constexpr int mantissa = 23, bias = 127;
};
template <> struct Bits<double> {
    typedef u64 Word;
    static constexpr u64 sign = 1ull << 63, infinite = 0x7ffull << 52, quiet = 1ull << 51;
    static constexpr int mantissa = 52, bias = 1023;
};

// The unsigned type in which integers of type I are computed with, so that they wrap.
template <class I> struct Wrap { typedef u32 type; };
template <> struct Wrap<i64> { typedef u64 type; };
template <> struct Wrap<u64> { typedef u64 type; };
template <class I> constexpr bool is_signed = (I)-1 < (I)0;
template <class I> constexpr I lowest_integer = is_signed<I> ? (I)((u64)1 << (8 * sizeof(I) - 1)) : (I)0;
