# SPDX-License-Identifier: Apache-2.0
"""Random numbers: each array, and the state behind it, is NumPy's, whatever fails."""
import numpy as np

from results import finish, show

N = 20000
rng = np.random.default_rng(2)
a = rng.standard_normal(N)
show("state", np.array([ord(c) for c in str(rng.bit_generator.state)]))
b = rng.random(N)
show("sum", a + b)
c = rng.integers(0, 1000, N)
show("integers", c)
b[:] = 1
rng.standard_exponential(out=b)
show("out", b * 2)
show("normal", rng.normal(1, 2, (100, 200))[3:5])
show("end", np.array([ord(c) for c in str(rng.bit_generator.state)]))
finish()
