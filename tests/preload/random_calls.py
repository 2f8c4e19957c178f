# SPDX-License-Identifier: Apache-2.0
"""Prints a checksum of the result of random elementwise calls, for test_parallel_loops.py: operands of several dtypes, broadcast over each
other, strided, reversed and transposed, with and without an output.

    random_calls.py SEED COUNT
"""
import sys
import warnings

import numpy as np

from parallel_loops import checksum, numbers

DTYPES = "?bBhHiIlLfdFDe"
POOL = 3_000_000  # elements: the largest array that is drawn has fewer
UNARY = ("negative", "absolute", "sqrt", "exp", "sin", "square", "isnan", "conjugate", "floor", "sign", "logical_not", "reciprocal",
         "tanh", "log1p", "invert")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "greater", "less_equal", "not_equal", "logical_or",
          "arctan2", "hypot", "power", "floor_divide", "remainder", "copysign", "bitwise_xor", "left_shift", "divmod")


class Calls:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def shape(self):
        """Of about 40,000 to 200,000 elements, in one to four dimensions."""
        left, shape = int(self.random.integers(40_000, 200_000)), []
        for _ in range(int(self.random.integers(0, 4))):
            shape.append(min(int(self.random.choice([1, 2, 3, 4, 7, 16, 33, 100, 500])), left))
            left //= shape[-1]
        return tuple(int(n) for n in self.random.permutation(shape + [max(left, 1)]))

    def array(self, shape):
        """One that broadcasts to the shape, laid out in some way."""
        own = [n if self.random.random() < 0.8 else 1 for n in shape]
        steps = [1] * len(own)
        steps[self.random.integers(0, len(own))] = int(self.random.choice([1, 1, 2, -1, -2]))
        order = [int(d) for d in self.random.permutation(len(own))]  # of the axes in memory
        room = [own[d] * abs(steps[d]) + int(self.random.random() < 0.2) for d in order]
        pool = numbers(self.random.choice(list(DTYPES)), POOL, int(self.random.integers(0, 2)))
        begin = int(self.random.integers(0, 1000))
        memory = pool[begin:begin + int(np.prod(room))].reshape(room)
        view = memory.transpose([order.index(d) for d in range(len(own))])
        view = view[tuple(slice(None, None, step) for step in steps)]
        view = view[tuple(slice(0, extent) for extent in own)]
        return view if self.random.random() < 0.9 else view[(0,) * view.ndim]

    def operand(self, shape):
        if self.random.random() < 0.12:
            return self.random.choice([2, 3, -1]).item() if self.random.random() < 0.5 else 0.5
        return self.array(shape)

    def call(self, number):
        shape = self.shape()
        name = str(self.random.choice(UNARY if self.random.random() < 0.3 else BINARY))
        ufunc = getattr(np, name)
        operands = [self.array(shape)] + [self.operand(shape) for _ in range(ufunc.nin - 1)]
        try:
            result = ufunc(*operands)
            if ufunc.nout == 1 and isinstance(result, np.ndarray) and self.random.random() < 0.3:
                out = np.zeros(result.shape[::-1], result.dtype).T if self.random.random() < 0.5 else np.zeros_like(result)
                result = ufunc(*operands, out=out)
        except (TypeError, ValueError, OverflowError) as error:
            print(number, name, type(error).__name__)
            return
        print(number, name, *map(checksum, result if isinstance(result, tuple) else (result,)))


def main(seed, count):
    calls = Calls(seed)
    for number in range(count):
        calls.call(number)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]), int(sys.argv[2]))
