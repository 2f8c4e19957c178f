# SPDX-License-Identifier: Apache-2.0
"""More results than the device has memory for (GPUSHIM_MEM_LIMIT of a few of them): values are written back to the host and
uploaded again."""
import numpy as np

from results import finish, show

N = 40000  # 320 kB; the limit is 2 MB
kept = [np.arange(N) * (0.5 + k) for k in range(8)]
for k in range(8):
    kept.append(kept[k] * 2.0 + 1.0)
for k in range(8):
    kept[k] += kept[8 + k]
total = np.zeros(N)
for values in kept:
    total = total + values
show("total", total)
for k in (0, 9, 3, 15, 7):
    show("kept %d" % k, kept[k])
big = np.concatenate(kept)
show("joined", big[::7])
table = np.stack(kept)
show("columns", table.sum(axis=0), exact=False)
del kept
again = [total * k for k in range(12)]
show("products", sum(again) - total)
show("product", table[:, :900] @ table[:, :900].T, exact=False)
finish()
