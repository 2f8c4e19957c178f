/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in for CUDA C++ where the text of a kernel is compiled for the CPU: its words, its intrinsics, and its
 * threads. The threads of a block are fibers that run in turn from one barrier to the next; blocks run one after the
 * other. One kernel runs at a time. Read by emulated_nvrtc.cpp and by tests/conformance/scan_emulation.py; PTX in the text
 * is replaced first (ptx.txt).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __global__ __attribute__((visibility("default")))
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__ alignas
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
static dim3 blockIdx, gridDim, threadIdx, blockDim;

/* ---- intrinsics ---- */

template <class To, class From> static To as(From x)
{
    To y;
    static_assert(sizeof x == sizeof y);
    memcpy(&y, &x, sizeof y);
    return y;
}
static float __int_as_float(int x)
{
    return as<float>(x);
}
static int __float_as_int(float x)
{
    return as<int>(x);
}
static double __longlong_as_double(long long x)
{
    return as<double>(x);
}
static long long __double_as_longlong(double x)
{
    return as<long long>(x);
}
static unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static int __clz(int x)
{
    return x ? __builtin_clz(x) : 32;
}
static int __clzll(long long x)
{
    return x ? __builtin_clzll(x) : 64;
}
static int __ffs(int x)
{
    return __builtin_ffs(x);
}
static int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
static void __threadfence_system()
{
}
template <class V> static V atomicExch(V *at, V x)
{
    V old = *at;
    *at = x;
    return old;
}
template <class V> static V atomicCAS(V *at, V old, V fresh)
{
    V seen = *at;
    if (seen == old)
        *at = fresh;
    return seen;
}
template <class V> static V atomicMax(V *at, V x)
{
    V seen = *at;
    if (seen < x)
        *at = x;
    return seen;
}
template <class V> static V atomicOr(V *at, V x)
{
    V seen = *at;
    *at = seen | x;
    return seen;
}
template <class V> static V atomicAdd(V *at, V x)
{
    V seen = *at;
    *at = seen + x;
    return seen;
}

/* ---- what ptx.txt puts in the place of PTX ---- */

static double upper_half(double x)
{
    return as<double>(as<long long>(x) >> 32 << 32);
}
static double guess_inverse(double x)
{
    return upper_half(1 / upper_half(x));
}
static double guess_inverse_root(double x)
{
    return upper_half(1 / sqrt(upper_half(x)));
}
static float float_of(unsigned short half)
{
    typedef float Floats __attribute__((vector_size(16)));
    typedef short Halves __attribute__((vector_size(16)));
    const Floats converted = __builtin_ia32_vcvtph2ps(Halves{(short)half});
    return converted[0];
}
static unsigned short half_of(float x)
{
    typedef float Floats __attribute__((vector_size(16)));
    typedef short Halves __attribute__((vector_size(16)));
    const Halves converted = __builtin_ia32_vcvtps2ph(Floats{x}, 0);
    return (unsigned short)converted[0];
}
static unsigned short half_of(double x) // rounded to odd first, so that it is rounded once
{
    float f = (float)x;
    unsigned bits = as<unsigned>(f);
    if (x == x && (double)f != x && f - f == 0) {
        if (fabs((double)f) > fabs(x))
            bits -= 1;
        bits |= 1;
    }
    return half_of(as<float>(bits));
}

/* ---- threads ---- */

static const unsigned FIBERS = 1024;
static void *fibers[FIBERS], *scheduler; // stack pointers of those that wait
static bool done[FIBERS];
alignas(16) static char stacks[FIBERS][1 << 15];
static unsigned long long exchanged[FIBERS];
static void (*entry)(const void *);
static const void *entry_arguments;

// Leaves one stack, whose pointer it stores, for another: what the ABI has a function keep lies on the stack.
extern "C" void switch_stack(void **from, void *to);
asm(R"(
    .pushsection .text
    .local switch_stack
    .type switch_stack, @function
switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .popsection
)");

static void yield_fiber()
{
    switch_stack(&fibers[threadIdx.x], scheduler);
}
static void __syncthreads()
{
    yield_fiber();
}
static void __syncwarp() // all warps together
{
    yield_fiber();
}
static int __syncthreads_count(int x)
{
    int count = 0;
    exchanged[threadIdx.x] = x != 0;
    yield_fiber();
    for (unsigned t = 0; t < blockDim.x; t++)
        count += exchanged[t] != 0;
    yield_fiber();
    return count;
}
static int __syncthreads_or(int x)
{
    return __syncthreads_count(x) != 0;
}
static unsigned __ballot_sync(unsigned, int x)
{
    unsigned votes = 0, first = threadIdx.x / 32 * 32;
    exchanged[threadIdx.x] = x != 0;
    yield_fiber();
    for (unsigned t = 0; t < 32; t++)
        votes |= (unsigned)(exchanged[first + t] != 0) << t;
    yield_fiber();
    return votes;
}
template <class V> static V exchange(V x, unsigned from)
{
    memcpy(&exchanged[threadIdx.x], &x, sizeof x);
    yield_fiber();
    memcpy(&x, &exchanged[from], sizeof x);
    yield_fiber();
    return x;
}
template <class V> static V __shfl_sync(unsigned, V x, unsigned lane, unsigned width)
{
    return exchange(x, threadIdx.x / width * width + lane % width);
}
template <class V> static V __shfl_up_sync(unsigned, V x, unsigned by, unsigned width)
{
    return exchange(x, threadIdx.x % width >= by ? threadIdx.x - by : threadIdx.x);
}
template <class V> static V __shfl_down_sync(unsigned, V x, unsigned by, unsigned width)
{
    return exchange(x, threadIdx.x % width + by < width ? threadIdx.x + by : threadIdx.x);
}

static void fiber_main()
{
    entry(entry_arguments);
    done[threadIdx.x] = true;
    yield_fiber();
}

static void run_block_in_fibers()
{
    const unsigned kept = 6; // registers
    for (unsigned t = 0; t < blockDim.x; t++) {
        void **top = (void **)(stacks[t] + sizeof stacks[t]) -
                     2; // as if fiber_main had been called from 16 bytes below
        *top = (void *)fiber_main;
        fibers[t] = top - kept;
        done[t] = false;
    }
    for (bool alive = true; alive;) {
        alive = false;
        for (unsigned t = 0; t < blockDim.x; t++)
            if (!done[t]) {
                threadIdx.x = t;
                switch_stack(&scheduler, fibers[t]);
                alive = alive || !done[t];
            }
    }
}

static void run_block(bool has_barriers)
{
    if (has_barriers) {
        run_block_in_fibers();
        return;
    }
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
        entry(entry_arguments);
}

/* Runs a kernel; has_barriers: whether its threads wait for each other. */
static void run_grid(void (*kernel)(const void *), const void *arguments, unsigned blocks,
                     unsigned threads, bool has_barriers = true)
{
    if (threads > FIBERS)
        abort();
    entry = kernel;
    entry_arguments = arguments;
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        run_block(has_barriers);
}
