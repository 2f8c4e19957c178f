# SPDX-License-Identifier: Apache-2.0
"""The GPU's text as C++ for the CPU (tests/emulation/cuda_threads.h).

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
EMULATION = pathlib.Path(__file__).resolve().parents[1] / "emulation"
CUDA = (EMULATION / "cuda_threads.h").read_text()
KERNEL = """
#undef FN
#undef INFINITE
#undef ERRORS
namespace k{id} {{
#define gsh_kernel gsh_kernel_{id}
{text}
#undef gsh_kernel
template <class Arguments> static void call_with(void (*kernel)(Arguments), const void *arguments)
{{
    kernel(*(const Arguments *)arguments);
}}
static void call(const void *arguments) {{ call_with(gsh_kernel_{id}, arguments); }}
}}
extern "C" void run_{id}(const void *arguments, unsigned blocks, unsigned threads)
{{
    run_grid(k{id}::call, arguments, blocks, threads);
}}
"""
PTX = [line.split("\t") for line in (EMULATION / "ptx.txt").read_text().splitlines()]


def declare(shim, *names):
    """Sets the result types of a driver's functions: of PLAN, and of these, which return strings."""
    for name in ("key", "text", *names):
        getattr(shim, "shim_" + name).restype = ctypes.c_char_p
    shim.shim_arguments.restype = ctypes.c_void_p
    shim.shim_scratch.restype = ctypes.c_size_t
    return shim


def without_ptx(text):
    for pattern, call in PTX:
        text = re.sub(pattern, call.replace("$", "\\"), text)
    return text


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
            bodies.append(KERNEL.format(id=number, text=without_ptx(text)))
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
    """The emulation of CUDA itself: barriers, votes, shuffles, float16."""
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
    print("emulation of CUDA:", f"wrong: {wrong}" if wrong else "as they should be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())


def main(make_kernels, battery, check_limits, check):
    """A script's whole run: the texts of a battery are collected, compiled and run. The exit status."""
    with tempfile.TemporaryDirectory() as folder:
        kernels = make_kernels(folder)
        battery(kernels, check)
        kernels.emulator.compile()
        battery(kernels, check)
        check_limits(kernels, check)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed != 0
