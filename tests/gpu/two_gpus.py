#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two workers of a host with two GPUs take one each, as docs/user/clusters.md says, and compute the same numbers.

    python3 tests/gpu/two_gpus.py [--library build/libgpushim.so]

The interpreter needs NumPy. Launchers are told by the variables that they set; mpiexec with mpi4py and torchrun are started where
they are there. A GPU is told by the UUID of the device on which gpushim's memory lies; on the emulated CUDA libraries
(EMULATED_GPUS=2), which have none, by its name. Ends with "N passed, N failed, N skipped"; exit status 1 where a check failed."""
import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RANKS = {"Open MPI": "OMPI_COMM_WORLD_LOCAL_RANK", "MPICH": "MPI_LOCALRANKID", "MVAPICH": "MV2_COMM_WORLD_LOCAL_RANK",
         "HPE Cray": "PALS_LOCAL_RANKID", "Slurm": "SLURM_LOCALID", "torchrun": "LOCAL_RANK"}
TIMEOUT = 300  # s

WORKER = r'''
import ctypes, hashlib, json, sys
import numpy as np
process = ctypes.CDLL(None)

def uuid_of(pointer):
    """Of the GPU with this memory; None: the driver does not tell."""
    driver, ordinal, device, uuid = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(-1), ctypes.c_int(), (ctypes.c_ubyte * 16)()
    get_uuid = getattr(driver, "cuDeviceGetUuid_v2", getattr(driver, "cuDeviceGetUuid", None)) if hasattr(driver, "cuDeviceGet") else None
    if get_uuid is None or not hasattr(driver, "cuPointerGetAttribute"):
        return None
    if driver.cuPointerGetAttribute(ctypes.byref(ordinal), 9, ctypes.c_uint64(pointer)):  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return None
    if driver.cuDeviceGet(ctypes.byref(device), ordinal) or get_uuid(uuid, device):
        return None
    return bytes(uuid).hex()

def gpu():
    """What tells the GPU on which the shim has put an array; None: without the shim, or on none."""
    if not hasattr(process, "gpushim_device_pointer"):
        return None
    a = np.arange(1 << 20) + 1
    process.gpushim_device_pointer.restype = ctypes.c_ulonglong
    address = ctypes.c_void_p(a.__array_interface__["data"][0])
    pointer = process.gpushim_device_pointer(address, ctypes.c_size_t(a.nbytes))
    text = ctypes.create_string_buffer(1 << 20)
    process.gpushim_report_json(text, ctypes.c_size_t(len(text)))
    device = json.loads(text.value)["device"]
    if not pointer:
        return None
    return uuid_of(pointer) or device.split(",")[0]

def work():
    x = np.arange(1, 1 << 20, dtype=float)
    m = np.arange(300.0 * 300).reshape(300, 300) % 17 + 20 * np.eye(300)
    exact = np.sqrt(x) * 3 + x
    near = {"sum": float(np.sin(x).sum()), "product": float((m @ m).trace()), "fft": float(abs(np.fft.fft(x[:4096])).max()),
            "solve": float(np.linalg.solve(m, m[0]).sum())}
    return hashlib.sha256(exact.tobytes()).hexdigest(), near

answer = {"gpu": gpu(), "results": work()}
with open(sys.argv[1] + ("/%s.json" % sys.argv[2]), "w") as file:
    json.dump(answer, file)
'''
MPI = "import runpy, sys\nfrom mpi4py import MPI\nsys.argv[2:] = [str(MPI.COMM_WORLD.rank)]\nrunpy.run_path(%r, run_name='__main__')\n"
# Open MPI's mpiexec wants to be told so where it is run by root, as in containers.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.getuid() == 0 else {}
TORCH = "import os, runpy, sys\nsys.argv[2:] = [os.environ['RANK']]\nrunpy.run_path(%r, run_name='__main__')\n"


class Case:
    """Workers of one check, in a folder with the worker's program."""

    def __init__(self, library):
        self.library, self.counts, self.folder = library, {"passed": 0, "failed": 0, "skipped": 0}, tempfile.mkdtemp()
        self.program = self.write("worker.py", WORKER)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def environment(self, shim=True, **variables):
        drop = [*RANKS.values(), "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "RANK"]
        result = {name: value for name, value in os.environ.items() if name not in drop and not name.startswith("GPUSHIM_")}
        result.update({"LD_PRELOAD": self.library, "GPUSHIM_DEVICE": "cuda", "GPUSHIM_MODE": "force", "GPUSHIM_PROFILE": "0"} if shim else {})
        result.update({"GPUSHIM_CACHE_DIR": os.environ["GPUSHIM_CACHE_DIR"]} if "GPUSHIM_CACHE_DIR" in os.environ else {})
        return dict(result, **variables)

    def start(self, name, **variables):
        return subprocess.Popen([sys.executable, self.program, self.folder, name], env=self.environment(**variables), stderr=subprocess.PIPE,
                                universal_newlines=True)

    def answer(self, name):
        with open(os.path.join(self.folder, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def workers(self, *variables):
        """The answers and what stderr has, of workers that run at a time, one for each set of variables."""
        processes = [self.start(str(n), **each) for n, each in enumerate(variables)]
        errors = [process.communicate(timeout=TIMEOUT)[1] for process in processes]
        if any(process.returncode for process in processes):
            raise RuntimeError("a worker failed:\n" + "".join(errors))
        return [self.answer(str(n)) for n in range(len(processes))], errors

    def check(self, name, holds, told=""):
        self.counts["passed" if holds else "failed"] += 1
        print("%-4s %s%s" % ("ok" if holds else "FAIL", name, "" if holds else ": %s" % (told,)), flush=True)

    def skip(self, name, why):
        self.counts["skipped"] += 1
        print("skip %s: %s" % (name, why))


def agree(answers, plain):
    """Whether the workers have the same bits, those that are exact as without the shim, and the rest nearly so."""
    exact, near = plain["results"]
    return all(answer["results"] == answers[0]["results"] and answer["results"][0] == exact and all(
        abs(value - near[name]) <= 1e-9 * abs(near[name]) for name, value in answer["results"][1].items()) for answer in answers)


def check_pair(case, name, answers, gpus, plain):
    found = [answer["gpu"] for answer in answers]
    case.check("%s: a GPU each" % name, found == gpus, "%s, expected %s" % (found, gpus))
    case.check("%s: the same results" % name, agree(answers, plain), [answer["results"] for answer in answers] + [plain["results"]])


def check_visible(case, gpus, plain):
    """CUDA_VISIBLE_DEVICES stands above the rank: what it leaves is counted anew."""
    if "EMULATED_GPUS" in os.environ:
        return case.skip("CUDA_VISIBLE_DEVICES", "the emulated driver does not read it")
    rank = RANKS["torchrun"]
    answers, _ = case.workers(*[{"GPUSHIM_GPU": "auto", rank: "1", "CUDA_VISIBLE_DEVICES": n} for n in ("0", "1")])
    check_pair(case, "one GPU visible to each worker", answers, gpus, plain)
    answers, _ = case.workers(*[{"GPUSHIM_GPU": "auto", rank: n, "CUDA_VISIBLE_DEVICES": "1,0"} for n in ("0", "1")])
    check_pair(case, "both visible, in the other order", answers, gpus[::-1], plain)
    return None


def check_launcher(case, name, command, text, gpus, plain):
    """The launcher starts two workers, each under the shim, which the variables of `env` put there."""
    path, shim = case.write(name + ".py", text % case.program), case.environment(GPUSHIM_GPU="auto")
    setting = ["env", *["%s=%s" % (key, shim[key]) for key in ("LD_PRELOAD", *[key for key in shim if key.startswith("GPUSHIM_")])]]
    done = subprocess.run([*command, *setting, sys.executable, path, case.folder], env=case.environment(shim=False, **AS_ROOT), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, timeout=TIMEOUT, check=False)
    if done.returncode:
        return case.check(name, False, done.stdout)
    return check_pair(case, name, [case.answer(n) for n in ("0", "1")], gpus, plain)


def check_launchers(case, gpus, plain):
    has = importlib.util.find_spec
    if shutil.which("mpiexec") and has("mpi4py"):
        check_launcher(case, "mpiexec", ["mpiexec", "-n", "2"], MPI, gpus, plain)
    else:
        case.skip("mpiexec", "it, or mpi4py, is not installed")
    if has("torch"):
        check_launcher(case, "torchrun-itself", [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--no-python"], TORCH,
                       gpus, plain)
    else:
        case.skip("torchrun", "torch is not installed")


def check_no_such(case, plain):
    (answer,), (error,) = case.workers({"GPUSHIM_GPU": "99"})
    case.check("no such GPU: the CPU computes", answer["gpu"] is None and answer["results"][0] == plain["results"][0], answer)
    case.check("no such GPU: one line says so", "GPUSHIM_GPU=99: no such GPU" in error and error.count("\n") == 1, error)


def check_all(case, answers, gpus, plain):
    check_pair(case, "GPUSHIM_GPU=0 and 1", answers, gpus, plain)
    for name, variable in RANKS.items():
        answers, _ = case.workers(*[{"GPUSHIM_GPU": "auto", variable: n} for n in ("0", "1")])
        check_pair(case, name, answers, gpus, plain)
    (one, other), _ = case.workers({"GPUSHIM_GPU": "auto", "LOCAL_RANK": "2"}, {"GPUSHIM_GPU": "auto"})
    case.check("a third worker shares the first GPU", one["gpu"] == other["gpu"] == gpus[0], (one["gpu"], other["gpu"]))
    check_visible(case, gpus, plain)
    check_no_such(case, plain)
    check_launchers(case, gpus, plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "libgpushim.so"))
    case = Case(os.path.abspath(parser.parse_args().library))
    try:
        (plain,), _ = case.workers({"LD_PRELOAD": "", "GPUSHIM_DEVICE": "none"})
        answers, _ = case.workers({"GPUSHIM_GPU": "0"}, {"GPUSHIM_GPU": "1"})  # as Dask's workers are started
        gpus = [answer["gpu"] for answer in answers]
        case.check("two GPUs are there", None not in gpus and gpus[0] != gpus[1], gpus)
        if case.counts["passed"]:
            check_all(case, answers, gpus, plain)
    finally:
        shutil.rmtree(case.folder)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % case.counts)
    return 1 if case.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
