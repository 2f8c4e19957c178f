# SPDX-License-Identifier: Apache-2.0
"""How long the program's own copies to the GPU wait while another thread opens cuBLAS and cuSOLVER, and what each step takes.

    python3 bench/library_loading.py [--cublas libcublas.so.13] [--cusolver libcusolver.so.12] [--rounds 3]

Each round is a process of its own, without gpushim; the first one after a boot finds the libraries on the disk. A line for each
step: its seconds, the copies of 64 KiB that ended meanwhile, and the longest of them.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import threading
import time

import common

BYTES, RTLD_NOW = 64 << 10, 2


def check(result, what):
    if result != 0:
        raise SystemExit("%s: %d" % (what, result))


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, self.context, self.memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
        check(self.cuda.cuInit(0), "cuInit")
        check(self.cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
        check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device), "cuDevicePrimaryCtxRetain")
        self.enter()
        check(self.cuda.cuMemAlloc_v2(ctypes.byref(self.memory), ctypes.c_size_t(BYTES)), "cuMemAlloc")
        self.host, self.stream = ctypes.create_string_buffer(BYTES), ctypes.c_void_p()
        check(self.cuda.cuStreamCreate(ctypes.byref(self.stream), 1), "cuStreamCreate")

    def enter(self):
        check(self.cuda.cuCtxPushCurrent_v2(self.context), "cuCtxPushCurrent")

    def copy(self):
        check(self.cuda.cuMemcpyHtoDAsync_v2(self.memory, self.host, ctypes.c_size_t(BYTES), self.stream), "cuMemcpyHtoDAsync")
        check(self.cuda.cuStreamSynchronize(self.stream), "cuStreamSynchronize")


def open_library(path):
    """By a foreign call, so that other threads of Python go on."""
    libc = ctypes.CDLL(None)
    libc.dlopen.restype = ctypes.c_void_p
    handle = libc.dlopen(path.encode(), RTLD_NOW)
    if handle is None:
        raise SystemExit("%s cannot be opened" % path)
    return ctypes.CDLL(path, handle=handle)


def open_all(gpu, names, steps):
    """Appends (step, begin, end) to `steps`."""
    gpu.enter()
    libraries = {}

    def load(name):
        libraries[name] = open_library(names[name])

    def create(name, function):
        handle = ctypes.c_void_p()
        check(getattr(libraries[name], function)(ctypes.byref(handle)), function)

    for what, body, *args in (("load cuBLAS", load, "cublas"), ("cublasCreate", create, "cublas", "cublasCreate_v2"),
                              ("load cuSOLVER", load, "cusolver"), ("cusolverDnCreate", create, "cusolver", "cusolverDnCreate")):
        begin = time.perf_counter()
        body(*args)
        steps.append((what, begin, time.perf_counter()))


def work(names):
    gpu, steps, copies, usual = Gpu(), [], [], []
    for _ in range(1000):
        begin = time.perf_counter()
        gpu.copy()
        usual.append(time.perf_counter() - begin)
    thread = threading.Thread(target=open_all, args=(gpu, names, steps))
    thread.start()
    while thread.is_alive():
        begin = time.perf_counter()
        gpu.copy()
        copies.append((begin, time.perf_counter()))
    for what, begin, end in steps:
        within = [last - first for first, last in copies if last >= begin and first <= end]
        print(json.dumps({"step": what, "seconds": round(end - begin, 4), "copies": len(within),
                          "longest_copy": round(max(within, default=0), 5), "usual_copy": round(sorted(usual)[len(usual) // 2], 6)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cublas", default="libcublas.so.13")
    parser.add_argument("--cusolver", default="libcusolver.so.12")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work({"cublas": options.cublas, "cusolver": options.cusolver})
        return
    machine = common.machine()
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    for turn in range(options.rounds):
        out = subprocess.run([sys.executable, os.path.abspath(__file__), "--worker", "--cublas", options.cublas, "--cusolver",
                              options.cusolver], env=env, stdout=subprocess.PIPE, check=True).stdout.decode()
        for line in out.splitlines():
            print(json.dumps({"round": turn + 1, **json.loads(line), **machine}))


if __name__ == "__main__":
    main()
