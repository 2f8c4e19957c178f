# SPDX-License-Identifier: Apache-2.0
"""Format and tidiness of the sources, by version 14 of LLVM's tools: other versions format and warn differently."""
import concurrent.futures
import os
import re
import shutil
import time

from runner.process import ROOT, WORKERS, Spent, execute

FOLDERS = ("base", "config", "kernels", "policy", "offload", "interpose", "tests")


def sources(*endings):
    found = []
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.join(where, name) for name in names if name.endswith(endings)]
    return sorted(found)


def llvm_tool(name):
    """The path of an LLVM tool; None: not here."""
    for candidate in (name + "-14", name):
        path = shutil.which(candidate)
        if path and re.search(r"version 14\.", execute([path, "--version"])[1]):
            return path
    return None


def check_format(totals, fix=False):
    tool = llvm_tool("clang-format")
    if tool is None:
        totals.add("clang-format (no version 14 here)", 0, 0, 1)
        return
    status, output, spent = execute([tool] + (["-i"] if fix else ["--dry-run", "-Werror"]) + sources(".c", ".h", ".cpp"))
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error:", output, re.M)))
    totals.add_status("clang-format", status, spent, "\n".join(wrong) + "\n`make format` mends them")


def tidy_files():
    """What clang-tidy reads, each with its headers."""
    return [path for path in sources(".c") if not path.startswith(os.path.join(ROOT, "tests"))]


def check_tidy(totals, files, build="build-dev"):
    tool = llvm_tool("clang-tidy")
    if tool is None:
        totals.add("clang-tidy (no version 14 here)", 0, 0, 1)
        return
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(lambda path: execute([tool, "-p", build, "--quiet", path]), files))
    bad = ["\n".join(line for line in output.splitlines() if " error: " in line)
           for status, output, _ in results if status != 0]
    spent = Spent(time.monotonic() - start, sum(spent.processor for _, _, spent in results))
    totals.add("clang-tidy", len(results) - len(bad), len(bad), 0, spent, "\n".join(bad))
