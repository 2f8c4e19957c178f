# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, which C library it needs, what it leaves when it is removed."""
import os
import re
import subprocess
import unittest
import zipfile

import package_venv
from package_venv import ROOT, Venv, call, must, scratch, wheel

NEWEST_GLIBC = (2, 28)  # that the libraries may need: of the tag manylinux_2_28
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}
LIBRARIES = {"libgpushim.so": SYSTEM, "libgpushim_cuda.so": {"libcuda.so.1"}, "gpushim_compiler": SYSTEM}
# Functions of the C library with numbers as results: they must not be those of the compiler's own mathematics.
MATHEMATICS = {"sin", "cos", "tan", "exp", "exp2", "log", "log10", "pow", "hypot", "fma", "fmod", "cbrt", "expf", "logf", "powf"}


def project_version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(gpushim VERSION ([0-9.]+)", file.read(), re.M).group(1)


def unpacked(name):
    """The path of a file of the package."""
    with zipfile.ZipFile(wheel()) as archive:
        return archive.extract("gpushim/" + name, os.path.join(scratch(), "unpacked"))


def symbols(path):
    return subprocess.run(["objdump", "-T", path], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


class TestWheel(unittest.TestCase):
    def test_name(self):
        self.assertEqual(os.path.basename(wheel()), "gpushim-%s-py3-none-manylinux_2_28_x86_64.whl" % project_version())

    def test_size(self):
        """With the kernels compiled ahead for all GPUs, where `make kernels` has made these."""
        self.assertLess(os.path.getsize(wheel()), 30e6)

    def test_contents(self):
        with zipfile.ZipFile(wheel()) as archive:
            names = set(archive.namelist())
        about = "gpushim-%s.dist-info/" % project_version()
        modules = {"gpushim/" + name for name in os.listdir(os.path.join(ROOT, "python/gpushim")) if name.endswith(".py")}
        self.assertGreater(len(modules), 4)
        wanted = modules | {"gpushim/" + name for name in LIBRARIES} | {about + name for name in (
            "METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
        self.assertEqual(sorted(names - {"gpushim/gpushim_kernels.bin"}), sorted(wanted))

    def test_metadata(self):
        with zipfile.ZipFile(wheel()) as archive:
            text = archive.read("gpushim-%s.dist-info/METADATA" % project_version()).decode()
        needed = re.findall(r"^Requires-Dist: (.*)$", text, re.M)
        self.assertEqual([line for line in needed if "extra ==" not in line], [])
        self.assertEqual(set(re.findall(r'extra == "(\w+)"', "\n".join(needed))), {"cuda12", "cuda13", "plots"})
        self.assertIn("\nLicense-Expression: Apache-2.0\n", text)

    def test_versions_of_glibc(self):
        for name in LIBRARIES:
            versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols(unpacked(name)))}
            self.assertLessEqual(max(versions, default=(0,)), NEWEST_GLIBC, name)

    def test_libraries_needed(self):
        for name, allowed in LIBRARIES.items():
            headers = must(["objdump", "-p", unpacked(name)])
            self.assertLessEqual(set(re.findall(r"NEEDED +(\S+)", headers)), allowed, name)
            self.assertNotRegex(headers, "RPATH|RUNPATH")

    def test_mathematics_is_the_c_librarys(self):
        undefined = set(re.findall(r"\*UND\*.*?(\w+)$", symbols(unpacked("libgpushim.so")), re.M))
        self.assertEqual(sorted(MATHEMATICS - undefined), [])

    def test_exports_are_those_of_the_tables(self):
        exported = set(re.findall(r"^[0-9a-f]+ +g .*?(\w+)$", symbols(unpacked("libgpushim.so")), re.M))
        self.assertLessEqual({"gpushim_version", "gpushim_active", "dlopen", "read", "cblas_dgemm"}, exported)
        self.assertEqual([name for name in exported if name.startswith("gsh_")], [])


class TestInstallation(unittest.TestCase):
    def test_uninstall_leaves_nothing(self):
        venv = Venv("removed")
        before = venv.files()
        venv.install()
        self.assertEqual(call([venv.gpushim, "--version"])[:2], (0, "gpushim %s\n" % project_version()))
        self.assertIn("bin/gpushim", venv.files() - before)
        venv.pip("uninstall", "--yes", "gpushim")
        self.assertEqual(sorted(venv.files() ^ before), [])

    def install(self, build, prefix):
        """As `cmake --install` does: the paths below the prefix."""
        must(["cmake", "-DCMAKE_INSTALL_PREFIX=" + prefix, "-P", os.path.join(build, "cmake_install.cmake")])
        return {os.path.relpath(os.path.join(where, name), prefix) for where, _, names in os.walk(prefix) for name in names}

    def test_what_cmake_installs(self):
        """The kernels compiled ahead lie beside the library, where there are some."""
        lib = {"lib/" + name for name in LIBRARIES} | {"include/gpushim.h", "share/doc/gpushim/LICENSE", "share/doc/gpushim/README.md"}
        for option, wanted in (("SKBUILD=2", {"gpushim/" + name for name in LIBRARIES}), ("CMAKE_INSTALL_LIBDIR=lib", lib)):
            build, prefix, pack = (os.path.join(scratch(), option + name) for name in ("-build", "-prefix", "-pack"))
            must(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-D" + option, "-DGSH_KERNEL_PACK=" + pack])
            for name in LIBRARIES:
                open(os.path.join(build, name), "wb").close()
            self.assertEqual(self.install(build, prefix), wanted)
            open(pack, "wb").close()
            folder = os.path.dirname(min(path for path in wanted if path.endswith(".so")))
            self.assertEqual(self.install(build, prefix), wanted | {folder + "/gpushim_kernels.bin"})


if __name__ == "__main__":
    unittest.main()
