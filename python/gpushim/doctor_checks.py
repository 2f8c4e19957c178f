# SPDX-License-Identifier: Apache-2.0
"""What `gpushim doctor` looks at, and how each failure is mended; doctor_cuda has the GPU and CUDA's libraries."""
import errno
import glob
import os
import re
import resource
import shutil
import tempfile

from gpushim import doctor_cuda
from gpushim.doctor_facts import CPU_COMPUTED, FAIL, NOTE, check, device_kind, device_lines
from gpushim.launch import ON, SEPARATORS

MAPS_WANTED, FREE_WANTED = 65530, 200 << 20  # /proc/sys/vm/max_map_count; bytes in the cache folder
SANITIZERS = re.compile(r"lib(a|t|l|ub|hw)san\.so")  # these must be the first


# ---- the process ----

def check_library(facts):
    state = re.search(r"^state: (.*)$", facts.library_text, re.M)
    words = "%s, %s" % (facts.library, state.group(1) if state else "not loaded into the process")
    if state is None:
        return check("library", False, words, "look at LD_PRELOAD, and whether the file system allows execution (mount option noexec)")
    is_well = state.group(1) == "active" or "no NVIDIA GPU" in state.group(1)  # the GPU's own check says the latter
    return check("library", is_well, words, mend_of_state(state.group(1)))


def mend_of_state(state):
    if "MODE is off" in state:
        return "unset GPUSHIM_MODE"
    if "DEVICE is none" in state:
        return "unset GPUSHIM_DEVICE"
    return "docs/user/troubleshooting.md names each state"


def check_preload(facts):
    """The loader searches the libraries of LD_PRELOAD in their order: where one before gpushim has a function too, gpushim sees only
    the calls that it passes on. The probe of system calls finds out whether it does."""
    order = list(filter(None, SEPARATORS.split(facts.environment.get("LD_PRELOAD", ""))))
    own = [os.path.realpath(path) for path in order].index(os.path.realpath(facts.library))
    before = [path for path in order[:own] if not SANITIZERS.match(os.path.basename(path))]
    text = "tried in this order: " + ", ".join(order) if len(order) > 1 else "gpushim alone"
    hidden = {name: path for name, path in facts.answer.get("hidden", {}).items() if os.path.basename(path) in map(os.path.basename, before)}
    if hidden:
        text += "; %s, before gpushim, which sees what is passed on" % ", ".join("%s is of %s" % pair for pair in sorted(hidden.items()))
    return check("LD_PRELOAD", not hidden, text,
                 "put gpushim first: LD_PRELOAD=" + ":".join([facts.library, *order[:own], *order[own + 1:]]), NOTE)


def check_numpy(facts):
    answer = facts.answer
    return check("NumPy", answer["numpy"] is not None, answer["numpy"] or answer.get("error", "not found"), "pip install numpy")


def check_end(facts):
    """Of a probe that gave no answer: nothing is known of what it was to find out."""
    hangs = "look at nvidia-smi: a driver that hangs needs a restart of the machine"
    return check("probe", False, facts.failure, hangs if "did not end" in facts.failure else "gpushim doctor -v shows all that it printed")


# ---- what runs ----

def check_probe(probe, facts):
    """The device host has no transforms without FFTW, and needs none."""
    name, text, kind, lines = "probe: " + probe["name"], probe["text"], device_kind(facts), device_lines(facts)
    absent = doctor_cuda.missing(doctor_cuda.NEEDED_BY.get(probe["name"], ()), lines) if kind == "cuda" else []
    if kind == "host" and probe["name"] == "fft" and text == CPU_COMPUTED:
        return check(name, False, text, "install libfftw3.so.3 and libfftw3f.so.3", NOTE)
    if absent and not probe["ok"]:
        return check(name, False, "%s, as %s is missing" % (text, absent[0]), doctor_cuda.install(lines))
    mend = "look at LD_PRELOAD" if probe["name"] == "system calls" else "GPUSHIM_LOG=info gpushim run ... tells more; please report it"
    return check(name, probe["ok"], text, mend)


def probe_checks(facts):
    answer = facts.answer or {}
    begin = "%.2f s" % (answer.get("start_ns", 0) * 1e-9)
    checks = [check("start of the device", True, begin)] if answer.get("probes") else []
    return checks + [check_probe(probe, facts) for probe in answer.get("probes", ())]


# ---- the machine ----

def why_not_written(folder):
    """Why no file can be made in the folder; None: one can. A full disk is another matter."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"gpushim")
    except OSError as error:
        return None if error.errno == errno.ENOSPC else error.strerror
    return None


def check_cache(folder):
    name = "cache folder"
    if folder is None:
        return check(name, False, "there is none, as HOME is not set", "set GPUSHIM_CACHE_DIR", NOTE)
    there = folder
    while not os.path.isdir(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    why = why_not_written(there)
    if why:
        return check(name, False, "%s cannot be written (%s): kernels are compiled in each process" % (folder, why),
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
    return check("memory mappings", count is None or count >= MAPS_WANTED, "vm.max_map_count %s" % ("cannot be read" if count is None else count),
                 "sudo sysctl vm.max_map_count=%d" % MAPS_WANTED, NOTE)


def limit_text(which, unit):
    soft = resource.getrlimit(which)[0]
    return "unlimited" if soft == resource.RLIM_INFINITY else "%.0f %s" % (soft / {"KB": 1e3, "GB": 1e9}[unit], unit)


def check_page_locked(facts):
    """Whether the memory of the transfers was page-locked. The driver pins pages itself, and does not count them against
    RLIMIT_MEMLOCK (os_lock_user_pages of NVIDIA/open-gpu-kernel-modules), so a low limit alone costs nothing."""
    line = next((probe.get("page_locked") for probe in facts.answer["probes"] if probe["name"] == "transfers"), None)
    found = re.match(r"(\d+) MiB of at most (\d+) MiB, refused (\d+) times", line or "")
    if found is None:
        return []
    held, most, refused = map(int, found.groups())
    limits = "; ulimit -l is %s, which the driver does not count" % limit_text(resource.RLIMIT_MEMLOCK, "KB")
    mend = "unset GPUSHIM_PIN_LIMIT" if facts.environment.get("GPUSHIM_PIN_LIMIT") and not refused else (
        "ulimit -l unlimited (in a container: --ulimit memlock=-1), more memory for the container, and look at dmesg")
    text = "%d MiB of at most %d MiB" % (held, most) if held else "none, %d refusals: transfers go through a buffer, at about half the rate" % refused
    return [check("page-locked memory", held > 0, text + limits, mend, NOTE)]


def check_limits():
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return check("address space", soft == resource.RLIM_INFINITY, "unlimited" if soft == resource.RLIM_INFINITY else
                 "limited to %.1f GB: NVIDIA's driver needs more" % (soft / 1e9), "ulimit -v unlimited")


def all_checks(facts, cache_folder):
    kind = device_kind(facts)
    wants_gpu = (facts.environment.get("GPUSHIM_DEVICE") or "auto").lower() in ("auto", "cuda", *ON)
    machine = [check_cache(cache_folder), check_maps(), check_limits()]
    if facts.failure:
        return [check_end(facts)] + machine
    if facts.answer["numpy"] is None:  # without which the library does nothing
        return [check_numpy(facts)] + machine
    return ([check_library(facts), check_preload(facts), check_numpy(facts)] +
            (doctor_cuda.cuda_checks(facts) if kind == "cuda" or wants_gpu else []) + probe_checks(facts) + check_page_locked(facts) + machine)
