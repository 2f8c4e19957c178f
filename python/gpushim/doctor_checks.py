# SPDX-License-Identifier: Apache-2.0
"""What `gpushim doctor` looks at, and how each failure is mended. A check is a Check; what it judges is in Facts."""
import collections
import glob
import os
import re
import resource
import shutil

OK, NOTE, FAIL = "ok", "note", "FAIL"  # a note costs speed at most

# mend: the command or step that mends it, where something is to be mended.
Check = collections.namedtuple("Check", "name state text mend")
# environment: the library's; answer: of doctor_probe, None where there is none, for the reason `failure`; library_text: what the
# library printed; library: its path.
Facts = collections.namedtuple("Facts", "environment answer library_text failure library")

CPU_COMPUTED = "the CPU computed it"  # a probe's text
LIBRARIES = ("NVRTC", "cuBLAS", "cuSOLVER", "cuFFT")
MAPS_WANTED, FREE_WANTED = 65530, 200 << 20  # /proc/sys/vm/max_map_count; bytes in the cache folder


def check(name, is_well, text, mend="", otherwise=FAIL):
    return Check(name, OK if is_well else otherwise, text, "" if is_well else mend)


def device_lines(facts):
    """{label: value} of the library's lines on the device."""
    return dict(re.findall(r"^(\S[\S ]*?)  +(.*)$", (facts.answer or {}).get("device", ""), re.M))


def device_kind(facts):
    """cuda, host, none."""
    found = re.search(r"^device: (\w+)", (facts.answer or {}).get("device", ""), re.M)
    return found.group(1) if found else "none"


# ---- the process ----

def check_library(facts):
    state = re.search(r"^state: (.*)$", facts.library_text, re.M)
    words = "%s, %s" % (facts.library, state.group(1) if state else "not loaded into the process")
    mend = "" if state else "look at LD_PRELOAD, and whether the file system allows execution (mount option noexec)"
    return check("library", state is not None and state.group(1) == "active", words, mend or mend_of_state(state.group(1)))


def mend_of_state(state):
    if "no NVIDIA GPU" in state:
        return "install NVIDIA's driver, or use all cores of the CPU: GPUSHIM_DEVICE=cpu"
    if "MODE is off" in state:
        return "unset GPUSHIM_MODE"
    if "DEVICE is none" in state:
        return "unset GPUSHIM_DEVICE"
    return "docs/user/troubleshooting.md names each state"


def check_numpy(facts):
    answer = facts.answer
    return check("NumPy", answer["numpy"] is not None, answer["numpy"] or answer.get("error", "not found"), "pip install numpy")


def check_end(facts):
    """Of a probe that gave no answer: nothing is known of what it was to find out."""
    hangs = "look at nvidia-smi: a driver that hangs needs a restart of the machine"
    return check("probe", False, facts.failure, hangs if "did not end" in facts.failure else "gpushim doctor -v shows all that it printed")


# ---- the GPU and CUDA's libraries ----

def check_gpu(facts, lines):
    hidden = facts.environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    started = lines.get("GPU", "not started") != "not started"
    mend = "unset CUDA_VISIBLE_DEVICES" if hidden else "install NVIDIA's driver; in a container start it with --gpus all"
    return check("GPU", started, lines.get("GPU", "none"), mend)


def check_driver(lines):
    text = "libcuda.so.1: %s; kernel module: %s" % (lines.get("libcuda", "not loaded"), lines.get("kernel driver", "not found"))
    return check("driver", lines.get("libcuda", "not loaded") != "not loaded", text,
                 "install NVIDIA's driver, or put the folder of libcuda.so.1 on LD_LIBRARY_PATH")


def major(text):
    found = re.search(r"(\d+)\.\d+", text)
    return int(found.group(1)) if found else None


def extra_for(lines):
    """The extra of the package that suits the driver."""
    return "cuda13" if (major(lines.get("libcuda", "")) or 13) >= 13 else "cuda12"


def check_cuda_library(name, lines):
    text = lines.get(name, "not loaded")
    install = 'pip install "gpushim[%s]"' % extra_for(lines)
    if text == "not loaded":
        return check(name, False, "not found", install)
    if name == "NVRTC" and (major(text) or 0) > (major(lines.get("libcuda", "")) or 99):
        return check(name, False, "%s is newer than the driver (%s)" % (text, lines["libcuda"]), install, NOTE)
    return check(name, True, text)


def check_pack(lines):
    text = lines.get("compiled ahead", "none")
    return check("kernels compiled ahead", not text.startswith("none"), text if not text.startswith("none") else
                 "none: kernels are compiled when they are first needed", "install the wheel that has them, or `make kernels`", NOTE)


def cuda_checks(facts):
    lines = device_lines(facts)
    checks = [check_gpu(facts, lines), check_driver(lines)]
    if checks[0].state == OK:
        checks += [check_cuda_library(name, lines) for name in LIBRARIES] + [check_pack(lines)]
    return checks


# ---- what runs ----

def check_probe(probe, kind):
    """The device host has no transforms without FFTW, and needs none."""
    lacks_fftw = kind == "host" and probe["name"] == "fft" and probe["text"] == CPU_COMPUTED
    mend = "install libfftw3.so.3 and libfftw3f.so.3" if lacks_fftw else "GPUSHIM_LOG=info gpushim run ... tells more; please report it"
    return check("probe: " + probe["name"], probe["ok"], probe["text"], mend, NOTE if lacks_fftw else FAIL)


def probe_checks(facts):
    answer = facts.answer or {}
    begin = "%.2f s" % (answer.get("start_ns", 0) * 1e-9)
    checks = [check("start of the device", True, begin)] if answer.get("probes") else []
    return checks + [check_probe(probe, device_kind(facts)) for probe in answer.get("probes", ())]


# ---- the machine ----

def check_cache(folder):
    name = "cache folder"
    if folder is None:
        return check(name, False, "there is none, as HOME is not set", "set GPUSHIM_CACHE_DIR", NOTE)
    there = folder
    while not os.path.isdir(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    if not os.access(there, os.W_OK | os.X_OK):
        return check(name, False, "%s cannot be written: kernels are compiled in each process" % folder,
                     "set GPUSHIM_CACHE_DIR to a folder of your own", NOTE)
    free = shutil.disk_usage(there).free
    files = sum(os.path.getsize(path) for path in glob.glob(os.path.join(glob.escape(folder), "*")) if os.path.isfile(path))
    return check(name, free >= FREE_WANTED, "%s, %.1f MB used, %.1f GB free" % (folder, files / 1e6, free / 1e9),
                 "gpushim clean, or GPUSHIM_CACHE_DIR on another disk", NOTE)


def read_number(path):
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def check_maps():
    count = read_number("/proc/sys/vm/max_map_count")
    return check("memory mappings", count is None or count >= MAPS_WANTED, "vm.max_map_count %s" % count,
                 "sudo sysctl vm.max_map_count=%d" % MAPS_WANTED, NOTE)


def check_limits():
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return check("address space", soft == resource.RLIM_INFINITY, "unlimited" if soft == resource.RLIM_INFINITY else
                 "limited to %.1f GB: NVIDIA's driver needs more" % (soft / 1e9), "ulimit -v unlimited")


def all_checks(facts, cache_folder):
    kind = device_kind(facts)
    wants_gpu = (facts.environment.get("GPUSHIM_DEVICE") or "auto").lower() in ("auto", "cuda")
    machine = [check_cache(cache_folder), check_maps(), check_limits()]
    if facts.failure:
        return [check_end(facts)] + machine
    if facts.answer["numpy"] is None:  # without which the library does nothing
        return [check_numpy(facts)] + machine
    return ([check_library(facts), check_numpy(facts)] + (cuda_checks(facts) if kind == "cuda" or wants_gpu else []) +
            probe_checks(facts) + machine)
