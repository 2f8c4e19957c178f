# SPDX-License-Identifier: Apache-2.0
"""Chains of ufuncs, in place and on views; reductions; arrays that are written by the host between calls."""
import numpy as np

from results import finish, show

N = 20000
a = np.arange(N) * 0.25 - 1000.0
b = np.arange(N)[::-1] * 0.5 + 1.0
c = a * b + 2.0
show("chain", c - a / b)
c += a
c[::2] *= 2.0
show("in place, on a view", c)
c[5] = -1.0  # the host writes
d = np.maximum(c, a) - np.minimum(b, c)
show("after a write of the host", d)
show("sum", d.sum(), exact=False)
show("row sums", d.reshape(100, 200).sum(axis=1), exact=False)
show("largest", d.reshape(100, 200).max(axis=0))
e = np.exp(a * 1e-3)
show("exp", e, exact=False)
e *= e
np.sqrt(e, out=e)
show("root of a square", e, exact=False)
m = a.reshape(200, 100)
show("outer sum", m[:, :50] + b[:50])
show("transposed", m.T * 2.0)
integers = np.arange(N, dtype=np.int32) // 3
show("integers", (integers * 7 + 1) % 11)
show("bools", (a > b) & (integers % 2 == 0))
show("running sum", np.add.accumulate(integers))
x = np.zeros(N)
for step in range(6):
    x = x * 0.5 + a
    x[step] = step
show("loop", x, exact=False)
show("mean", float(x.mean()), exact=False)
show("float32", np.float32(2) * np.arange(N, dtype=np.float32))
finish()
