# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled ahead: a process that finds them compiles nothing; without the file, or with a damaged one, it does."""
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

import shim_runner

BUILDER = os.path.join(os.path.dirname(shim_runner.LIBRARY), "pack_kernels")
# Beginnings of the names of the kernels that the script and the import of NumPy use, and how many these are.
KERNELS, USED = ("add_d_dadad_v2", "add_d_dadcd_v2", "sum_d_dd_rows_k0r1p2e", "copy_I_IcI_v4", "narrow_float32_along1_r1"), 5
ENTRIES = 56  # the bytes of the header, behind which the index begins
SCRIPT = """
import numpy as np
from shim_script import dump
a = np.array([0.5, 1.5, 2.5, 3.5] * 250)
b = a + a
dump("b", b + 3)
dump("sum", b.sum())
"""


def build(path, names=KERNELS, archs=(90,)):
    run = subprocess.run([BUILDER, *["--arch=%d" % arch for arch in archs], *["--only=" + name for name in names], "--output=" + path], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@unittest.skipUnless(shim_runner.is_emulated(), "runs on the emulated CUDA libraries (GPUSHIM_DEVICE=cuda, LD_LIBRARY_PATH)")
class PackCase(shim_runner.TestCase):
    """Tests with a file of kernels compiled ahead, `pack`."""
    kernels = KERNELS

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.pack = os.path.join(cls.folder, "pack")
        status, output = build(cls.pack, cls.kernels)
        assert status == 0, output

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


class TestKernelPack(PackCase):
    def counters(self, pack):
        """Of the script with an empty disk cache: kernels compiled, kernels taken from the file."""
        with tempfile.TemporaryDirectory() as cache:
            result = self.assert_same(SCRIPT, env={"GPUSHIM_PACK": pack, "GPUSHIM_CACHE_DIR": cache, "GPUSHIM_FUSION": "0"})
        return [shim_runner.counter(result.report, key) for key in ("compiles", "pack_hits")]

    def damaged(self, place):
        path = os.path.join(self.folder, "damaged")
        with open(self.pack, "rb") as source, open(path, "wb") as copy:
            content = bytearray(source.read())
            content[place] ^= 1
            copy.write(content)
        return path

    def test_found(self):
        self.assertEqual(self.counters(self.pack), [0, USED])

    def test_none(self):
        self.assertEqual(self.counters(os.path.join(self.folder, "none")), [USED, 0])

    def test_damaged_index(self):
        self.assertEqual(self.counters(self.damaged(ENTRIES + 3)), [USED, 0])

    def test_damaged_image(self):
        compiles, hits = self.counters(self.damaged(-100))
        self.assertEqual(compiles + hits, USED)

    def beside(self, library, folder):
        """How many kernels are compiled by a process with this library, when the file lies in the folder."""
        shutil.copy(self.pack, os.path.join(folder, "gpushim_kernels.bin"))
        with tempfile.TemporaryDirectory() as cache:
            result = shim_runner.run(SCRIPT, env={"LD_PRELOAD": library, "GPUSHIM_CACHE_DIR": cache, "GPUSHIM_FUSION": "0"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return shim_runner.counter(result.report, "compiles")

    def folder_of_libraries(self):
        """A folder with a folder `real`, which has copies of the libraries, and one `link`, which has symlinks to them."""
        top = tempfile.mkdtemp(dir=self.folder)
        for folder, place in (("real", shutil.copy), ("link", os.symlink)):
            os.mkdir(os.path.join(top, folder))
            for name in ("libgpushim.so", "libgpushim_cuda.so"):
                source = os.path.join(os.path.dirname(shim_runner.LIBRARY) if folder == "real" else os.path.join(top, "real"), name)
                place(source, os.path.join(top, folder, name))
        return top

    def test_order_of_the_images(self):
        """Those of a GPU follow each other: neighbours are alike, and a wheel with them is smaller."""
        path = os.path.join(self.folder, "two")
        self.assertEqual(build(path, KERNELS[:2], (80, 90))[0], 0)
        with open(path, "rb") as file:
            content = file.read()
        count = int.from_bytes(content[24:32], "little")
        entries = [struct.unpack_from("<QQIIQQQ", content, ENTRIES + i * 48) for i in range(count)]
        self.assertGreater(count, 3)
        self.assertEqual([arch for _, arch in sorted((entry[4], entry[2]) for entry in entries)], [80] * (count // 2) + [90] * (count // 2))

    def test_what_images_share_stands_once(self):
        with open(self.pack, "rb") as file:
            content = file.read()
        count, chunks = struct.unpack_from("<Q8xQ", content, 24)
        sizes = [struct.unpack_from("<QQIIQQQ", content, ENTRIES + i * 48)[5] for i in range(count)]
        stored = [content[i:i + 64] for i in range(len(content) - chunks * 64, len(content), 64)]
        self.assertEqual(len(set(stored)), chunks)
        self.assertLess(chunks * 64, sum(sizes))

    def test_beside_the_library(self):
        real = os.path.join(self.folder_of_libraries(), "real")
        self.assertEqual(self.beside(os.path.join(real, "libgpushim.so"), real), 0)

    def test_library_is_a_symlink(self):
        """The file is found beside the library and beside the symlink."""
        for folder in ("real", "link"):
            top = self.folder_of_libraries()
            self.assertEqual(self.beside(os.path.join(top, "link", "libgpushim.so"), os.path.join(top, folder)), 0, folder)

    def test_folder_is_a_symlink(self):
        top = self.folder_of_libraries()
        os.symlink("real", os.path.join(top, "alias"))
        self.assertEqual(self.beside(os.path.join(top, "alias", "libgpushim.so"), os.path.join(top, "real")), 0)

    def test_library_was_replaced(self):
        """The kernel's name of a library that was removed, as by an upgrade, ends in "(deleted)"."""
        top = self.folder_of_libraries()
        library = os.path.join(top, "real", "libgpushim.so")
        shutil.copy(self.pack, os.path.join(top, "real", "gpushim_kernels.bin"))
        script = "import os\nos.unlink(%r)\n" % library + SCRIPT
        with tempfile.TemporaryDirectory() as cache:
            result = shim_runner.run(script, env={"LD_PRELOAD": library, "GPUSHIM_CACHE_DIR": cache, "GPUSHIM_FUSION": "0"})
        self.assertEqual(shim_runner.counter(result.report, "compiles"), 0, result)


class TestDecompositions(PackCase):
    """What runs beside cuSOLVER's routines is compiled ahead, too."""
    kernels = ["lapack"]

    def counters(self, pack):
        script = """
import numpy as np
from shim_script import dump
a = np.eye(90) * 9 + np.arange(8100.0).reshape(90, 90) % 7 / 50
for name in ("inv", "det", "svd", "qr", "eigh", "cholesky"):
    getattr(np.linalg, name)(a + a.T)
"""
        with tempfile.TemporaryDirectory() as cache:
            result = self.shim_run(script, env={"GPUSHIM_PACK": pack, "GPUSHIM_CACHE_DIR": cache})
        self.assertEqual(result.returncode, 0, result)
        return [shim_runner.counter(result.report, key) for key in ("compiles", "pack_hits")]

    def test_found(self):
        compiled, hits = self.counters(self.pack)
        self.assertGreaterEqual(hits, 8)
        self.assertEqual(self.counters(os.path.join(self.folder, "none")), [compiled + hits, 0])


class TestOrderedSums(PackCase):
    """All kernels of np.add.at of float64: into a line, of few and of many elements, and into short rows."""
    kernels = ["put_cells__int64", "put_gather__float64", "put_order_add_float64",
               *("sort_%s_uint64_from4" % stage for stage in ("rows", "clear", "count", "offsets", "pass", "finish"))]

    def test_found(self):
        script = """
import numpy as np
from shim_script import on_device
for shape, count in (((50,), 3000), ((50,), 9000), ((50, 8), 9000)):
    values = on_device(np.arange(count * 8.0)[:count * np.zeros(shape)[0].size].reshape(count, *shape[1:]))
    np.add.at(on_device(np.zeros(shape)), on_device(np.arange(count) % 50), values)
"""
        with tempfile.TemporaryDirectory() as cache:
            result = self.shim_run(script, env={"GPUSHIM_PACK": self.pack, "GPUSHIM_CACHE_DIR": cache})
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(shim_runner.counter(result.report, "pack_hits"), 12)  # six that sort, and two that number, gather and join


if __name__ == "__main__":
    unittest.main()
