# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_VERIFY: what the device computes is compared with NumPy's results, by the numerical contract. On the emulated CUDA libraries
a wrong bit is planted (EMULATED_CUDA_WRONG), and found with its line and index."""
import unittest

import shim_runner

EVERYTHING = '''
import warnings
import numpy as np
rng = np.random.default_rng(0)
a, b = rng.normal(size=(2, 300, 200))
f, c, i = a.astype("f4"), a + 1j * b, rng.integers(0, 100, (300, 200))
np.add(a, b), a * b, c * c, np.exp(a), np.exp(f), np.sin(c), i + i, i // 7, a > 0, np.logaddexp(a, b), np.divmod(a, b), np.modf(a)
a.sum(), f.sum(0), f.mean(1), c.sum(1), a.max(), a.argmax(0), np.cumsum(a, 0), np.prod(f[:10], 0), np.add.reduceat(a, [0, 10, 20])
a @ b.T, f @ f.T, c @ c.T, np.dot(a, b.T), np.einsum("ij,kj->ik", a, b), np.tensordot(a, b, 2), i @ i.T
np.fft.fft(a), np.fft.rfft2(a), np.fft.fft(a, axis=0), np.fft.ifft(c)
np.where(a > 0, a, b), np.concatenate([a, b]), f.astype("f8"), a.T.copy(), np.take(a, [1, 2, 3], axis=0), np.clip(a, -1, 1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    np.sqrt(-np.abs(a)).sum()
print(len(caught))
'''
IN_PLACE = '''
import numpy as np
from shim_script import dump
a = np.random.default_rng(0).normal(size=(300, 200))
x = a.copy()
x += a
x[1:] += x[:-1]
np.multiply(x, 2, out=x)
np.add(x, a, out=x, where=a > 0)
np.cumsum(x, axis=0, out=x)
np.add.at(x, (np.arange(50), np.arange(50)), 1.5)
dump("x", x)
'''
# Where NumPy leaves the order open, as of equal elements, the comparison is with its stable sort.
ORDER = """
import numpy as np
a = np.random.default_rng(0).integers(0, 50, (40, 500)) * 1.0
a[a < 9] = -0.0
a[a == 9] = np.nan
a[::2] += 0
for axis in (0, 1, -1):
    np.sort(a, axis), np.argsort(a, axis), np.partition(a, 7, axis), np.argpartition(a, 7, axis), np.sort(a, axis, kind="heapsort")
np.argsort(a, None), np.argpartition(a, 3, axis=None), a.copy().sort(), np.lexsort((a[0], a[1])), np.searchsorted(np.sort(a[1]), a)
np.bincount(np.arange(5000) % 7), np.sort(a), np.argsort(a), np.partition(a, 3), np.argpartition(a, (3, 9))
"""


class TestVerify(shim_runner.TestCase):
    def verified(self, script, share="all", **env):
        result = shim_runner.run(script, env={"GPUSHIM_VERIFY": share, **env})
        self.assertEqual(result.returncode, 0, result)
        return result, result.report["verify"]

    def test_all_kinds_of_calls_are_within_the_contract(self):
        result, verify = self.verified(EVERYTHING)
        self.assertEqual(verify["worst"], [])
        self.assertGreater(verify["checked"], 50)
        self.assertLess(verify["not_checked"], 5, verify["why"])
        self.assertNotIn("gpushim", result.stderr)
        self.assertEqual(result.stdout, shim_runner.run_plain(EVERYTHING).stdout)  # no warning twice

    def test_orders_are_compared_with_those_of_a_stable_sort(self):
        _result, verify = self.verified(ORDER)
        self.assertEqual((verify["different"], verify["worst"]), (0, []))
        self.assertGreaterEqual(verify["checked"], 25)

    def test_calls_that_write_their_inputs_keep_their_results(self):
        result, verify = self.verified(IN_PLACE)
        self.assertEqual((verify["different"], verify["worst"]), (0, []))
        self.assertGreaterEqual(verify["checked"], 6)
        self.assertEqual(verify["why"]["output"], 0)
        plain = shim_runner.run_plain(IN_PLACE)
        self.assertLessEqual(shim_runner.ulp_distance(shim_runner.array_of(result.values["x"]),
                                                      shim_runner.array_of(plain.values["x"])), 1e6)

    def test_a_share_of_the_calls_is_compared_the_same_in_each_run(self):
        script = "import numpy as np\na = np.arange(20000.0)\nfor i in range(2000):\n    a + i\n"
        counts = [self.verified(script, "10%")[1]["checked"] for _ in range(2)]
        self.assertEqual(counts[0], counts[1])
        self.assertTrue(150 < counts[0] < 250, counts)

    def test_words_for_on_and_off(self):
        script = "import numpy as np\na = np.arange(20000.0)\na + 1\n"
        self.assertGreater(self.verified(script, "yes")[1]["checked"], 0)
        result = shim_runner.run(script, env={"GPUSHIM_VERIFY": "off"})
        self.assertEqual(("verify" in result.report, result.stderr), (False, ""))

    def test_a_bad_share_is_told_and_verifies_nothing(self):
        result = shim_runner.run("import numpy as np\nnp.arange(1e5) + 1", env={"GPUSHIM_VERIFY": "some"})
        self.assertIn("GPUSHIM_VERIFY=some: bad value", result.stderr)
        self.assertNotIn("verify", result.report)
        result = shim_runner.run("import numpy", env={"GPUSHIM_VERIFY": "some", "GPUSHIM_DEVICE": "cpu"})
        self.assertIn("GPUSHIM_VERIFY=some: bad value", result.stderr)

    def test_children_and_threads(self):
        _, verify = self.verified('''
import os, threading
import numpy as np
a = np.arange(20000.0)
def work():
    for i in range(50):
        assert (a * i)[3] == 3 * i
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
child = os.fork()
if child == 0:
    work()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
''')
        self.assertGreaterEqual(verify["checked"], 200)
        self.assertEqual(verify["different"], 0)

    @unittest.skipUnless(shim_runner.is_emulated(), "plants a fault in the emulated CUDA libraries")
    def test_a_wrong_bit_is_found(self):
        script = '''
import numpy as np
a = np.random.Generator(np.random.SFC64(0)).normal(size=(100, 200))

b = np.negative(a)
'''
        result, verify = self.verified(script, EMULATED_CUDA_WRONG=str(8 * (3 * 200 + 7)))
        self.assertEqual(verify["different"], 1)
        worst = verify["worst"][0]
        self.assertEqual((worst["call"], worst["line"], worst["index"], worst["ulps"]), ("negative", 5, [3, 7], 16))
        self.assertTrue(worst["file"].endswith("script.py"))
        self.assertIn("verified calls differ from NumPy", result.stderr)


if __name__ == "__main__":
    unittest.main()
