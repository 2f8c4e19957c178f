# SPDX-License-Identifier: Apache-2.0
"""Checks of `gpushim doctor` on the GPU, its driver, CUDA's libraries and their versions, by the library's lines on the device:

    NVRTC          13.0 of CUDA 13 (/path/libnvrtc.so.13)
    cuFFT          not loaded: no usable libcufft.so found for a driver of CUDA 12; there is one of CUDA 13: /path/libcufft.so.12

A reason behind "not loaded" says that it was searched; without one another library was missing before."""
import re

from gpushim.doctor_facts import FAIL, NOTE, check, device_lines

# Each library, and what it is opened after.
LIBRARIES = {"NVRTC": (), "cuBLAS": ("NVRTC",), "cuSOLVER": ("NVRTC", "cuBLAS"), "cuFFT": ("NVRTC",)}
NAMED_AS_CUDA = ("NVRTC", "cuBLAS")  # their versions are CUDA's
NEEDED_BY = {"kernel": ("NVRTC",), "product": ("cuBLAS",), "fft": ("cuFFT",), "solve": ("cuBLAS", "cuSOLVER")}  # the probes
WITHOUT = "without a GPU: GPUSHIM_DEVICE=cpu (NumPy on all cores), GPUSHIM_DEVICE=host (gpushim's machinery on them)"
DRIVERS = {12: "525", 13: "580"}  # the first driver for each CUDA (docs.nvidia.com/deploy/cuda-compatibility)


def is_loaded(name, lines):
    return not lines.get(name, "not loaded").startswith("not loaded")


def missing(names, lines):
    return [name for name in names if not is_loaded(name, lines)]


def version_of(text):
    """(major, minor) of "CUDA 13.0 (path)" or "13.0 of CUDA 13"; () where there is none."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()


def cuda_of(name, text):
    """The version of CUDA that a loaded library, or one that is there and too new, is of: (13, 0), (13,) or ()."""
    is_there = not text.startswith("not loaded")
    if name in NAMED_AS_CUDA and is_there:
        return version_of(text)
    found = re.search(r" of CUDA (\d+) " if is_there else r"; there is one of CUDA (\d+):", text)
    return (int(found.group(1)),) if found else ()


def dotted(version):
    return ".".join(map(str, version))


def driver_of(lines):
    return version_of(lines.get("libcuda", ""))


def install(lines):
    """The command that installs CUDA's libraries for the driver."""
    return 'pip install "gpushim[cuda%d]"' % (13 if (driver_of(lines) or (13,))[0] >= 13 else 12)


def why_not_started(facts):
    found = re.search(r"device cuda is not usable \((.*)\); NumPy computes", facts.library_text or "")
    return found.group(1) if found else ""


def is_hidden(facts):
    return facts.environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1")


def check_absent(facts, lines):
    """Of a machine without a GPU that the library may use: one failure."""
    why = "CUDA_VISIBLE_DEVICES hides it" if is_hidden(facts) else driver_text(lines)
    return check("GPU", False, "not started: " + why, mend_of_gpu(facts, lines))


def check_gpu(facts, lines):
    text, why = lines.get("GPU", "none"), why_not_started(facts)
    if text != "not started":
        return check("GPU", text != "none", text, mend_of_gpu(facts, lines))
    return check("GPU", False, text + (": " + why if why else ""), mend_of_gpu(facts, lines))


def mend_of_gpu(facts, lines):
    if is_hidden(facts):
        return "unset CUDA_VISIBLE_DEVICES; " + WITHOUT
    if is_loaded("libcuda", lines) and not is_loaded("NVRTC", lines):
        return install(lines)
    return "install NVIDIA's driver; in a container start it with --gpus all; " + WITHOUT


def driver_text(lines):
    return "libcuda.so.1: %s; kernel module: %s" % (lines.get("libcuda", "not loaded"), lines.get("kernel driver", "not found"))


def check_driver(lines):
    return check("driver", is_loaded("libcuda", lines), driver_text(lines), "install NVIDIA's driver, or put the folder of libcuda.so.1 on LD_LIBRARY_PATH")


def check_library(name, lines):
    text = lines.get(name, "not loaded")
    if is_loaded(name, lines):
        return check(name, True, text)
    before = missing(LIBRARIES[name], lines)
    if text == "not loaded" and before:
        return check(name, False, "not searched, as %s is missing" % before[0], "install %s first" % before[0], NOTE)
    return check(name, False, text.replace("not loaded: ", ""), install(lines))


def check_versions(lines):
    """The driver against each library that is there. It runs those of a later minor version, but not PTX that these compile."""
    driver, found = driver_of(lines), {name: cuda_of(name, lines.get(name, "")) for name in LIBRARIES}
    newer = {name: version for name, version in found.items() if version > driver}
    if not newer:
        told = ", ".join("%s %s" % (name, dotted(version)) for name, version in found.items() if version)
        return check("versions", True, "driver CUDA %s; libraries of CUDA: %s" % (dotted(driver), told))
    newest = max(newer.values())
    text = "the driver (CUDA %s) is older than %s" % (dotted(driver), ", ".join(
        "%s (CUDA %s)" % (name, dotted(version)) for name, version in newer.items()))
    if newest[0] == driver[0]:
        return check("versions", False, text, "update NVIDIA's driver to one of CUDA %s or later" % dotted(newest), NOTE)
    first = DRIVERS.get(newest[0])
    return check("versions", False, text, "%s, or NVIDIA's driver %sof CUDA %d" % (
        install(lines), "%s or later, " % first if first else "", newest[0]), FAIL)


def check_pack(lines):
    text = lines.get("compiled ahead", "none")
    return check("kernels compiled ahead", not text.startswith("none"), text if not text.startswith("none") else
                 "none: kernels are compiled when they are first needed", "install the wheel that has them, or `make kernels`", NOTE)


def cuda_checks(facts):
    lines = device_lines(facts)
    if not is_loaded("libcuda", lines) and (is_hidden(facts) or lines.get("kernel driver", "not found") == "not found"):
        return [check_absent(facts, lines)]
    checks = [check_gpu(facts, lines), check_driver(lines)]
    if driver_of(lines) > (0, 0):
        checks += [check_library(name, lines) for name in LIBRARIES] + [check_versions(lines)]
    return checks + ([check_pack(lines)] if lines.get("GPU", "not started") != "not started" else [])
