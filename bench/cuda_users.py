# SPDX-License-Identifier: Apache-2.0
"""How fast other libraries copy an array that is on the GPU to memory of their own there: cupy.asarray(a) and
torch.from_numpy(a).cuda(), each in a process of its own under the shim, mode force.

    .venv/bin/python bench/cuda_users.py [--bytes 1073741824] [--rounds 20] [--libraries cupy,torch]

Prints a JSON line for each library: the median time of a copy, the library's device synchronised at the end, and GB of
the array a second; then the machine. A library that is not installed is named as skipped.
"""
import argparse
import importlib.util
import json
import subprocess
import sys

import common

SCRIPT = '''
import ctypes, json, statistics, time
import numpy as np
a = np.sqrt(np.arange({size} // 8) * 1.0)
ctypes.CDLL(None).gpushim_synchronize()
{library}
put(np.ones(10)); wait()
seconds = []
for turn in range({rounds}):
    start = time.perf_counter()
    copy = put(a); wait()
    seconds.append(time.perf_counter() - start)
    assert float(copy[-1]) == ({size} // 8 - 1) ** 0.5
    del copy
print(json.dumps(statistics.median(seconds[1:])))
'''

LIBRARIES = {
    "cupy": "import cupy\nput, wait = cupy.asarray, cupy.cuda.Device().synchronize",
    "torch": "import torch\nput, wait = lambda a: torch.from_numpy(a).cuda(), torch.cuda.synchronize",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    options = parser.parse_args()
    for name in options.libraries.split(","):
        if importlib.util.find_spec(name) is None:
            print("skipped: %s is not installed" % name)
            continue
        script = SCRIPT.format(size=options.bytes, rounds=options.rounds, library=LIBRARIES[name])
        done = subprocess.run([sys.executable, "-c", script], env=common.under_the_shim(MODE="force"), stdout=subprocess.PIPE,
                              check=True)
        seconds = json.loads(done.stdout)
        print(json.dumps({"library": name, "bytes": options.bytes, "seconds": seconds, "GB/s": options.bytes / seconds / 1e9}))
    print(json.dumps(common.machine()))


if __name__ == "__main__":
    main()
