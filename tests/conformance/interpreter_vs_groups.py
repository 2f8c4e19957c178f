# SPDX-License-Identifier: Apache-2.0
"""Random groups: the interpreter's text against the text that is made for the group, both run on the CPU.

Usage: python interpreter_vs_groups.py [COUNT]   (needs a C and a C++ compiler as $CC, $CXX or cc, c++, and NumPy)

Every byte of the arrays must agree, and no byte between them may change. Of floating-point errors each step must report
the same kinds, with inputs that meet them.
"""
import ctypes
import sys

import group_vs_launches as groups

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


class Battery(groups.Battery):
    driver = DRIVER
    most_declined = 0.8
    groups = 120

    def seeds(self, structure, contents):
        return structure, contents, 0

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


if __name__ == "__main__":
    sys.exit(groups.main(Battery))
