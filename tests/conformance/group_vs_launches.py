# SPDX-License-Identifier: Apache-2.0
"""Random groups: the GPU's text, run on the CPU, against one launch of the CPU's kernels for each step, and for each
sink one of the GPU's, as a sum's bits are those of its tree.

Usage: python group_vs_launches.py [COUNT]   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

Every byte of the arrays must agree, but for the bits of NaNs in complex numbers and sums, and no byte between them may
change. Of floating-point errors each step must report the same kinds, with inputs that meet them.
"""
import ctypes
import sys
import tempfile

import numpy as np

import scan_emulation as emulation
from host_ops_vs_numpy import DTYPES, ROOT, build_with_texts

DRIVER = r"""
#include "group_random.h"
#include "group_reference.h"
#include "source.h"
""" + emulation.STAGES + r"""
static char pools[2][POOL_BYTES] __attribute__((aligned(64)));
static struct random_group works[2];
static struct group_reference reference;
static struct gsh_launch launch; /* of a sink on its own */
static bool is_launch;
static char *bases[2];
void shim_make(uint64_t structure, uint64_t contents, int has_sinks)
{
    for (int side = 0; side < 2; side++)
        random_group_make(&works[side], pools[side], structure, contents, has_sinks);
    is_launch = false;
}
/* Steps and stores, one after the other. */
int shim_reference(void)
{
    return group_reference_begin(&reference, &works[0].group);
}
/* The k-th sink as a launch, over arrays of its own. */
int shim_sink(unsigned k)
{
    const struct gsh_group *group = &works[0].group;
    const struct gsh_group_sink *sink = &group->sinks[k];
    if (k >= group->sink_count)
        return 0;
    launch = group_reference_sink_launch(&reference, sink, bases);
    is_launch = true;
    return 1;
}
void shim_free(void)
{
    for (int i = 0; i < 2; i++) {
        free(bases[i]);
        bases[i] = NULL;
    }
}
void shim_end(void) { group_reference_free(&reference); }
/* Of that launch, or the group. */
size_t shim_scratch(void) { return is_launch ? gsh_source_scratch(&launch) : gsh_source_group_scratch(&works[1].group); }
int shim_plan(uint64_t scratch)
{
    return is_launch ? gsh_source_plan(&launch, scratch, &plan) : gsh_source_group_plan(&works[1].group, scratch, &plan);
}
static void write_text(unsigned stage, struct gsh_fmt *fmt)
{
    if (is_launch)
        gsh_source_text(&launch, stage, fmt);
    else
        gsh_source_group_text(&works[1].group, stage, fmt);
}
const char *shim_pool(int side) { return pools[side]; }
/* The k-th store or sink: where its elements lie in the pool; their dtype; -1 behind the last. */
int shim_store(unsigned k, int64_t *offsets)
{
    const struct gsh_group *group = &works[0].group;
    if (k >= group->store_count + group->sink_count)
        return -1;
    const struct gsh_group_array *array = &group->arrays[k < group->store_count ? group->stores[k].array
                                                                                : group->sinks[k - group->store_count].array];
    for (int64_t e = 0; e < gsh_group_elements(group); e++)
        offsets[e] = (int64_t)array->address - (int64_t)(uintptr_t)pools[0] + group_reference_offset(group, array->strides, e);
    return array->dtype;
}
int64_t shim_elements(void) { return gsh_group_elements(&works[0].group); }
unsigned shim_steps(void) { return works[0].group.step_count; }
const char *shim_op(unsigned step) { return gsh_op_info(works[0].group.steps[step].op)->name; }
int shim_loop(unsigned step) { return works[0].group.steps[step].loop; }
/* Whether the kind was met at the step, by the CPU's launch and by the kernel. */
unsigned shim_stores(void) { return works[0].group.store_count; }
unsigned shim_sinks(void) { return works[0].group.sink_count; }
const char *shim_reduction(unsigned k) { return gsh_reduction_info(works[0].group.sinks[k].reduction)->name; }
int shim_met(int side, unsigned step, int kind) { return works[side].found[step].found[kind].sequence == step + 1; }
/* Whether the inputs that the kernel left meet the kind by themselves. */
int shim_meets(unsigned number, int kind)
{
    const struct gsh_group_step *step = &works[1].group.steps[number];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    union gsh_scalar results[GSH_MAX_OUTPUTS] = {{0}};
    uint64_t claims[GSH_ERROR_KINDS] = {0};
    struct gsh_errors_found found = {0};
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = step->op, .loop = step->loop, .nin = info->nin,
                                .nout = info->nout, .errors = {(uintptr_t)claims, (uintptr_t)&found, 1}};
    for (unsigned k = 0; k < info->nin; k++)
        launch.operands[k] = (struct gsh_operand){
            .dtype = step->op == GSH_OP_COPY ? gsh_group_dtype(&works[1].group, step->in[k])
                                             : gsh_op_input_dtype(step->op, step->loop, k),
            .address = (uintptr_t)&works[1].found[number].found[kind].inputs[k]};
    for (unsigned j = 0; j < info->nout; j++)
        launch.operands[info->nin + j] = (struct gsh_operand){.dtype = step->out[j], .address = (uintptr_t)&results[j]};
    return gsh_host_ops_run(&launch) == GSH_OK && found.found[kind].sequence == 1;
}
"""
STEPS = 48  # GSH_GROUP_STEPS
CONTENTS = 4  # runs of a structure, with other sizes and contents
POOL = 16 << 20


def build_library(folder, code):
    """The C driver `code`, in which emulation.STAGES stands, with all that makes plans and texts."""
    includes = [f"-I{ROOT / name}" for name in ("tests/unit", "tests/unit/kernels")]
    handle = build_with_texts(folder, code, "host", "codegen", flags=["-fno-math-errno", *includes])
    return emulation.declare(handle)


def with_other_nans(text):
    """As on a GPU, where arithmetic that does not see to it leaves other NaNs than x86-64's."""
    exact, mark, fast_text = text.partition("namespace fast {\nstruct FastPath")
    plain = "if (!PROPAGATES_NAN)\n        return r;"
    assert not mark or plain in fast_text
    return exact + mark + fast_text.replace(plain, "if (!PROPAGATES_NAN) return r == r ? r : of_bits(bits_of(r) ^ Bits<F>::sign);")


def execute(shim, emulator):
    """Runs the kernels of what was described last, or, before they are compiled, notes their texts; False: declined."""
    scratch = (ctypes.c_char * (shim.shim_scratch() + 256))()
    if shim.shim_plan(ctypes.c_uint64((ctypes.addressof(scratch) + 255) // 256 * 256)) != 0:
        return False
    for stage in range(shim.shim_stages()):
        emulator.run(shim.shim_key(stage), lambda: with_other_nans(shim.shim_text(stage).decode()),
                     shim.shim_arguments(stage), shim.shim_grid(stage), shim.shim_block(stage))
    return True


class Battery:
    driver = DRIVER
    most_declined = 0.1  # of all runs
    groups = 60

    def __init__(self, folder):
        self.shim = build_library(folder, self.driver)
        self.shim.shim_op.restype = self.shim.shim_reduction.restype = ctypes.c_char_p
        self.shim.shim_pool.restype = ctypes.c_void_p
        self.shim.shim_elements.restype = ctypes.c_int64
        self.emulator = emulation.Emulator(folder)
        self.passed = self.failed = self.reports = self.declined = 0

    def check(self, holds, *what):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds and self.failed < 40:
            print("FAILED", *what)

    def pool(self, side):
        return np.ctypeslib.as_array((ctypes.c_uint8 * POOL).from_address(self.shim.shim_pool(side)))

    def execute(self):
        return execute(self.shim, self.emulator)

    def make(self, structure, contents, has_sinks):
        """Runs a group, and its steps and sinks one by one; False where it is declined."""
        self.shim.shim_make(ctypes.c_uint64(structure), ctypes.c_uint64(contents), has_sinks)
        if not self.execute():
            assert has_sinks, ("no plan", structure)
            return False
        assert self.shim.shim_reference() == 0, ("no reference", structure)
        for k in range(4):
            if self.shim.shim_sink(k):
                assert self.execute(), ("no plan of a sink", structure)
                self.shim.shim_free()
        self.shim.shim_end()
        return True

    def unify_nans(self):
        """One NaN for all in complex numbers and results of sinks: nobody promises which it is."""
        offsets = (ctypes.c_int64 * self.shim.shim_elements())()
        for k in range(12):
            dtype = self.shim.shim_store(k, offsets)
            if dtype < 0 or DTYPES[dtype].kind not in ("c" if k < self.shim.shim_stores() else "fc"):
                continue
            size = DTYPES[dtype].itemsize // (2 if DTYPES[dtype].kind == "c" else 1)
            places = np.array(offsets)[:, None] + np.arange(0, DTYPES[dtype].itemsize, size)
            places = (places[..., None] + np.arange(size)).reshape(-1, size)
            for side in (0, 1):
                pool = self.pool(side)
                parts = pool[places].view(f"f{size}")
                pool[places] = np.where(np.isnan(parts), parts.dtype.type(np.nan), parts).view(np.uint8)

    def compare(self, *seeds):
        shim = self.shim
        names = [f"{shim.shim_op(s).decode()} {DTYPES[shim.shim_loop(s)].char}" for s in range(shim.shim_steps())]
        sinks = [shim.shim_reduction(k).decode() for k in range(shim.shim_sinks())]
        self.unify_nans()
        differs = np.flatnonzero(self.pool(0) != self.pool(1))
        self.check(differs.size == 0, "group", seeds, "of", names, sinks, ": bytes differ at", differs[:5])
        for kind in range(3):
            for step, name in enumerate(names):
                if name.startswith("reciprocal") and name[-1] not in "efdFD" and kind == 2:
                    continue  # the CPU's kernel reports the pole alone
                is_met = self.check_met(step, kind, "group", seeds, name, step, "of", names, sinks)
                if is_met and not name.startswith("arange"):  # whose numbers depend on their places too
                    self.check(shim.shim_meets(step, kind), "group", seeds, name, "left inputs", kind)
            for k, name in enumerate(sinks):
                self.check_met(STEPS + k, kind, "group", seeds, "of", names, sinks, "sink", k)

    def check_met(self, place, kind, *what):
        met = [self.shim.shim_met(side, place, kind) for side in (0, 1)]
        self.check(met[0] == met[1], *what, "kind", kind, met)
        self.reports += all(met)
        return all(met)

    def seeds(self, structure, contents):
        """Of a run: structure, contents, whether there are sinks."""
        return structure, contents, structure % 2

    def run(self, count):
        every = [self.seeds(structure, contents) for structure in range(count) for contents in range(CONTENTS)]
        for seeds in every:
            self.make(*seeds)
        self.emulator.compile()
        for seeds in every:
            if self.make(*seeds):
                self.compare(*seeds)
            else:
                self.declined += 1
        self.check(len(self.emulator.used) == self.emulator.count, "every kernel ran")
        self.check(self.declined < int(len(every) * self.most_declined), self.declined, "declined")


def main(kind=Battery):
    np.seterr(all="ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else kind.groups
    with tempfile.TemporaryDirectory() as folder:
        battery = kind(folder)
        battery.run(count)
        print(f"{count} groups, {battery.emulator.count} kernels, {CONTENTS * count} runs, {battery.declined} declined, "
              f"{battery.reports} reports of errors")
    battery.check(battery.reports > 0, "no errors were reported")
    print(f"{battery.passed} passed, {battery.failed} failed")
    return battery.failed != 0


if __name__ == "__main__":
    sys.exit(main())
