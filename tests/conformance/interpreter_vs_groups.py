# SPDX-License-Identifier: Apache-2.0
"""Random groups: the interpreter's text against the text that is made for the group, both run on the CPU.

Usage: python interpreter_vs_groups.py [COUNT]   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

Every byte of the arrays must agree, and no byte between them may change. Of floating-point errors each step must report
the same kinds, with inputs that meet them.
"""
import ctypes
import sys
import tempfile

import numpy as np

import group_vs_launches as groups
import scan_emulation as emulation
from host_ops_vs_numpy import DTYPES

# Behind the driver of group_vs_launches.py, whose second group is the one that is run.
DRIVER = groups.DRIVER.replace("int shim_plan(uint64_t scratch)", "int unused_plan(uint64_t scratch)").replace(
    "static void write_text(unsigned stage, struct gsh_fmt *fmt)\n{", "static void unused_text(unsigned stage, struct gsh_fmt *fmt)\n{") + r"""
#include "source_interpreter.h"
static int side;
int shim_plan(uint64_t scratch);
void shim_begin(int is_inexact)
{
    random_dtypes = GSH_SET_ALL & ~(GSH_SET_COMPLEX | 1 << GSH_FLOAT16);
    random_is_inexact = is_inexact;
}
/* Side 0: the group's own kernel; 1: the interpreter. */
int shim_choose(int chosen)
{
    side = chosen;
    return shim_plan(0);
}
int shim_plan(uint64_t scratch)
{
    (void)scratch;
    plan.stage_count = 1;
    return side ? gsh_source_interpreter_plan(&works[1].group, &plan.stages[0])
                : gsh_source_group_plan(&works[0].group, 0, &plan);
}
static void write_text(unsigned stage, struct gsh_fmt *fmt)
{
    if (side)
        gsh_source_interpreter_text(fmt);
    else
        gsh_source_group_text(&works[0].group, stage, fmt);
}
"""
CONTENTS = 4  # runs of a structure, with other sizes and contents


class Battery(groups.Battery):
    def __init__(self, folder):
        self.shim = groups.build_library(folder, DRIVER)
        self.shim.shim_op.restype = self.shim.shim_reduction.restype = ctypes.c_char_p
        self.shim.shim_pool.restype = ctypes.c_void_p
        self.shim.shim_elements.restype = ctypes.c_int64
        self.emulator = emulation.Emulator(folder)
        self.passed = self.failed = self.reports = self.declined = 0

    def make(self, structure, contents, _):
        """Runs the group in both ways; False where the interpreter declines it."""
        shim = self.shim
        shim.shim_begin(structure % 2)
        shim.shim_make(ctypes.c_uint64(structure), ctypes.c_uint64(contents), 0)
        if shim.shim_choose(1) != 0:
            return False
        self.run_stage()
        assert shim.shim_choose(0) == 0, ("no plan", structure)
        self.run_stage()
        return True

    def run_stage(self):
        shim = self.shim
        self.emulator.run(shim.shim_key(0), lambda: groups.with_other_nans(shim.shim_text(0).decode()),
                          shim.shim_arguments(0), shim.shim_grid(0), shim.shim_block(0))

    def run(self, count):
        every = [(structure, contents, 0) for structure in range(count) for contents in range(CONTENTS)]
        for seeds in every:
            self.make(*seeds)
        self.emulator.compile()
        for seeds in every:
            if self.make(*seeds):
                self.compare(*seeds)
            else:
                self.declined += 1
        self.check(len(self.emulator.used) == self.emulator.count, "every kernel ran")


def main():
    np.seterr(all="ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as folder:
        battery = Battery(folder)
        battery.run(count)
        print(f"{count} groups, {battery.emulator.count} kernels, {CONTENTS * count} runs, {battery.declined} declined, "
              f"{battery.reports} reports of errors")
    battery.check(battery.reports > 0, "no errors were reported")
    print(f"{battery.passed} passed, {battery.failed} failed")
    return battery.failed != 0


if __name__ == "__main__":
    sys.exit(main())
