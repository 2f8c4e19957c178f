# SPDX-License-Identifier: Apache-2.0
"""A run of a script that pays for the start of the device leaves a profile, and the next run starts the device at once."""
import os
import re
import signal
import sys
import tempfile
import unittest

import library_times
import shim_runner

# The variable PROGRAM, or the arguments: the calls to make, whether to wait first for a device that is being started, and what to do before the first
# call. The price of the start is that of a few calls, so that the first call alone never starts the device.
SCRIPT = '''
import ctypes, json, os, signal, subprocess, sys, time
import numpy as np
from shim_script import gpushim, residency
words = os.environ.get("PROGRAM", "").split() or sys.argv[1:]  # each list of arguments has a profile of its own
calls, waits, before = int(words[0]), words[1] == "waits", words[2:]
a = np.random.default_rng(0).standard_normal((60, 150))  # too small for a call to be measured: gains are modelled, and the same in each run
threads = len(os.listdir("/proc/self/task"))

def device():
    text = ctypes.create_string_buffer(1 << 20)
    gpushim().gpushim_report_json(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)["device"]

end = time.monotonic() + 30
while waits and device() == "no device" and time.monotonic() < end:
    time.sleep(0.02)
time.sleep(1 if waits else 0)  # for the library to open
if "fork" in before and os.fork() == 0:
    for _ in range(3000):
        b = np.fft.fft(a)
    end = os._exit if "quits" in before else sys.exit
    end(0)
places = []
for _ in range(calls):
    b = np.fft.fft(a)
    places.append(residency(b))
if "fork-late" in before:
    while device() == "no device" and time.monotonic() < end:
        time.sleep(0.02)
    if os.fork() == 0:
        sys.exit(0)
if "fork" in before or "fork-late" in before:
    os.wait()
print("first call on the device:", places[:1] == ["device"], "threads:", threads, flush=True)
if "spawn" in before:
    try:
        subprocess.run(["/none/such"])  # its child, of vfork, ends by _exit
    except FileNotFoundError:
        pass
if "quits" in before:
    os._exit(0)
if "handler" in before:
    libc = ctypes.CDLL(None)
    libc.signal(ctypes.c_int(signal.SIGUSR1), libc._Exit)
    os.kill(os.getpid(), signal.SIGUSR1)
if "dies" in before:
    os.kill(os.getpid(), signal.SIGKILL)
'''
# Says whether CUDA's driver is in the process, which it waits for.
EARLY = '''
import os, time
end = time.monotonic() + float(os.environ["PATIENCE"])
def is_there():
    with open("/proc/self/maps") as maps:
        return "libcuda.so" in maps.read()
while not is_there() and time.monotonic() < end:
    time.sleep(0.01)
print("driver:", is_there(), flush=True)
'''
STARTED = "gpushim: the device is started at once"
PAYING, TINY = "1200", "1"


class TestScriptProfile(shim_runner.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="script-profile-")
        self.addCleanup(self.folder.cleanup)
        self.cache = os.path.join(self.folder.name, "cache")
        self.script = os.path.join(self.folder.name, "program.py")
        self.write_script(SCRIPT)

    def write_script(self, text):
        with open(self.script, "w", encoding="utf-8") as stream:
            stream.write(text)

    def environment(self, **env):
        return dict({"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "10", "GPUSHIM_PROFILE": "1", "GPUSHIM_LOG": "info",
                     "GPUSHIM_CACHE_DIR": self.cache, "OPENBLAS_NUM_THREADS": "1"}, **env)

    def profiles(self):
        """{path: text} of the profiles that were left."""
        folder = os.path.join(self.cache, "profiles")
        paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
        texts = {}
        for path in paths:
            with open(path, encoding="utf-8") as stream:
                texts[path] = stream.read()
        return texts

    def run_python(self, *command, ends=0, **env):
        """Runs Python with these arguments; whether the device was started by a profile."""
        result = shim_runner.run_command([sys.executable, *command], env=self.environment(**env), cwd=self.folder.name)
        self.assertEqual(result.returncode, ends, repr(result))
        self.result = result
        return STARTED in result.stderr

    def run_script(self, calls=PAYING, *before, **env):
        return self.run_python("-W", "ignore", self.script, PROGRAM=" ".join([calls, "no", *before]), **env)

    def leave_profile(self):
        self.assertFalse(self.run_script())
        self.assertEqual(len(self.profiles()), 1, repr(self.result))

    def test_second_run(self):
        self.leave_profile()
        self.assertIn("first call on the device: False threads: 1\n", self.result.stdout)
        (text,) = self.profiles().values()
        self.assertRegex(text, r"^gpushim profile 1\nscript \d+ \d+ \d+\ngain_ns \d{8,}\n(library \w+\n)*end\n$")
        if shim_runner.DEVICE == "cuda":
            self.assertIn("library fft\n", text)
        self.assertTrue(self.run_python(self.script, PROGRAM=PAYING + " waits"))
        self.assertIn("first call on the device: True", self.result.stdout)
        self.assertEqual(len(self.profiles()), 1)

    def driver_is_open_before_numpy(self, **env):
        """Whether a run of EARLY finds CUDA's driver in its process before it imports NumPy."""
        self.run_python("-W", "ignore", self.script, PROGRAM=PAYING + " no", **env)
        return "driver: True" in self.result.stdout

    def test_driver_is_opened_before_numpy(self):
        self.write_script(EARLY + SCRIPT)
        self.assertFalse(self.driver_is_open_before_numpy(PATIENCE="0.2"))
        self.assertIn("threads: 1\n", self.result.stdout)
        on_cuda = shim_runner.DEVICE == "cuda"
        self.assertEqual(self.driver_is_open_before_numpy(PATIENCE="10" if on_cuda else "0.2"), on_cuda)
        self.assertFalse(self.driver_is_open_before_numpy(PATIENCE="0.2", GPUSHIM_PROFILE="0"))

    @unittest.skipUnless(shim_runner.is_emulated(), "needs emulated CUDA libraries with several GPUs")
    def test_driver_is_opened_for_the_chosen_gpu(self):
        """The emulated driver ends a process that makes the contexts of two GPUs."""
        self.write_script(EARLY + SCRIPT)
        several = {"EMULATED_GPUS": "3", "GPUSHIM_GPU": "2"}
        self.driver_is_open_before_numpy(PATIENCE="0.2", **several)
        self.assertTrue(self.driver_is_open_before_numpy(PATIENCE="10", **several))
        self.assertIn("device ready: GPU emulated GPU 2,", self.result.stderr)

    def test_exit_while_the_driver_opens(self):
        """At whatever moment: the driver's functions at exit must not meet its start. The profile stays."""
        self.write_script("import os, time\ntime.sleep(float(os.environ['PAUSE']))\n"
                          "if 'QUITS' in os.environ: raise SystemExit(3)\n" + SCRIPT)
        self.run_script(PAUSE="0")
        self.assertEqual(len(self.profiles()), 1, repr(self.result))
        for tenth in range(15):
            self.run_script(PAUSE=str(0.02 * tenth), QUITS="1", ends=3)
        self.assertEqual(len(self.profiles()), 1)

    def test_fork_before_numpy(self):
        """A child that is forked while the driver opens computes on the CPU; the run leaves no profile."""
        self.write_script("import os\nif 'FORKS' in os.environ and os.fork():\n    os.wait()\n" + SCRIPT)
        self.leave_profile()
        self.assertTrue(self.run_script(FORKS="1"))
        self.assertEqual(self.result.stdout.count("first call on the device"), 2)
        self.assertEqual(self.profiles(), {})

    def test_program_that_chooses_its_devices(self):
        """It would find them chosen by a driver that was opened before."""
        choice = 'import os\nif "LATER" in os.environ: os.environ["CUDA_%s"] = "0"\n'
        for name in ("VISIBLE_DEVICES", "DEVICE_ORDER"):
            self.write_script(choice % name + SCRIPT)
            self.leave_profile()
            self.run_script(LATER="1")
            self.assertEqual(self.profiles(), {})
            self.assertFalse(self.run_script(LATER="1"))
            self.assertEqual(self.profiles(), {})

    def test_tiny_script_creates_nothing(self):
        self.assertFalse(self.run_script(TINY))
        self.assertIn("threads: 1\n", self.result.stdout)
        self.assertFalse(os.path.exists(self.cache))

    def test_other_path(self):
        """The profile is the script's, by whatever path it is named."""
        self.leave_profile()
        os.symlink(self.script, os.path.join(self.folder.name, "link.py"))
        self.assertTrue(self.run_python("link.py", PROGRAM=PAYING + " no"))
        self.assertTrue(self.run_python("./program.py", PROGRAM=PAYING + " no"))
        os.rename(self.script, os.path.join(self.folder.name, "other.py"))
        self.assertFalse(self.run_python("other.py", PROGRAM=PAYING + " no"))
        self.assertEqual(len(self.profiles()), 2)

    def test_changed_script(self):
        self.leave_profile()
        self.write_script(SCRIPT + "# changed\n")
        self.assertFalse(self.run_script())
        self.assertTrue(self.run_script())
        self.assertEqual(len(self.profiles()), 1)
        status = os.stat(self.script)
        os.utime(self.script, ns=(status.st_atime_ns, status.st_mtime_ns + 1000))
        self.assertFalse(self.run_script(TINY))
        self.assertEqual(self.profiles(), {})

    def test_run_that_does_not_pay(self):
        self.leave_profile()
        self.assertTrue(self.run_script(TINY))
        self.assertEqual(self.profiles(), {})
        self.assertFalse(self.run_script(TINY))

    def test_price_that_has_risen(self):
        self.leave_profile()
        self.assertFalse(self.run_script(GPUSHIM_START_MS="100000"))
        self.assertEqual(self.profiles(), {})

    def test_profile_off(self):
        self.assertFalse(self.run_script(GPUSHIM_PROFILE="0"))
        self.assertEqual(self.profiles(), {})
        self.leave_profile()
        before = self.profiles()
        self.assertFalse(self.run_script(GPUSHIM_PROFILE="0"))
        self.assertFalse(self.run_script(TINY, GPUSHIM_PROFILE="0"))
        self.assertEqual(self.profiles(), before)

    def test_forced_calls_leave_none(self):
        self.assertFalse(self.run_script(GPUSHIM_MODE="force"))
        self.assertFalse(self.run_script(GPUSHIM_MIN_FLOPS="0"))
        self.assertEqual(self.profiles(), {})

    def test_folder_that_others_may_write(self):
        self.leave_profile()
        before = self.profiles()
        for path in (self.cache, os.path.join(self.cache, "profiles")):
            os.chmod(path, 0o777)
            self.assertFalse(self.run_script())
            self.assertFalse(self.run_script(TINY))
            self.assertEqual(self.profiles(), before)
            os.chmod(path, 0o700)
        self.assertTrue(self.run_script())

    def test_damaged_file(self):
        self.leave_profile()
        ((path, text),) = self.profiles().items()
        for damaged in ("", text[:-4], text.replace("gain_ns", "gain-ns"), "x" * 100000):
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(damaged)
            self.assertFalse(self.run_script())
            self.assertTrue(self.run_script())

    def test_folder_that_cannot_be_made(self):
        self.assertFalse(self.run_script(GPUSHIM_CACHE_DIR="/proc/none/such"))
        self.assertFalse(self.run_script(GPUSHIM_CACHE_DIR=self.script))

    def test_forked_child_leaves_none(self):
        self.assertFalse(self.run_script("0", "fork"))
        self.assertEqual(self.profiles(), {})

    def test_forked_child_removes_none(self):
        """Nor does a process that a signal ends."""
        self.leave_profile()
        before = self.profiles()
        for child in (["fork"], ["fork", "spawn"]):
            self.assertTrue(self.run_script(TINY, *child, "dies", ends=-signal.SIGKILL))
            self.assertEqual(self.profiles(), before)

    def test_exit_without_the_interpreters_end(self):
        self.assertFalse(self.run_script(PAYING, "quits"))
        self.assertEqual(len(self.profiles()), 1)
        self.assertTrue(self.run_script(TINY, "quits"))
        self.assertEqual(self.profiles(), {})
        self.assertFalse(self.run_script(TINY, "quits"))
        self.assertEqual(self.profiles(), {})

    def test_exit_in_a_signal_handler(self):
        self.assertFalse(self.run_script(PAYING, "handler", ends=signal.SIGUSR1))
        self.assertEqual(len(self.profiles()), 1)

    def test_children_that_exit_leave_none(self):
        self.assertFalse(self.run_script("0", "fork", "quits"))
        self.assertEqual(self.profiles(), {})
        self.assertFalse(self.run_script(PAYING, "spawn", "dies", ends=-signal.SIGKILL))
        self.assertEqual(self.profiles(), {})

    def test_gains_near_the_price(self):
        """A profile is kept, and used, while the gains are half the price. They are modelled while the device is there from the
        beginning, and no library opens, so that all calls gain the same; without a profile the calls' times count."""
        library_times.write(self.cache, cufft=30)
        self.leave_profile()
        found = []
        for _ in range(3):
            self.assertTrue(self.run_script(GPUSHIM_START_MS="1"))
            (text,) = self.profiles().values()
            found.append(int(re.search(r"gain_ns (\d+)", text).group(1)) / 1e6)
        gains = min(found)
        self.assertFalse(self.run_script(GPUSHIM_START_MS=str(int(gains * 4))))
        self.assertEqual(self.profiles(), {})
        self.assertFalse(self.run_script(GPUSHIM_START_MS=str(int(gains * 4))))
        self.assertEqual(self.profiles(), {})
        self.leave_profile()
        for _ in range(2):
            self.assertTrue(self.run_script(GPUSHIM_START_MS=str(int(gains * 1.7))))
            self.assertEqual(len(self.profiles()), 1)

    def test_fork_before_the_start(self):
        """A start at once would make the next run fork a process with threads."""
        self.assertFalse(self.run_script(PAYING, "fork"))
        self.assertEqual(self.profiles(), {})
        self.assertFalse(self.run_script(PAYING, "fork-late"))
        self.assertEqual(len(self.profiles()), 1)

    def test_other_forms(self):
        module = ["-m", "program", PAYING, "no"]
        text = ["-c", SCRIPT, PAYING, "no"]
        file = [self.script, PAYING, "no"]
        for command in (module, text, file):
            self.assertFalse(self.run_python(*command))
            self.assertTrue(self.run_python(*command))
            self.assertFalse(self.run_python(*command, "other"))
        self.assertEqual(len(self.profiles()), 6)

    def test_standard_input_leaves_none(self):
        for name in ([], ["-"]):
            result = shim_runner.run_command([sys.executable, *name], env=self.environment(), stdin=SCRIPT.replace(
                "sys.argv", '["", "%s", "no"]' % PAYING).encode())
            self.assertEqual(result.returncode, 0, repr(result))
        self.assertEqual(self.profiles(), {})

    def test_spawned_worker_leaves_none(self):
        self.write_script(SCRIPT.replace("\n", "\n    ").replace("\n    import", "def work():\n    import", 1) + '''
import multiprocessing, sys
if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    sys.exit(child.exitcode)
''')
        self.assertFalse(self.run_script())
        self.assertEqual(self.profiles(), {})


if __name__ == "__main__":
    unittest.main()
