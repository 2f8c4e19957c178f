# SPDX-License-Identifier: Apache-2.0
"""The file of how long libraries of CUDA took to open, offload/cuda/compile/cuda_load_times.h. Without it, what is expected depends on
whether the libraries' files are in memory."""
import os

BOOT = "/proc/sys/kernel/random/boot_id"


def write(cache, **seconds):
    """The last openings took so long: cublas=0.2, ... `cache` is the cache folder, made here if it is missing."""
    with open(BOOT, encoding="utf-8") as stream:
        lines = ["gpushim library times 1\n", "boot %s\n" % stream.read().strip()]
    lines += ["%s %d\n" % (name, value * 1e9) for name, value in seconds.items()]
    os.makedirs(cache, mode=0o700, exist_ok=True)
    path = os.path.join(cache, "library_times")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("".join(lines + ["end\n"]))
    os.chmod(path, 0o600)
