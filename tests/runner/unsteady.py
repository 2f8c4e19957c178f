# SPDX-License-Identifier: Apache-2.0
"""Tests whose outcome depends on what else the machine does: they bound times, or wait for a race that two threads need cores for. One
that fails beside others runs again, alone, and that outcome counts. A line says so. All other tests run once."""

# Files of Python tests.
FILES = {
    "test_advise.py": "bounds what a call of a few microseconds costs",
    "test_library_loading.py": "the library must be loaded within a time",
    "test_refusals.py": "the device must be ready within a time",
    "test_trace.py": "compares times of two clocks",
    "test_parallel_loops.py": "several cores must be faster than one",
}
# Names that CTest has.
PROGRAMS = {
    "stress.coherence_stress": "threads wait for each other",
    "stress.coherence_stress.bug_open_before_fill": "the fault shows where two threads meet",
    "stress.coherence_stress.bug_upload_before_tighten": "the fault shows where two threads meet",
    "stress.coherence_stress.procmem": "threads wait for each other",
    "unit.cuda_context": "a thread must end within a time",
    "unit.node_feed": "calls must be recorded while another thread launches",
    "unit.memory_yield": "memory must be given back within a time",
    "emulated.memory_yield": "memory must be given back within a time",
}


def is_file(title):
    """Whether the group of this title (python_tests.file_group) is such a file."""
    return title.split()[-1] in FILES


def are_programs(names):
    return bool(names) and all(name in PROGRAMS for name in names)


def tell(names, output):
    print("failed beside others, runs again alone: %s\n%s" % (", ".join(names), output[-4000:].rstrip()), flush=True)
