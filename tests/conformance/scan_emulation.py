# SPDX-License-Identifier: Apache-2.0
"""The GPU's text as C++ for the CPU: a block's threads are fibers that run in turn from one barrier to the next.

First the texts that a battery of checks needs are collected, then compiled together, then run.
"""
import concurrent.futures
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PER_PROGRAM = 48
# For the C driver of a battery: the stages of `plan`, which its shim_plan makes; write_text writes the text of one.
STAGES = r"""
static struct gsh_source_plan plan;
static char text[1 << 18];
static void write_text(unsigned stage, struct gsh_fmt *fmt);
unsigned shim_stages(void) { return plan.stage_count; }
const char *shim_key(int stage) { return plan.stages[stage].key; }
unsigned shim_grid(int stage) { return plan.stages[stage].grid[0]; }
unsigned shim_block(int stage) { return plan.stages[stage].block[0]; }
const void *shim_arguments(int stage) { return plan.stages[stage].arguments; }
const char *shim_text(int stage)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof(text));
    write_text((unsigned)stage, &fmt);
    return fmt.required < sizeof(text) ? text : NULL;
}
"""
# Behind the driver's `static struct gsh_launch shim_launch`: plans and texts of that launch.
PLAN = STAGES + r"""
size_t shim_scratch(void) { return gsh_source_scratch(&shim_launch); }
int shim_plan(uint64_t scratch) { return gsh_source_plan(&shim_launch, scratch, &plan); }
static void write_text(unsigned stage, struct gsh_fmt *fmt) { gsh_source_text(&shim_launch, stage, fmt); }
"""
CUDA = r"""
#include <math.h>
#include <cstring>
#include <cstdlib>
#include <immintrin.h>
#include <ucontext.h>
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __constant__
#define __launch_bounds__(...)
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
static dim3 blockIdx, gridDim, threadIdx, blockDim;
template <class To, class From> static To as(From x) { To y; static_assert(sizeof x == sizeof y); memcpy(&y, &x, sizeof y); return y; }
static float __int_as_float(int x) { return as<float>(x); }
static int __float_as_int(float x) { return as<int>(x); }
static double __longlong_as_double(long long x) { return as<double>(x); }
static long long __double_as_longlong(double x) { return as<long long>(x); }
static double upper_half(double x) { return as<double>(as<long long>(x) >> 32 << 32); }
static double guess_inverse(double x) { return upper_half(1 / upper_half(x)); }
static double guess_inverse_root(double x) { return upper_half(1 / sqrt(upper_half(x))); }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __ffsll(long long x) { return __builtin_ffsll(x); }
static void __threadfence_system() {}
static unsigned short half_of(float x) { return _cvtss_sh(x, 0); }
static unsigned short half_of(double x) // rounded to odd first, so that it is rounded once
{
    float f = (float)x;
    unsigned bits = as<unsigned>(f);
    if (x == x && (double)f != x && f - f == 0) {
        if (fabs((double)f) > fabs(x))
            bits -= 1;
        bits |= 1;
    }
    return _cvtss_sh(as<float>(bits), 0);
}
template <class V> static V atomicExch(V *at, V x) { V old = *at; *at = x; return old; }
template <class V> static V atomicCAS(V *at, V old, V fresh) { V seen = *at; if (seen == old) *at = fresh; return seen; }
template <class V> static V atomicMax(V *at, V x) { V seen = *at; if (seen < x) *at = x; return seen; }
template <class V> static V atomicAdd(V *at, V x) { V seen = *at; *at = seen + x; return seen; }
static const unsigned FIBERS = 256;
static ucontext_t fibers[FIBERS], scheduler;
static bool done[FIBERS];
static char stacks[FIBERS][1 << 15];
static unsigned long long exchanged[FIBERS];
static void (*entry)(const void *);
static const void *entry_arguments;
static void yield_fiber() { swapcontext(&fibers[threadIdx.x], &scheduler); }
static void __syncthreads() { yield_fiber(); }
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
static int __syncthreads_or(int x) { return __syncthreads_count(x) != 0; }
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
static void fiber_main() { entry(entry_arguments); done[threadIdx.x] = true; }
static void run_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++) {
        getcontext(&fibers[t]);
        fibers[t].uc_stack.ss_sp = stacks[t];
        fibers[t].uc_stack.ss_size = sizeof stacks[t];
        fibers[t].uc_link = &scheduler;
        makecontext(&fibers[t], fiber_main, 0);
        done[t] = false;
    }
    for (bool alive = true; alive;) {
        alive = false;
        for (unsigned t = 0; t < threads; t++)
            if (!done[t]) {
                threadIdx.x = t;
                swapcontext(&scheduler, &fibers[t]);
                alive = alive || !done[t];
            }
    }
}
static void run_grid(void (*kernel)(const void *), const void *arguments, unsigned blocks, unsigned threads)
{
    entry = kernel;
    entry_arguments = arguments;
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        run_block(threads);
}
"""
KERNEL = """
#undef FN
#undef INFINITE
#undef ERRORS
namespace k{id} {{
#define gsh_kernel gsh_kernel_{id}
{text}
#undef gsh_kernel
static void call(const void *arguments) {{ gsh_kernel_{id}(*(const Args *)arguments); }}
}}
extern "C" void run_{id}(const void *arguments, unsigned blocks, unsigned threads)
{{
    run_grid(k{id}::call, arguments, blocks, threads);
}}
"""
ASSEMBLY = [(r'asm\("cvt\.rn\.f16\.f(?:32|64)[^;]*;" : "=h"\((\w+)\) : "[fd]"\((\w+)\)\);', r"\1 = half_of(\2);"),
            (r'asm\("cvt\.f32\.f16[^;]*;" : "=f"\((\w+)\) : "h"\(([\w.]+)\)\);', r"\1 = _cvtsh_ss(\2);"),
            (r'asm\("rcp\.approx\.ftz\.f64[^;]*;" : "=d"\((\w+)\) : "d"\((\w+)\)\);', r"\1 = guess_inverse(\2);"),
            (r'asm\("rsqrt\.approx\.ftz\.f64[^;]*;" : "=d"\((\w+)\) : "d"\((\w+)\)\);', r"\1 = guess_inverse_root(\2);")]


class Emulator:
    def __init__(self, folder):
        self.folder, self.ids, self.texts, self.libraries = pathlib.Path(folder), {}, [], None
        self.used = set()

    @property
    def count(self):
        return len(self.texts)

    def run(self, key, text, arguments, grid, block):
        """Runs the kernel of that key; before `compile`, only notes its text."""
        if self.libraries is None:
            if key not in self.ids:
                self.ids[key] = len(self.texts)
                self.texts.append(text())
            return
        self.used.add(key)
        number = self.ids[key]
        function = getattr(self.libraries[number // PER_PROGRAM], f"run_{number}")
        function(ctypes.c_void_p(arguments), grid, block)

    def build(self, first):
        source, library = (self.folder / f"kernels_{first}.{end}" for end in ("cpp", "so"))
        bodies = []
        for number, text in enumerate(self.texts[first:first + PER_PROGRAM], first):
            for assembly, call in ASSEMBLY:
                text = re.sub(assembly, call, text)
            bodies.append(KERNEL.format(id=number, text=text))
        source.write_text(CUDA + "".join(bodies))
        compiler = os.environ.get("CXX", "c++").split()
        flags = "-std=c++17 -O1 -w -fPIC -shared -mf16c -mfma -fwrapv -ffp-contract=off -fno-strict-aliasing".split()
        subprocess.run([*compiler, *flags, "-o", library, source], check=True)
        return ctypes.CDLL(str(library))

    def compile(self):
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            self.libraries = list(pool.map(self.build, range(0, len(self.texts), PER_PROGRAM)))


PROBE = """
typedef unsigned short u16;
struct Args { float *halves; unsigned *votes, *moved, *sums; };
extern "C" __global__ void gsh_kernel(const Args args)
{
    __shared__ unsigned shared[64];
    u16 bits = 0;
    float half = 0;
    const float x = 1.0f + threadIdx.x / 4096.0f;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    asm("cvt.f32.f16 %0, %1;" : "=f"(half) : "h"(bits));
    args.halves[threadIdx.x] = half;
    args.votes[threadIdx.x] = __ballot_sync(~0u, threadIdx.x % 3 == 0);
    args.moved[threadIdx.x] = __shfl_up_sync(~0u, threadIdx.x, 2, 32) + 100 * __shfl_sync(~0u, threadIdx.x, 7, 32);
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    args.sums[threadIdx.x] = shared[63 - threadIdx.x] + 1000 * __syncthreads_or(threadIdx.x == 5) + 10000 * __syncthreads_count(threadIdx.x < 3);
}
"""


def main():
    """The stand-ins themselves: barriers, votes, shuffles, float16."""
    class Args(ctypes.Structure):
        _fields_ = [(name, ctypes.c_void_p) for name in ("halves", "votes", "moved", "sums")]

    halves, votes, moved, sums = ((kind * 64)() for kind in (ctypes.c_float, *[ctypes.c_uint32] * 3))
    args = Args(*(ctypes.addressof(a) for a in (halves, votes, moved, sums)))
    with tempfile.TemporaryDirectory() as folder:
        emulator = Emulator(folder)
        emulator.run("probe", lambda: PROBE, ctypes.addressof(args), 1, 64)
        emulator.compile()
        emulator.run("probe", None, ctypes.addressof(args), 1, 64)
    lanes = range(64)
    wrong = [name for name, got, want in (
        ("float16", list(halves), [round((1 + t / 4096) * 1024) / 1024 for t in lanes]),
        ("votes", list(votes), [sum(1 << t % 32 for t in range(w, w + 32) if t % 3 == 0) for w in (0, 32) for _ in range(32)]),
        ("shuffles", list(moved), [(t - 2 if t % 32 >= 2 else t) + 100 * (t // 32 * 32 + 7) for t in lanes]),
        ("barriers", list(sums), [63 - t + 31000 for t in lanes])) if got != want]
    print("stand-ins for CUDA:", f"wrong: {wrong}" if wrong else "as they should be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
