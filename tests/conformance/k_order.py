# SPDX-License-Identifier: Apache-2.0
"""The memory order of fresh elementwise results, against NumPy itself.

Thousands of random layouts (permuted, sliced, reversed, broadcast, with axes of length 1,
contiguous either way, mixed dtypes) go through ufuncs plain and under the shim in force mode;
shape, strides and bytes of each result must be the same.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload"))
import shim_runner  # noqa: E402

CASES = 6000 if shim_runner.DEVICE == "host" else 300  # each has a kernel of its own to compile

SCRIPT = """
import sys, zlib
import numpy as np
random = np.random.RandomState(int(sys.argv[1]))
cases = int(sys.argv[2])
dtypes = ["?", "i4", "i8", "f4", "f8"]
unary = [np.negative, np.absolute, np.sqrt]
binary = [np.add, np.multiply, np.maximum, np.less, np.equal]


def operand(shape, dtype):
    '''An array that broadcasts to `shape`, laid out at random.'''
    shape = list(shape)
    if random.randint(4) == 0:
        shape = shape[random.randint(len(shape) + 1):]
    for axis in range(len(shape)):
        if random.randint(6) == 0:
            shape[axis] = 1
    order = random.permutation(len(shape))
    if random.randint(3) == 0:
        order = np.arange(len(shape))[::random.choice([1, -1])]
    steps = [int(random.choice([1, 1, 1, 2, -1,
                                -2])) if random.randint(3) == 0 else 1 for _ in shape]
    stored = [shape[axis] * abs(steps[axis]) for axis in order]
    base = random.randint(1, 9, stored).astype(dtype)
    view = base.transpose(np.argsort(order))
    view = view[tuple(slice(None, None, step) for step in steps)]
    if random.randint(10) == 0 and view.ndim:
        axis = random.randint(view.ndim)
        key = [slice(None)] * view.ndim
        key[axis] = slice(0, 1)
        view = np.broadcast_to(view[tuple(key)], view.shape)
    return view


for case in range(cases):
    shape = random.choice([1, 2, 3, 4], size=random.randint(1, 6), p=[0.25, 0.25, 0.25, 0.25])
    if random.randint(2):
        function = unary[random.randint(len(unary))]
        inputs = [operand(shape, dtypes[1 + random.randint(4)])]
    else:
        function = binary[random.randint(len(binary))]
        first = dtypes[random.randint(5)]
        second = first if random.randint(2) else dtypes[random.randint(5)]
        inputs = [operand(shape, first), operand(shape, second)]
        if random.randint(8) == 0:
            inputs[random.randint(2)] = 3
    try:
        result = function(*inputs)
    except Exception as error:
        print(case, type(error).__name__, error)
        continue
    result = np.asarray(result)
    print(case, function.__name__, result.dtype, result.shape, result.strides,
          result.flags.c_contiguous,
          result.flags.f_contiguous, zlib.crc32(result.tobytes()), [(a.dtype.char, a.shape,
                                                                     a.strides)
          for a in inputs if isinstance(a, np.ndarray)])
"""


class TestKOrder(shim_runner.TestCase):
    def compare(self, seed):
        args = (str(seed), str(CASES))
        plain = shim_runner.run_plain(SCRIPT, args=args)
        shim = shim_runner.run(SCRIPT, args=args)
        self.assertEqual(plain.returncode, 0, plain)
        self.assertEqual(shim.returncode, 0, shim)
        wanted, got = plain.stdout.splitlines(), shim.stdout.splitlines()
        wrong = [(a, b) for a, b in zip(wanted, got) if a != b]
        self.assertEqual((len(wanted), wrong[:3]), (len(got), []),
                         "%d of %d differ" % (len(wrong), len(wanted)))
        self.assertGreater(shim_runner.device_calls(shim.report), CASES * 0.6)

    def test_random_layouts(self):
        self.compare(1)

    def test_more_random_layouts(self):
        self.compare(2)


if __name__ == "__main__":
    unittest.main()
