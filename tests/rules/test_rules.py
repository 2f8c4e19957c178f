# SPDX-License-Identifier: Apache-2.0
"""Rules of the source tree that no compiler checks. GSH_TEST_BUILD names the build folder (build-dev)."""
import collections
import os
import re
import subprocess
import unittest

from source_tree import BUILD, LAYERS, ROOT, all_files, read, tree

CODE_ENDINGS = (".c", ".h", ".S", ".def", ".py")
MAX_LINES = 800
# Written in pieces, so that this file does not hold what it forbids.
FORBIDDEN = [re.compile(pattern, re.I) for pattern in (
    r"\bissue " + r"#?\d", r"/" + r"work/", r"/tmp/" + r"brief", r"\bpypi\." + r"org", r"python" + r"hosted\.org",
    r"\bthis " + r"session\b", r"\bwork" + r"place\b", r"FIX" + r"ME\b")]


# Files that are about single kinds of launch, or read a kind's own structure (docs/dev/ADDING.md).
FILES_OF_A_KIND = ["interpose/linalg/numpy_product.c", "kernels/codegen/source_compress.c", "kernels/codegen/source_index.c",
                   "kernels/host/host_index.c", "kernels/launch.c", "kernels/launch.h", "offload/graph/node_cse.c",
                   "offload/graph/node_transform.c", "offload/graph/plan_predicate.c"]


def option_names():
    return re.findall(r"^X\((\w+),", read("config/options.def"), re.M)


class TestTree(unittest.TestCase):
    def test_file_names_are_unique(self):
        places = collections.defaultdict(list)
        for path in all_files(CODE_ENDINGS):
            places[os.path.basename(path)].append(path)
        self.assertEqual([paths for paths in places.values() if len(paths) > 1], [])

    def test_names_of_compositions_are_unique(self):
        """Their texts run in one namespace (interpose/numpy/numpy_composed.h)."""
        places = collections.defaultdict(set)
        for path in tree(("interpose",), (".py",)):
            for names in re.findall(r"^(?:def |class )(\w+)|^(\w+(?:, \w+)*) = ", read(path), re.M):
                for name in re.findall(r"\w+", "".join(names)):
                    places[name].add(path)
        self.assertEqual({name: paths for name, paths in places.items() if len(paths) > 1}, {})

    def test_files_are_short(self):
        long = {path: read(path).count("\n") for path in all_files(CODE_ENDINGS)}
        self.assertEqual({path: lines for path, lines in long.items() if lines > MAX_LINES}, {})

    def test_each_file_names_its_licence(self):
        endings = (".c", ".h", ".S", ".py")
        self.assertEqual([path for path in all_files(endings)
                          if "SPDX-License-Identifier: Apache-2.0" not in read(path)[:200]], [])

    def test_no_forbidden_words(self):
        found = []
        for path in all_files():
            for number, line in enumerate(read(path).splitlines(), 1):
                found += ["%s:%d: %s" % (path, number, line) for word in FORBIDDEN if word.search(line)]
        self.assertEqual(found, [])


class TestCode(unittest.TestCase):
    def test_c_files_include_their_own_header_first(self):
        wrong = []
        for path in tree(LAYERS, (".c",)):
            stem = path[:-len(".c")]
            own = [os.path.basename(name) for name in (stem + ".h", stem + "_internal.h")
                   if os.path.exists(os.path.join(ROOT, name))]
            included = re.findall(r'^\s*#\s*include\s+[<"]([^">]+)[">]', read(path), re.M)
            if own and included[0] not in own:
                wrong.append(path)
        self.assertEqual(wrong, [])

    def test_the_environment_is_read_in_one_place(self):
        pattern = re.compile(r'getenv\s*\(\s*"GPUSHIM')
        self.assertEqual([path for path in tree(LAYERS, (".c", ".h")) if pattern.search(read(path))], [])

    def test_exceptions_are_cleared_in_one_place(self):
        self.assertEqual([path for path in tree(LAYERS, (".c", ".h")) if "PyErr_Clear(" in read(path)],
                         ["interpose/python/python_error.c"])

    def test_kinds_of_launch_are_told_apart_by_their_traits(self):
        by_name = re.compile(r"(?:[=!<>]=|[<>]|\bcase)\s*GSH_LAUNCH_(?!KINDS)[A-Z]|\[GSH_LAUNCH_[A-Z]+\] =")
        found = [path for path in tree(LAYERS, (".c", ".h")) if by_name.search(read(path))]
        self.assertEqual(sorted(found), FILES_OF_A_KIND)

    def test_benchmarks_make_the_shims_environment_in_one_place(self):
        found = [path for path in tree(("bench",), (".py",)) for _ in re.finditer(r"LD_PRELOAD[\"']?\]?\s*[=:]", read(path))]
        self.assertEqual(found, ["bench/common.py"])

    def test_names_shared_by_files_carry_the_prefix(self):
        archive = os.path.join(BUILD, "libgsh_core.a")
        listing = subprocess.run(["nm", "-g", "--defined-only", archive], check=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, universal_newlines=True).stdout
        names = {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}
        self.assertGreater(len(names), 50)
        nvtx = re.compile(r"nvtx\w+_v3$|InitializeInjectionNvtx2_fnptr$")  # of NVIDIA's header (config/nvtx_range.c)
        self.assertEqual(sorted(name for name in names if not name.startswith("gsh_") and not nvtx.match(name)), [])


class TestTables(unittest.TestCase):
    def test_exports_are_those_of_the_tables(self):
        with open(os.path.join(BUILD, "exports.map"), encoding="utf-8") as made:
            listed = re.search(r"global:(.*?)local:", made.read(), re.S).group(1)
        listed = {name.strip() for name in listed.split(";") if name.strip()}
        self.assertGreater(len(listed), 900)
        listed = listed - {"gpushim_*"} | set(re.findall(r"\b(gpushim_\w+)\(", read("interpose/gpushim.h")))
        listing = subprocess.run(["nm", "-D", "--defined-only", os.path.join(BUILD, "libgpushim.so")], check=True,
                                 stdout=subprocess.PIPE, universal_newlines=True).stdout
        exported = {re.sub(r"@.*", "", line.split()[-1]) for line in listing.splitlines()}
        self.assertEqual(sorted(exported ^ listed), [])

    def test_memory_functions_are_the_c_librarys_own(self):
        own = set(re.findall(r"^X\([^,]+, (\w+),", read("interpose/libc/libc_direct.def"), re.M)) | {"free", "strdup"}
        self.assertGreater(len(own), 9)
        own |= {"getline", "asprintf", "vasprintf", "realpath", "strndup", "posix_memalign", "reallocarray"}  # memory of malloc's
        listing = subprocess.run(["nm", "-D", "--undefined-only", os.path.join(BUILD, "libgpushim.so")], check=True,
                                 stdout=subprocess.PIPE, universal_newlines=True).stdout
        undefined = {re.sub(r"@.*", "", line.split()[-1]) for line in listing.splitlines()}
        self.assertEqual(sorted(undefined & own), [])

    def test_generated_documents_are_up_to_date(self):
        for document in ("options", "numerics"):
            program = os.path.join(BUILD, "tests", "rules", document + "_doc")
            printed = subprocess.run([program], check=True, stdout=subprocess.PIPE,
                                     universal_newlines=True).stdout
            self.assertEqual(read("docs/user/%s.md" % document), printed, "run `make docs`")

    def test_report_md_lists_every_counter_and_reason(self):
        text = read("docs/user/report.md")
        keys = re.findall(r'^X\(\w+, "(\w+)"', read("config/stats.def"), re.M)
        codes = re.findall(r'^X\(\w+, "([\w-]+)"', read("policy/reasons.def"), re.M)
        self.assertGreater(min(len(keys), len(codes)), 10)
        self.assertEqual([word for word in keys + codes if "`%s`" % word not in text], [])

    def test_api_md_and_changelog_list_every_function(self):
        names = re.findall(r"\b(gpushim_\w+)\(", read("interpose/gpushim.h"))
        self.assertGreater(len(names), 5)
        for document in ("docs/user/api.md", "CHANGELOG.md"):
            self.assertEqual([name for name in names if name not in read(document)], [], document)

    def test_linear_algebra_md_lists_every_routine(self):
        """By the names without the letter of the type: `gemm` for dgemm_."""
        text = read("docs/user/linear_algebra.md")
        names = re.findall(r"^X\(\w+, (\w+),", read("interpose/blas/symbols.def"), re.M)
        plain = {re.sub(r"^(cblas_)?[sdcz](\w+?)_?$", lambda match: (match[1] or "") + match[2], name) for name in names}
        self.assertGreater(len(plain), 30)
        self.assertEqual([name for name in sorted(plain) if "`%s`" % name not in text], [])

    def test_every_option_is_used(self):
        code = "".join(read(path) for path in tree(LAYERS, (".c",)))
        self.assertEqual([name for name in option_names() if "GSH_OPTION_%s" % name not in code], [])

    def test_every_counter_is_counted(self):
        names = re.findall(r"^X\((\w+),", read("config/stats.def"), re.M)
        code = "".join(read(path) for path in tree(LAYERS, (".c",)) if "stats" not in path)
        self.assertEqual([name for name in names if "GSH_COUNTER_%s" % name not in code], [])


if __name__ == "__main__":
    unittest.main()
