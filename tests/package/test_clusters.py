# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes as docs/user/clusters.md starts them: two workers, on a GPU each where the emulated CUDA libraries
are there, else on the device `host`. Their packages are those of this interpreter's environment."""
import glob
import importlib.util
import os
import socket
import subprocess
import sys
import unittest

from package_venv import ROOT, TIMEOUT, call, environment
from test_command import TestCase

EMULATION = next((folder for folder in glob.glob(os.path.join(ROOT, "build-*/tests/emulation"))
                  if os.path.exists(os.path.join(folder, "libcuda.so.1"))), None)
if EMULATION:
    DEVICE = {"GPUSHIM_DEVICE": "cuda", "LD_LIBRARY_PATH": EMULATION, "GPUSHIM_CACHE_DIR": os.path.join(EMULATION, "cache"),
              "EMULATED_GPUS": "2"}
    DEVICES = ["GPU emulated GPU", "GPU emulated GPU 1"]
else:
    DEVICE, DEVICES = {"GPUSHIM_DEVICE": "host"}, ["host: CPU cores"] * 2
MPIEXEC = os.path.join(os.path.dirname(sys.executable), "mpiexec")
ALLREDUCE = """
import numpy as np
from mpi4py import MPI
import gpushim
world = MPI.COMM_WORLD
a = np.arange(2000000.0) * (world.rank + 1)
total, other = np.empty_like(a), np.empty_like(a)
world.Allreduce(a, total)
world.Sendrecv(a * 1.0, 1 - world.rank, recvbuf=other, source=1 - world.rank)
sums = world.gather(float((total + other).sum()))
devices = world.gather(gpushim.stats()["device"].split(",")[0])
if world.rank == 0:
    print(sums, devices)
"""
CLIENT = """
import sys
from distributed import Client
def work(n):
    import gpushim
    import numpy as np
    return float((np.arange(1e6) * n).sum()), gpushim.stats()["device"].split(",")[0]
with Client(sys.argv[1]) as client:
    client.wait_for_workers(2, timeout=60)
    workers = sorted(client.scheduler_info()["workers"])
    results = [client.submit(work, n + 1, workers=[worker]).result() for n, worker in enumerate(workers)]
    print([number for number, _ in results], sorted(device for _, device in results))
"""
JOBLIB = """
from joblib import Parallel, delayed
def work(n):
    import os
    import gpushim
    import numpy as np
    total = float((np.arange(1e6) * n).sum())
    return total, gpushim.stats()["device"] != "no device", os.getpid()
if __name__ == "__main__":
    import os
    results = Parallel(n_jobs=2)(delayed(work)(n) for n in (1, 2, 3, 4))
    print([total for total, *_ in results], all(active for _, active, _ in results), os.getpid() in [pid for *_, pid in results])
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class TestClusters(TestCase):
    def setUp(self):
        super().setUp()
        self.env = environment(GPUSHIM_MODE="force", **DEVICE)
        self.env["PATH"] = os.path.dirname(sys.executable) + os.pathsep + self.env["PATH"]

    @unittest.skipUnless(os.path.exists(MPIEXEC) and importlib.util.find_spec("mpi4py"), "MPI is not installed")
    def test_mpi(self):
        path = self.write("program.py", ALLREDUCE)
        libraries = os.pathsep.join(filter(None, [self.env.get("LD_LIBRARY_PATH"), os.path.join(sys.prefix, "lib")]))  # pip's MPICH
        command = [MPIEXEC, "-n", "2", self.venv.gpushim, "run", "--set", "GPUSHIM_GPU=auto", path]
        status, out, error = call(command, env=dict(self.env, LD_LIBRARY_PATH=libraries))
        self.assertEqual((status, out), (0, "[9999995000000.0, 7999996000000.0] %s\n" % DEVICES), error)

    @unittest.skipUnless(importlib.util.find_spec("joblib"), "joblib is not installed")
    def test_joblib(self):
        status, out, error = call([self.venv.gpushim, "run", self.write("program.py", JOBLIB)], env=self.env)
        self.assertEqual((status, out), (0, "[499999500000.0, 999999000000.0, 1499998500000.0, 1999998000000.0] True False\n"), error)

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "Dask is not installed")
    def test_dask(self):
        """A worker for each GPU, under gpushim; scheduler and client without."""
        port = str(free_port())
        dask = [self.venv.python, "-m", "dask"]
        worker = [self.venv.gpushim, "run", "-m", "dask"]
        commands = [(dask + ["scheduler", "--port", port, "--no-dashboard"], {})] + [
            (worker + ["worker", "tcp://127.0.0.1:" + port, "--nthreads", "1", "--no-dashboard"], {"GPUSHIM_GPU": number})
            for number in "01"]
        children = [subprocess.Popen(command, env=dict(self.env, **env), cwd=self.folder, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL) for command, env in commands]
        try:
            status, out, error = call([self.venv.python, self.write("client.py", CLIENT), "tcp://127.0.0.1:" + port], env=self.env)
        finally:
            for child in children[::-1]:
                child.terminate()
                child.wait(TIMEOUT)
        self.assertEqual((status, out), (0, "[499999500000.0, 999999000000.0] %s\n" % DEVICES), error)


if __name__ == "__main__":
    unittest.main()
