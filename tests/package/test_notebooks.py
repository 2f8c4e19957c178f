# SPDX-License-Identifier: Apache-2.0
"""Notebooks: `gpushim kernel`, and the extension of IPython in a real kernel that Jupyter's own client starts."""
import contextlib
import importlib.util
import json
import os
import re
import unittest

from package_venv import call, environment
from test_command import TestCase

CLIENT = '''
import json, sys
from jupyter_client.manager import start_new_kernel
name, cells = sys.argv[1], json.loads(sys.argv[2])
manager, client = start_new_kernel(kernel_name=name, startup_timeout=60)
results = []
for cell in cells:
    outputs = []
    def take(message):
        content = message["content"]
        outputs.append(content.get("text") or content.get("data", {}).get("text/plain") or content.get("ename") or "")
    reply = client.execute_interactive(cell, timeout=60, output_hook=take)
    results.append([reply["content"]["status"], "".join(outputs)])
manager.shutdown_kernel()
print(json.dumps(results))
'''
WORK = """
import numpy as np, gpushim
a = np.arange(1600000.0) + 1.0
def work(): return np.abs(np.cbrt(np.cbrt(np.cbrt(a))))
gpushim.synchronize()"""
UNITS = {"ns": 1e-9, "us": 1e-6, "\u03bcs": 1e-6, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0}
IPYTHON = importlib.util.find_spec("ipykernel") is not None
OPTIONS = ("--device", "host", "--mode", "force", "--set", "FPERR=off", "--set", "FEED_MS=0")


def seconds(text, pattern):
    number, unit = re.search(pattern + r"([0-9.e-]+) (\w+)", text).groups()
    return float(number) * UNITS[unit]


class TestKernelspec(TestCase):
    def setUp(self):
        super().setUp()
        self.env = environment(JUPYTER_DATA_DIR=os.path.join(self.folder, "jupyter"))

    def specification(self, *place):
        with open(os.path.join(self.folder, *place, "kernel.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_install_and_uninstall(self):
        status, out, error = self.gpushim("kernel", "install", "--report", "--set", "FUSION=0", env=self.env)
        folder = os.path.join(self.folder, "jupyter/kernels/gpushim")
        self.assertEqual((status, out), (0, "installed %s: choose 'Python 3 (gpushim)' in Jupyter's menu\n" % folder))
        self.assertEqual(error.count("pip install ipykernel"), 0 if IPYTHON else 1)
        spec = self.specification("jupyter/kernels/gpushim")
        self.assertEqual(spec["argv"], [self.venv.python, "-m", "gpushim", "run", "-m", "ipykernel_launcher", "-f", "{connection_file}"])
        self.assertEqual((spec["language"], spec["display_name"]), ("python", "Python 3 (gpushim)"))
        self.assertEqual(spec["env"], {"GPUSHIM_REPORT": "1", "GPUSHIM_FUSION": "0"})
        self.assertEqual(self.gpushim("kernel", "uninstall", env=self.env), (0, "removed %s\n" % folder, ""))
        self.assertFalse(os.path.exists(folder))
        status, out, error = self.gpushim("kernel", "uninstall", env=self.env)
        self.assertEqual((status, out, error), (1, "", "gpushim: there is no kernel of gpushim's in %s\n" % folder))

    def test_places(self):
        for words, place in ((("--prefix", "p"), "p/share/jupyter/kernels/gpushim"), (("--user", "--name", "a.b"), "jupyter/kernels/a.b")):
            self.assertEqual(self.gpushim("kernel", "install", *words, "--display-name", "X", env=self.env)[0], 0)
            self.assertEqual(self.specification(place)["display_name"], "X")
        home = environment(HOME=self.folder, JUPYTER_DATA_DIR=None, XDG_DATA_HOME=None)
        self.assertEqual(self.gpushim("kernel", "install", env=home)[0], 0)
        self.assertTrue(self.specification(".local/share/jupyter/kernels/gpushim"))
        self.assertIn(self.venv.folder + "/share/jupyter", self.gpushim("kernel", "install", "--sys-prefix", env=self.env)[1])
        self.assertEqual(self.gpushim("kernel", "uninstall", "--sys-prefix", env=self.env)[0], 0)

    def test_others_kernels_stay(self):
        self.write("jupyter/kernels/gpushim/kernel.json", '{"argv": ["other"]}')
        for action in ("install", "uninstall"):
            status, out, error = self.gpushim("kernel", action, env=self.env)
            self.assertEqual((status, out, error.count("\n")), (1, "", 1))
        self.assertEqual(self.specification("jupyter/kernels/gpushim"), {"argv": ["other"]})

    def test_bad_usage(self):
        self.assertEqual(self.gpushim("kernel")[0], 2)
        status, _, error = self.gpushim("kernel", "install", "--name", "a/b", env=self.env)
        self.assertEqual((status, error.startswith("gpushim: 'a/b' is no name of a kernel")), (1, True))


@unittest.skipUnless(IPYTHON, "ipykernel is not installed")
class TestNotebook(TestCase):
    def setUp(self):
        super().setUp()
        self.env = environment(JUPYTER_DATA_DIR=os.path.join(self.folder, "jupyter"), IPYTHONDIR=self.folder)

    def run_cells(self, *cells, kernel="gpushim"):
        """(status, text) of each."""
        self.assertEqual(self.gpushim("kernel", "install", *OPTIONS, env=self.env)[0], 0)
        path = self.write("client.py", CLIENT)
        status, out, error = call([self.venv.python, path, kernel, json.dumps(cells)], env=self.env, cwd=self.folder)
        self.assertEqual(status, 0, error)
        return [tuple(result) for result in json.loads(out.splitlines()[-1])]

    def test_cell_magic(self):
        results = self.run_cells("%load_ext gpushim", WORK, "%%gpushim\nb = np.sin(a)\nb.sum() < 1e9 and True", "%%gpushim\nc = a.astype(object)[:9]\n1 / 0",
                                 "len(c)", "%%gpushim\n!echo words\nx = 5;", "x", "%%gpushim bad\n1", "gpushim.active()")
        self.assertEqual(results[:2], [("ok", ""), ("ok", "")])
        status, text = results[2]
        self.assertEqual(status, "ok")
        self.assertRegex(text, r"^gpushim: 100 % of NumPy's hooked work ran on the device: calls there 2 \(.*\), on the CPU 0; moved to the device 0 B, ")
        self.assertRegex(text, r"\n  sin d->d +device 1 +CPU 0\n")
        self.assertRegex(text, r"\nTrue$")
        self.assertEqual(results[3][0], "error")
        self.assertRegex(results[3][1], r"(?s)^gpushim: 0 % of.*\n  astype +device 0 +CPU 1 .* dtype 1\n.*ZeroDivisionError$")
        self.assertRegex(results[3][1], r"\nlines, the worst round trips first\n line +device .*\n cell:2 .* astype: dtype\n   the device has no ")
        self.assertEqual(results[4], ("ok", "9"))
        self.assertRegex(results[5][1], r"words\s+gpushim: no call of NumPy that gpushim counts\n")
        self.assertEqual(results[6:], [("ok", "5"), ("error", "ValueError"), ("ok", "True")])

    def test_times(self):
        """Of %timeit and %time, before the extension is loaded, with it, and when it has been unloaded."""
        timing = ["%timeit -n 4 -r 1 work()", "%time kept = work()", "%%time\nkept = work()"]
        results = self.run_cells(WORK, *timing, "%load_ext gpushim", *timing, "%unload_ext gpushim", timing[0])
        self.assertEqual({status for status, _ in results}, {"ok"}, results)
        texts = [text for _, text in results]
        plain, synchronized = texts[1:4], texts[5:8]
        for before, after, pattern in zip(plain, synchronized, ("^", "Wall time: ", "Wall time: ")):
            self.assertLess(seconds(before, pattern), seconds(after, pattern) / 4, (before, after))
        self.assertLess(seconds(texts[9], "^"), seconds(texts[5], "^") / 4)

    def test_kernel_without_gpushim(self):
        name = os.path.join(self.folder, "jupyter/kernels/plain")
        os.makedirs(name)
        with contextlib.closing(open(os.path.join(name, "kernel.json"), "w", encoding="utf-8")) as file:
            json.dump({"argv": [self.venv.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "x", "language": "python"}, file)
        results = self.run_cells("%load_ext gpushim", "%%gpushim\nx = 1\nx + 1", "print(x)", "%unload_ext gpushim", kernel="plain")
        self.assertIn("gpushim is not loaded in this kernel. In a terminal, once:\n    gpushim kernel install\n", results[0][1])
        self.assertEqual({status for status, _ in results}, {"ok"}, results)
        self.assertIn("gpushim: not loaded in this kernel, NumPy alone ran the cell", results[1][1])
        self.assertIn("1", results[2][1])

    def test_interrupt_reaches_the_kernel(self):
        """`gpushim run` has become the kernel, so its process is the one that Jupyter interrupts."""
        self.assertEqual(self.gpushim("kernel", "install", *OPTIONS, env=self.env)[0], 0)
        path = self.write("client.py", '''
import threading, time
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="gpushim", startup_timeout=60)
threading.Timer(1, manager.interrupt_kernel).start()
reply = client.execute_interactive("import time; time.sleep(60)", timeout=50, output_hook=lambda message: None)
print(reply["content"]["ename"])
manager.shutdown_kernel()
''')
        self.assertEqual(call([self.venv.python, path], env=self.env, cwd=self.folder)[:2], (0, "KeyboardInterrupt\n"))


if __name__ == "__main__":
    unittest.main()
