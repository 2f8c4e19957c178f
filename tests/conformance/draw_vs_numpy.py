# SPDX-License-Identifier: Apache-2.0
"""Draws of random numbers against NumPy: the GPU's text run on the CPU.

Usage: python draw_vs_numpy.py [--all]   (needs cmake, a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

The text of each kernel is compiled as C++ with lines that emulate CUDA (tests/emulation/cuda_threads.h). Values and the number of
words that are consumed must be NumPy's, to the bit. --all: every generator with every draw, and larger draws.
"""
import ctypes
import sys
import tempfile

import numpy as np

import host_ops_vs_numpy as base
import scan_emulation as emulation

GENERATORS = {"PCG64": 0, "PCG64DXSM": 1, "Philox": 2}
UNIFORM, NORMAL, EXPONENTIAL, BOUNDED = range(4)
STANDARD, SCALED, SHIFTED, EXP = range(4)
SHIM = r"""
#include "draw_tail.h"
#include "source_draw.h"
#include <string.h>
static struct gsh_launch shim_launch;
static struct gsh_random_draw draw;
const char *shim_dtype(int d) { return d < GSH_DTYPE_COUNT ? gsh_dtype_name(d) : NULL; }
void shim_pcg(int generator, const uint64_t *words, int has_half, uint32_t half)
{
    draw = (struct gsh_random_draw){.stream = {.generator = generator, .has_half = has_half, .half = half}};
    memcpy(&draw.stream.pcg, words, 32);
}
void shim_philox(const uint64_t *words, int at, int has_half, uint32_t half)
{
    draw = (struct gsh_random_draw){.stream = {.generator = GSH_RANDOM_PHILOX, .has_half = has_half, .half = half}};
    memcpy(&draw.stream.philox, words, 80);
    draw.stream.philox.buffer_at = at;
}
void shim_describe(int distribution, int form, int is_masked, int reach, double shift, double scale, uint64_t low,
                   uint64_t range, int dtype, int64_t count, void *out)
{
    draw.distribution = distribution;
    draw.form = form;
    draw.is_masked = is_masked;
    draw.reach = reach;
    draw.shift = shift;
    draw.scale = scale;
    draw.low = low;
    draw.range = range;
    shim_launch = (struct gsh_launch){.kind = GSH_LAUNCH_DRAW, .op = GSH_OP_COPY, .loop = dtype, .nout = 1, .ndim = 1, .shape = {count},
                                 .strides = {{gsh_dtype_size(dtype)}}, .draw = draw};
    shim_launch.operands[0] = (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)out};
}
int shim_width(void) { return gsh_random_draw_width(&draw, shim_launch.loop); }
/* The pieces consumed, once the tails are in their places; -1: refused. */
int64_t shim_finish(const char *scratch)
{
    if (!gsh_random_draw_rejects(&draw, shim_launch.loop))
        return gsh_launch_elements(&shim_launch);
    const struct gsh_source_draw_places places = gsh_source_draw_places(&shim_launch);
    const struct gsh_source_draw_result *result = (const void *)(scratch + places.result);
    const struct gsh_source_draw_tail *tails = (const void *)(scratch + places.tails);
    if (result->consumed == 0 || result->failed || result->tails > (uint64_t)places.tail_room)
        return -1;
    void *out = (void *)(uintptr_t)shim_launch.operands[0].address;
    for (uint64_t i = 0; i < result->tails; i++)
        if (tails[i].index & GSH_SOURCE_DRAW_ARGUMENT)
            gsh_draw_tail_store_exp(tails[i].bits, out, tails[i].index & ~GSH_SOURCE_DRAW_ARGUMENT);
        else
            gsh_draw_tail_store(&draw, shim_launch.loop, tails[i].bits, out, tails[i].index);
    return (int64_t)result->consumed;
}
int64_t shim_tails(const char *scratch)
{
    return ((const struct gsh_source_draw_result *)(scratch + gsh_source_draw_places(&shim_launch).result))->tails;
}
""" + emulation.PLAN
MASK = (1 << 64) - 1
# A GPU's exp and log1p differ from the C library's in the last bits.
SHAKEN = """
static double shake(double y)
{
    const long long bits = as<long long>(y);
    return y == 0 ? y : as<double>(bits + bits %% 5 - 2);
}
#define exp(x) shake((exp)(x))
#define log1p(x) shake((log1p)(x))
%s
#undef exp
#undef log1p
"""


def build(folder):
    return base.build_with_texts(folder, SHIM, "host", "codegen", flags=["-w"])


def words(*numbers):
    return (ctypes.c_uint64 * len(numbers))(*(int(n) & MASK for n in numbers))


class Draws:
    def __init__(self, folder):
        self.shim = shim = emulation.declare(build(folder), "dtype")
        shim.shim_finish.restype = shim.shim_tails.restype = ctypes.c_int64
        names = [shim.shim_dtype(d) for d in range(20)]
        self.dtypes = {name.decode(): number for number, name in enumerate(names) if name}
        self.emulator = emulation.Emulator(folder)

    def set_stream(self, generator):
        state = generator.bit_generator.state
        half = (state["has_uint32"], ctypes.c_uint32(state["uinteger"]))
        inner = state["state"]
        if state["bit_generator"] == "Philox":
            self.shim.shim_philox(words(*inner["counter"], *inner["key"], *state["buffer"]), state["buffer_pos"], *half)
        else:
            x, c = inner["state"], inner["inc"]
            self.shim.shim_pcg(GENERATORS[state["bit_generator"]], words(x, x >> 64, c, c >> 64), *half)

    def run(self, generator, count, dtype, distribution, form=STANDARD, shift=0.0, scale=1.0, low=0, top=0, is_masked=False, reach=0, is_shaken=False):
        """The values and the pieces consumed, or None while texts are collected."""
        out = np.zeros(count, dtype)
        self.set_stream(generator)
        self.shim.shim_describe(distribution, form, is_masked, reach, ctypes.c_double(shift), ctypes.c_double(scale),
                                ctypes.c_uint64(low & MASK), ctypes.c_uint64(top - low), self.dtypes[out.dtype.name],
                                ctypes.c_int64(count), ctypes.c_void_p(out.ctypes.data))
        scratch = np.full(self.shim.shim_scratch() // 8 + 1, -1, "i8")
        if self.shim.shim_plan(ctypes.c_uint64(scratch.ctypes.data)) != 0:
            return "declined"
        frame = SHAKEN if is_shaken else "%s"
        for stage in range(self.shim.shim_stages()):
            self.emulator.run(self.shim.shim_key(stage).decode() + "_shaken" * is_shaken, lambda: frame % self.shim.shim_text(stage).decode(),
                              self.shim.shim_arguments(stage), self.shim.shim_grid(stage), self.shim.shim_block(stage))
        if self.emulator.libraries is None:
            return None
        consumed = self.shim.shim_finish(ctypes.c_void_p(scratch.ctypes.data))
        self.tails = self.shim.shim_tails(ctypes.c_void_p(scratch.ctypes.data)) if distribution in (NORMAL, EXPONENTIAL) else 0
        return out, consumed


def skip(generator, width, pieces):
    """Moves a generator behind so many pieces."""
    state = generator.bit_generator
    if width == 64:
        state.random_raw(pieces, output=False)
        return
    for _ in range(-(-pieces // (32 // width))):
        generator.integers(0, 1 << 32, dtype="u4")


# Name, NumPy's call, and the draw.
FLOATS = [
    ("random", lambda g, n: g.random(n), dict(dtype="f8", distribution=UNIFORM)),
    ("random f4", lambda g, n: g.random(n, dtype="f4"), dict(dtype="f4", distribution=UNIFORM)),
    ("uniform", lambda g, n: g.uniform(-3, 4.1, n), dict(dtype="f8", distribution=UNIFORM, form=SHIFTED, shift=-3.0, scale=4.1 - -3.0)),
    ("standard_normal", lambda g, n: g.standard_normal(n), dict(dtype="f8", distribution=NORMAL)),
    ("standard_normal f4", lambda g, n: g.standard_normal(n, dtype="f4"), dict(dtype="f4", distribution=NORMAL)),
    ("normal", lambda g, n: g.normal(1.3, 2.7, n), dict(dtype="f8", distribution=NORMAL, form=SHIFTED, shift=1.3, scale=2.7)),
    ("standard_exponential", lambda g, n: g.standard_exponential(n), dict(dtype="f8", distribution=EXPONENTIAL)),
    ("standard_exponential f4", lambda g, n: g.standard_exponential(n, dtype="f4"), dict(dtype="f4", distribution=EXPONENTIAL)),
    ("lognormal", lambda g, n: g.lognormal(0.3, 1.9, n), dict(dtype="f8", distribution=NORMAL, form=EXP, shift=0.3, scale=1.9)),
    ("exponential", lambda g, n: g.exponential(0.7, n), dict(dtype="f8", distribution=EXPONENTIAL, form=SCALED, scale=0.7)),
]
RANGES = [("?", 0, 1), ("i1", -128, 127), ("u1", 3, 202), ("i1", -4, 3), ("u2", 0, 65535), ("i2", -300, 700), ("u4", 0, 2**32 - 1),
          ("i4", -5, 2**31 - 7), ("i8", 0, 999), ("i8", -7, 2**32 - 8), ("u8", 0, 2**64 - 1), ("i8", -2**40, 3 * 2**61), ("i8", 0, 2**31 - 1)]


def integers(dtype, low, top):
    return (f"integers {dtype} {low}..{top}", lambda g, n: g.integers(low, top, n, dtype=dtype, endpoint=True),
            dict(dtype=dtype, distribution=BOUNDED, low=low, top=top))


DRAWS = FLOATS + [integers(*row) for row in RANGES]


def generators(name, number):
    """Streams that stand elsewhere: with and without a half word."""
    kind = getattr(np.random, name)
    for before in (lambda g: None, lambda g: g.integers(0, 9, 1, dtype="u4"), lambda g: (g.random(2), g.integers(0, 9, 5, dtype="i4"))):
        generator = np.random.Generator(kind(number))
        before(generator)
        yield generator


def copy_of(generator):
    copy = np.random.Generator(type(generator.bit_generator)(0))
    copy.bit_generator.state = generator.bit_generator.state
    return copy


class Battery:
    def __init__(self, folder):
        self.draws, self.check, self.tails = Draws(folder), base.Check(), 0

    def try_draw(self, generator, name, call, draw, count):
        got = self.draws.run(generator, count, **draw)
        if got is None:
            return
        label = f"{type(generator.bit_generator).__name__} {name} {count}"
        if not self.check(got != "declined", label, "declined"):
            return
        self.tails += self.draws.tails
        own, reference = copy_of(generator), copy_of(generator)
        want = call(reference, count)
        values, consumed = got
        bits = f"u{values.itemsize}"
        if not self.check(np.array_equal(values.view(bits), want.view(bits)), label, "differs"):
            bad = np.flatnonzero(values.view(bits) != want.view(bits))
            print("   at", bad[:8], "of", bad.size, "got", values[bad[:4]], "want", want[bad[:4]])
        if self.check(consumed >= 0, label, "refused"):
            skip(own, self.draws.shim.shim_width(), consumed)
            ends = [str(g.bit_generator.state) for g in (own, reference)]
            self.check(ends[0] == ends[1], label, "end", *ends)

    def run(self, is_whole):
        for number, (kind, _) in enumerate(GENERATORS.items()):
            for k, (name, call, draw) in enumerate(DRAWS):
                if not is_whole and k % 3 != number and kind != "PCG64":
                    continue
                for generator in generators(kind, 100 * number + k):
                    for count in (1, 7, 2048, 30011):
                        self.try_draw(generator, name, call, draw, count)

    def run_long(self, counts):
        """More tiles than blocks, several groups of tiles, and tails."""
        for (name, call, draw), count in counts:
            self.try_draw(np.random.Generator(np.random.PCG64(count)), name, call, draw, count)

    def run_short_reach(self):
        """Attempts that need more pieces than a tile knows of the next one are refused, and no others."""
        refused = 0
        for seed in range(12):
            generator = np.random.Generator(np.random.PCG64(seed))
            got = self.draws.run(generator, 30011, "f8", NORMAL, reach=2)
            if got is not None and got[1] >= 0:
                self.check(np.array_equal(got[0], generator.standard_normal(30011)), "short reach", seed)
            refused += got is not None and got[1] < 0
        if self.draws.emulator.libraries is not None:
            self.check(0 < refused < 12, "short reach refuses", refused)

    def run_shaken(self):
        """Neither a decision nor a value hangs on the GPU's own functions."""
        for name, call, draw in (row for row in FLOATS if row[2]["distribution"] != UNIFORM):
            self.try_draw(np.random.Generator(np.random.PCG64(8)), name + ", shaken", call, dict(draw, is_shaken=True), 60000)

    def run_masked(self):
        for dtype, low, top in (("u4", 0, 1000), ("u8", 5, 2**33 + 1), ("u1", 0, 127)):
            generator = np.random.Generator(np.random.PCG64(3))
            got = self.draws.run(generator, 10007, dtype, BOUNDED, low=low, top=top, is_masked=True)
            if got is None:
                continue
            mask = (1 << (top - low).bit_length()) - 1
            words = generator.bit_generator.random_raw(30000)
            pieces = words if top - low >= 2**32 else words.view("u4") if dtype != "u1" else words.view("u1")
            kept = (pieces & mask) <= top - low
            want = (pieces[kept][:10007] & mask) + low
            self.check(np.array_equal(got[0], want.astype(dtype)), "masked", dtype)
            self.check(got[1] == np.flatnonzero(kept)[10006] + 1, "masked end", dtype, got[1])


def main():
    is_whole = "--all" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        battery = Battery(folder)
        for _ in range(2):
            battery.run(is_whole)
            battery.run_long([(DRAWS[3], 1300000), (DRAWS[6], 1300000), (DRAWS[8], 1300000), (DRAWS[18], 1300000), (DRAWS[0], 1300000)])
            battery.run_short_reach()
            battery.run_masked()
            battery.run_shaken()
            if battery.draws.emulator.libraries is None:
                battery.draws.emulator.compile()
        battery.check(battery.tails > 500, "values of the tail", battery.tails)
    print(f"draws: {battery.check.passed} checks passed, {battery.draws.emulator.count} kernels, {battery.tails} values of a tail, "
          f"{battery.check.failed} failed")
    return battery.check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
