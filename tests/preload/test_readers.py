# SPDX-License-Identifier: Apache-2.0
"""Who brought data back, in the report: functions of NumPy, hooked or not, calls of libc, and code of libraries."""
import json
import os
import tempfile
import unittest

import shim_runner

MIB = 1 << 20
START = '''
import numpy as np
x = np.ones(1 << 20)
def made():
    y = x * 2.0
    return y
'''


class TestReaders(shim_runner.TestCase):
    def readers(self, program):
        report = self.shim_run(START + program, env={"GPUSHIM_MODE": "force", "GPUSHIM_FEED_MS": "0"}).report
        self.assertEqual(sum(reader["bytes"] for reader in report["readers"]), report["counters"]["download_bytes"])
        self.assertEqual([reader["bytes"] for reader in report["readers"]],
                         sorted((reader["bytes"] for reader in report["readers"]), reverse=True))
        return {(reader["kind"], reader["name"]): reader["bytes"] for reader in report["readers"]}

    def test_functions_of_numpy(self):
        readers = self.readers('''
made().tolist()
made().dumps()
made().tobytes()
print(made()[5], made().sum())
''')
        for name in ("tolist", "dumps", "tobytes"):
            self.assertEqual(readers["function", name], 8 * MIB, readers)
        for name in ("element", "result as a number"):  # the import has some, too
            self.assertGreaterEqual(readers["function", name], 8, readers)

    def test_a_call_of_libc(self):
        with tempfile.TemporaryDirectory() as folder:
            readers = self.readers("import os\nfile = os.open(%r, os.O_CREAT | os.O_WRONLY)\nos.write(file, made())\n"
                                   % os.path.join(folder, "x"))
        self.assertEqual(readers["function", "write"], 8 * MIB, readers)

    def test_code_of_a_library(self):
        readers = self.readers("import zlib\nzlib.crc32(made())\nbytes(memoryview(made()))\n")
        zlib = [size for (kind, name), size in readers.items() if kind == "library" and (name.startswith("libz.") or name == "zlib")]
        python = [size for (kind, name), size in readers.items() if kind == "library" and "python" in name]
        if zlib:
            self.assertEqual((zlib, python), ([8 * MIB], [8 * MIB]), readers)
        else:
            self.assertEqual(python, [16 * MIB], readers)  # zlib is part of the interpreter

    def test_an_address_that_was_taken(self):
        self.assertEqual(self.readers("made().ctypes.data\n")["function", "free after .ctypes"], 8 * MIB)

    def test_lines(self):
        """The reader of the largest download, where no call on the CPU says why."""
        program = START + "made().tolist(); made()[0]\nmade().sum()\nnp.add(made(), 1.0, dtype='O')\n"
        env = {"GPUSHIM_MODE": "force", "GPUSHIM_FEED_MS": "0"}
        number = program.splitlines().index("made().tolist(); made()[0]") + 1
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            self.shim_run(program, env=dict(env, GPUSHIM_REPORT="json:%s,lines" % report))
            with open(report, encoding="utf-8") as stream:
                lines = json.load(stream)["lines"]
        readers = {line["line"]: line["reader"] for line in lines if line["file"].endswith("script.py")}
        self.assertEqual([readers[number], readers[number + 1], readers[number + 2]], ["tolist", "result as a number", "code of _multiarray_umath"])
        text = self.shim_run(program, env=dict(env, GPUSHIM_REPORT="lines")).stderr
        for line, end in ((number, ", read by tolist"), (number + 1, ", read by result as a number"), (number + 2, "add: keywords")):
            self.assertRegex(text, r"script\.py:%d .*%s\n" % (line, end))

    def test_text(self):
        result = self.shim_run(START + "made().tolist()\n", env={"GPUSHIM_MODE": "force", "GPUSHIM_REPORT": "1"})
        self.assertIn("\n brought back by tolist 8.0 MiB in ", result.stderr)


if __name__ == "__main__":
    unittest.main()
