# SPDX-License-Identifier: Apache-2.0
"""Where gpushim alone uses the driver, it makes one hardware queue for kernels (CUDA_DEVICE_MAX_CONNECTIONS). Nobody else sees that variable."""
import os
import subprocess
import tempfile
import unittest

import shim_runner

# OTHER: another library opens the driver "before" or "after" the device is started, or a library of this path does, before. No argument: profiles are by arguments.
SCRIPT = '''
import ctypes, json, os, subprocess, time
import numpy as np
from shim_script import gpushim

def is_started():
    text = ctypes.create_string_buffer(1 << 20)
    gpushim().gpushim_report_json(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)["device"] != "no device"

if os.environ["OTHER"] == "before":
    ctypes.CDLL("libcuda.so.1")
if os.path.isabs(os.environ["OTHER"]):
    ctypes.CDLL(os.environ["OTHER"]).open_driver()
a = np.linspace(0, 1, 1_000_000)
end = time.monotonic() + 60
while not is_started() and time.monotonic() < end:
    b = np.exp(np.sin(a))
NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
child = subprocess.run(["printenv", NAME], stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(is_started(), os.environ.get(NAME), child, libc.getenv(NAME.encode()), libc.getenv(b"WORD"), flush=True)
if os.environ["OTHER"] == "after":
    ctypes.CDLL("libcuda.so.1")
'''


@unittest.skipUnless(shim_runner.is_emulated(), "needs the emulated CUDA libraries, which tell what they are asked for")
class TestConnections(shim_runner.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="connections-")
        self.addCleanup(self.folder.cleanup)
        self.script = os.path.join(self.folder.name, "program.py")
        with open(self.script, "w", encoding="utf-8") as stream:
            stream.write(SCRIPT)

    def connections(self, other="", seen="None  None", **env):
        """How many queues the driver is asked for. `seen`: of the variable, by Python, by a child and by the C library."""
        answer = os.path.join(self.folder.name, "answer")
        result = shim_runner.run(self.script, env={
            "OTHER": other,
            "GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1", "GPUSHIM_PROFILE": "1", "WORD": "said",
            "GPUSHIM_CACHE_DIR": os.path.join(self.folder.name, "cache"), "EMULATED_INIT_FILE": answer, **env})
        self.assertEqual((result.returncode, result.stdout), (0, "True %s b'said'\n" % seen), repr(result))
        with open(answer, encoding="utf-8") as stream:
            return stream.read().split()[0]

    def test_one_where_gpushim_is_alone(self):
        self.assertEqual(self.connections(GPUSHIM_PROFILE="0"), "1")

    def test_the_users_number(self):
        self.assertEqual(self.connections(CUDA_DEVICE_MAX_CONNECTIONS="4", seen="4 4 b'4'"), "4")

    def test_the_drivers_own_number_beside_another_library(self):
        self.assertEqual(self.connections("before", GPUSHIM_PROFILE="0"), "8")

    def library(self, name):
        """The path of a library that opens the driver when it is called."""
        path = os.path.join(self.folder.name, name)
        source = "#include <dlfcn.h>\nvoid open_driver(void) { dlopen(\"libcuda.so.1\", RTLD_NOW); }\n"
        subprocess.run([shim_runner.find_tool("cc"), "-shared", "-fPIC", "-x", "c", "-o", path, "-"], input=source, universal_newlines=True, check=True)
        return path

    def test_a_library_that_comes_with_cuda_is_no_other_user(self):
        self.assertEqual(self.connections(self.library("libcufft.so.99"), GPUSHIM_PROFILE="0"), "1")
        self.assertEqual(self.connections(self.library("libother.so.99"), GPUSHIM_PROFILE="0"), "8")

    def test_the_next_process_knows_of_the_other_library(self):
        self.assertEqual(self.connections("after"), "1")
        self.assertEqual(self.connections("after"), "8")
        self.assertEqual(self.connections(), "8")
        self.assertEqual(self.connections(), "1")


if __name__ == "__main__":
    unittest.main()
