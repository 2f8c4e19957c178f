# SPDX-License-Identifier: Apache-2.0
"""Python tests: unittest's files, and scripts that are one test each."""
import concurrent.futures
import functools
import glob
import os
import re
import sys

from runner import unsteady
from runner.process import ROOT, SKIPPED, STEP_TIMEOUT, WORKERS, execute, together

# Folders of Python tests: files test_*.py are unittest's; others are scripts, of conformance one test each.
KINDS = ("preload", "conformance", "stress", "fuzz", "coverage", "package_suite")
ALL_BUT_CONFORMANCE = tuple(kind for kind in KINDS if kind != "conformance")
# Those that run on emulated CUDA libraries too: what is about the device and its memory. (Its libraries' routines: the
# programs of tests/gpu.)
EMULATED = ("preload/test_slow_gpu", "preload/test_fft", "preload/test_memory_given_back", "preload/test_fp_errors",
            "preload/test_signals", "preload/test_cuda_users", "preload/test_deferral", "preload/test_others_code",
            "preload/test_kernel_pack", "preload/test_processes", "preload/test_refusals", "preload/test_residency",
            "preload/test_slow_cpu", "preload/test_script_profile", "preload/test_numpy_reshape", "preload/test_interpreter",
            "preload/test_loops", "preload/test_blas_threads", "preload/test_steering", "preload/test_several_gpus",
            "preload/test_verify", "preload/test_doctor", "preload/test_warm_up", "preload/test_library_loading",
            "preload/test_trace", "preload/test_nvtx", "preload/test_compiler_process", "preload/test_cuda_connections",
            "preload/test_random_device", "preload/test_ordered_sums", "preload/test_host_operands", "preload/test_small_call_trial",
            "preload/test_scipy_filters", "preload/test_scipy_spmv", "preload/test_scipy_ranks")
# Longest first: they start first, and are dealt to the shards before the others.
LONG = ("test_lapack_symbols", "source_vs_numpy", "scan_vs_numpy", "group_vs_launches", "interpreter_vs_groups", "test_fft",
        "test_stress_threads", "test_linalg", "host_reduce_vs_numpy", "test_robustness", "test_warnings", "host_errors_vs_numpy",
        "test_numpy_ufunc_dtypes", "test_memory_peak", "host_ops_vs_numpy", "test_package_suite", "test_scipy_linalg",
        "host_casts_vs_numpy")


def count_unittest(output, status):
    """(passed, failed, skipped) of what `python -m unittest` printed last."""
    ran = re.findall(r"^Ran (\d+) tests? in", output, re.M)
    if not ran:
        return 0, 1, 0
    result = output[output.rindex("Ran "):]
    numbers = {key: int(value) for key, value in re.findall(r"(failures|errors|skipped|unexpected successes)=(\d+)",
                                                             result)}
    skipped = numbers.pop("skipped", 0)
    failed = sum(numbers.values())
    if status != 0 and failed == 0 and int(ran[-1]) > 0:
        failed = 1
    return max(int(ran[-1]) - failed - skipped, 0), failed, skipped


def run_unittest(interpreter, folder, name, env, timeout=STEP_TIMEOUT):
    """A module, class or test of the folder, as ((passed, failed, skipped), output, Spent)."""
    status, output, spent = execute([interpreter, "-m", "unittest", "-v", name], env, folder, timeout)
    return count_unittest(output, status), output, spent


def run_part(argv, env, timeout):
    """A program that is one test, as ((passed, failed, skipped), output, Spent)."""
    status, output, spent = execute(argv, env, timeout=timeout)
    if status not in (0, SKIPPED):
        output += "\nexit status %d\n" % status
    return (int(status == 0), int(status not in (0, SKIPPED)), int(status == SKIPPED)), output, spent


def add_group(totals, title, check, results):
    """A line of the parts' results, and why parts were skipped."""
    passed, failed, skipped = (sum(counts) for counts in zip(*(result[0] for result in results)))
    wrong = check([result[1] for result in results]) if check else ""
    told = [result[1] for result in results if result[0][1]] + [wrong]
    totals.add(title, passed, failed + bool(wrong), skipped, together([result[2] for result in results]), "\n".join(told))
    if skipped:
        told = "\n".join(result[1] for result in results if result[0][2])
        print("\n".join(re.findall(r"^.*\bskipped(?: '|: ).*$", told, re.M)), flush=True)


def run_groups(totals, groups, workers=WORKERS):
    """Side by side, those named first started first. Groups are (title, parts, check): each part returns counts, output and
    Spent, the check is asked about all outputs. A line a group."""
    again = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        group_of = {pool.submit(part): group for group in groups for part in group[1]}
        done = {}
        for job in concurrent.futures.as_completed(group_of):
            title, parts, check = group_of[job]
            results = done.setdefault(title, [])
            results.append(job.result())
            if len(results) < len(parts):
                continue
            if unsteady.is_file(title) and any(counts[1] for counts, _, _ in results):
                again.append(group_of[job])
                unsteady.tell([title], "\n".join(output for counts, output, _ in results if counts[1]))
            else:
                add_group(totals, title, check, results)
    for title, parts, check in again:
        add_group(totals, title, check, [part() for part in parts])


def file_group(title, interpreter, path, env, timeout=STEP_TIMEOUT):
    """A file of Python tests: unittest's, or a script that is one test."""
    folder, name = os.path.split(path)
    if name.startswith("test_"):
        part = functools.partial(run_unittest, interpreter, folder, name[:-len(".py")], env, timeout)
    else:
        part = functools.partial(run_part, [interpreter, path], env, timeout)
    return "%s %s" % (title, name), [part], None


def script_path(name):
    return os.path.join(ROOT, "tests", name + ".py")


def files(kinds=KINDS):
    """The files of Python tests, in the order in which they start."""
    paths = [path for kind in kinds for path in sorted(glob.glob(os.path.join(ROOT, "tests", kind, "*.py")))]
    is_script = lambda path: os.path.basename(os.path.dirname(path)) == "conformance"  # noqa: E731, elsewhere helpers
    order = {name + ".py": place for place, name in enumerate(LONG)}
    return sorted((path for path in paths if is_script(path) or os.path.basename(path).startswith("test_")),
                  key=lambda path: (order.get(os.path.basename(path), len(LONG)), not is_script(path)))


def run_python(totals, title, interpreter, library, paths, env=None):
    """The tests of these files, by one interpreter."""
    status, output, spent = execute([interpreter, "-c", "import numpy; print(numpy.__version__)"])
    if status != 0:
        totals.add_status("%s has no NumPy" % interpreter, status, spent, output)
        return
    title = "%s numpy %s:" % (title, output.strip())
    env = dict(env or {}, GPUSHIM_LIBRARY=os.path.join(ROOT, library))
    run_groups(totals, [file_group(title, interpreter, path, env) for path in paths])


def emulation_environment(emulation):
    """What makes CUDA's libraries those of that folder (tests/emulation); None: they were not built."""
    folder = os.path.join(ROOT, emulation)
    if not os.path.exists(os.path.join(folder, "libcuda.so.1")):
        return None
    return {"GPUSHIM_DEVICE": "cuda", "LD_LIBRARY_PATH": folder, "GPUSHIM_CACHE_DIR": os.path.join(folder, "cache"),
            "SHIM_RUNNER_TIMEOUT": str(STEP_TIMEOUT // 3)}


def run_emulated(totals, title, interpreter, library, emulation, paths):
    """What is about the device, on the emulated libraries of that folder."""
    env = emulation_environment(emulation)
    if env is None:
        totals.add("%s (no C++ compiler)" % title, 0, 0, 1)
        return
    env["GPUSHIM_LIBRARY"] = os.path.join(ROOT, library)
    run_groups(totals, [file_group(title, interpreter, path, env) for path in paths])


def run_rules(totals, folder):
    env = {"GSH_TEST_BUILD": os.path.join(ROOT, folder)}
    run_groups(totals, [file_group("rules", sys.executable, path, env)
                        for path in sorted(glob.glob(os.path.join(ROOT, "tests/rules/test_*.py")))])
