# SPDX-License-Identifier: Apache-2.0
"""packaging/conda: the recipe agrees with the package, and its script installs it below a prefix. The script's compiler is gcc on empty
files, as the wheel's tests compile the real ones; conda's own builders were not run."""
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile
import unittest

from package_venv import ROOT, environment, must

try:
    import yaml
except ImportError:
    yaml = None

FOLDER = os.path.join(ROOT, "packaging", "conda")
BUILDER = os.path.join(ROOT, ".venv-wheel", "bin", "python")  # has scikit-build-core
# Compiles an empty file in place of each of the tree's, and an empty program in place of each program's.
COMPILER = """#!/bin/bash
echo 'int main(void) { return 0; }' > "${0%%/*}/main.c"
for word; do
    case $word in */*_main.c) words+=("${0%%/*}/main.c") ;; %s/*.[cS]) words+=(-x c /dev/null) ;; *) words+=("$word") ;; esac
done
exec gcc "${words[@]}"
"""


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


@unittest.skipUnless(yaml, "PyYAML is not installed")
class TestRecipe(unittest.TestCase):
    def setUp(self):
        self.recipe, self.project = yaml.safe_load(read("packaging", "conda", "recipe.yaml")), read("pyproject.toml")

    def test_version_and_names(self):
        version = re.search(r"^project\(gpushim VERSION ([0-9.]+)", read("CMakeLists.txt"), re.M).group(1)
        self.assertEqual((self.recipe["context"]["version"], self.recipe["package"]["name"]), (version, "gpushim"))
        self.assertEqual(self.recipe["package"]["version"], "${{ version }}")
        self.assertIn('%s = "%s"' % tuple(self.recipe["build"]["python"]["entry_points"][0].split(" = ")), self.project)
        self.assertTrue(os.path.exists(os.path.join(ROOT, self.recipe["about"]["license_file"])))

    def test_requirements(self):
        needed = self.recipe["requirements"]
        for name in re.findall(r'"([^"]+)"', re.search(r"^requires = \[(.*)\]", self.project, re.M).group(1)):
            self.assertIn(name.replace(">=", " >="), needed["host"])
        self.assertIn('requires-python = "%s"' % needed["run"][0].split(" ")[1], self.project)
        self.assertIn('cmake.version = "%s"' % needed["build"][2].split(" ")[1], self.project)
        self.assertIn("NumPy 1.22 to 2.5", read("README.md"))
        self.assertIn("numpy >=1.22,<2.6", needed["run_constraints"])

    def test_source_is_the_tree(self):
        self.assertEqual(os.path.realpath(os.path.join(FOLDER, self.recipe["source"]["path"])), ROOT)
        words = shlex.split(self.recipe["build"]["script"])
        self.assertEqual((words[0], os.path.join(ROOT, words[1])), ("bash", os.path.join(FOLDER, "build.sh")))


class TestBuild(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    @unittest.skipUnless(os.path.exists(BUILDER), "`make wheel` has not made .venv-wheel")
    def test_script(self):
        prefix, pack = os.path.join(self.folder, "prefix"), self.write("pack", "kernels")
        variables = {"SRC_DIR": ROOT, "PREFIX": prefix, "PYTHON": BUILDER, "GSH_KERNEL_PACK": pack,
                     "CC": self.write("cc", COMPILER % ROOT, 0o755), "PYTHONPATH": None, "CMAKE_C_COMPILER_LAUNCHER": None,
                     "CMAKE_CXX_COMPILER_LAUNCHER": None}  # ccache would give this compiler another one's objects
        must(["bash", os.path.join(FOLDER, "build.sh")], env=environment(**variables))
        package, = glob.glob(os.path.join(prefix, "lib", "python*", "site-packages", "gpushim"))
        for name in ("libgpushim.so", "libgpushim_cuda.so", "gpushim_compiler", "gpushim_kernels.bin", "command.py"):
            self.assertTrue(os.path.exists(os.path.join(package, name)), name)
        self.assertEqual(os.listdir(os.path.join(prefix, "bin")), ["gpushim"])
        told = must([sys.executable, os.path.join(prefix, "bin", "gpushim"), "path"], env=environment(PYTHONPATH=os.path.dirname(package)))
        self.assertEqual(told.strip(), os.path.join(package, "libgpushim.so"))


if __name__ == "__main__":
    unittest.main()
