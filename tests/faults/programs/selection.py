# SPDX-License-Identifier: Apache-2.0
"""Masks, index arrays, assignments, joins, where, sort: moved data is exact."""
import numpy as np

from results import finish, show

N = 16000
a = np.sin(np.arange(N) * 0.1) * 100
a = np.floor(a * 8) / 8
b = a * 2.0 + 1.0
mask = b > 3.0
show("mask", b[mask])
show("count", mask.sum())
b[mask] = -1.0
show("masked assignment", b)
b[~mask] += 0.5
show("masked, in place", b)
show("where", np.where(a > b, a, b * 2))
index = (np.arange(5000) * 7) % N
show("taken", (a + b)[index])
c = a + 1.0
c[index] = 0.0
c[100:300] = a[300:500]
c[::3] = b[::3]
show("assigned", c)
show("joined", np.concatenate([a[:5000] + 1, b[5000:], c]))
show("stacked", np.stack([a * 3, b, c], axis=1))
show("sorted", np.sort(c + 1))
show("places", np.argsort(c, kind="stable"))
show("largest", int(np.argmax(a - c)))
show("nonzero", np.nonzero(b > 100)[0])
show("rolled", np.roll(a * 2, 17))
show("repeated", np.repeat(a[:4000] + 1, 3))
show("unique", np.unique(np.rint(a * 0.25) + 0.0))  # which zero comes first is not determined
m = (a + b).reshape(160, 100)
m[10:20, 5:50] = 7
m[:, 3] = m[:, 4] * 2
show("matrix", m)
show("columns", m[:, [1, 5, 3]])
show("clipped", np.clip(m, -10, 10))
show("cumulated", np.cumsum(mask))
show("counted", np.bincount((a + 200).astype(np.int64), minlength=400))
v = np.empty(N)
v[:] = 3
v[1:] -= v[:-1] * 0.5
show("overlap", v)
finish()
